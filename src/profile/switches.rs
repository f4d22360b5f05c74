//! The list. Order is the order of `docs/differences.md`.

use super::Switch;

macro_rules! switches {
    ($($ident:ident = $name:literal { off: $off:literal, on: $on:literal, faults: [$($fault:literal),*] })+) => {
        $(#[doc = concat!("`", $name, "`: ", $on)]
        pub const $ident: Switch = Switch { name: $name, off: $off, on: $on, faults: &[$($fault),*] };)+

        /// Every switch.
        pub const ALL: &[&Switch] = &[$(&$ident,)+];
    };
}

switches! {
    MENTIONS_UNICODE = "speakers.mentions" {
        off: "A mention is a run of ASCII letters equal to an ASCII run of a name; one member a word.",
        on: "Whole names in any script are found, with aliases, `@name`, shared names, titles and common words handled.",
        faults: ["01 F1", "01 F2", "01 F3", "01 F4"]
    }
    SPEAKERS_SELF_BAN = "speakers.self_ban" {
        off: "Whoever is named like the writer of the last message, a narrator too, may not answer it, but may be drawn by the fallback.",
        on: "Only the member that wrote the last message may not answer it, and the fallback draws it only when there is no other.",
        faults: ["01 F5", "01 F6"]
    }
    SPEAKERS_LAST = "speakers.last_speaker" {
        off: "A swipe or a continuation may run for two characters, for one that left the group, or for a member named like the user.",
        on: "It runs for exactly one: the author of the message, who must be a member unless the caller allows outsiders.",
        faults: ["01 F7", "01 F11"]
    }
    SPEAKERS_IMPERSONATE = "speakers.impersonate" {
        off: "Impersonation draws any member to stand beside the user.",
        on: "It takes the last speaker, or the first member that is not muted, without a draw.",
        faults: ["01 F30"]
    }
    SPEAKERS_TALKATIVENESS = "speakers.talkativeness" {
        off: "Talkativeness is `Number(value)`: null and blank text are 0, a comma is no number, values beyond 0 to 1 stay, and a roll of exactly 0 wakes the silent.",
        on: "Null, blank and unreadable values are 0.5, a comma is read, the range is 0 to 1, and 0 never rolls.",
        faults: ["01 F31"]
    }
    SPEAKERS_NOBODY = "speakers.nobody" {
        off: "When nobody speaks, the input is sent as a user message even when it is empty, in auto mode and for impersonation too.",
        on: "Only a typed text that is not blank is sent, and the plan says why nobody speaks.",
        faults: ["01 F8"]
    }
    SPEAKERS_NOT_CHAR = "speakers.not_char" {
        off: "`{{notChar}}` leaves out the user, muted members, and all who are named like the speaker.",
        on: "`{{notChar}}` is every other member, muted or not, and the user.",
        faults: ["01 F22", "04 F5"]
    }
    PROVIDER_MERGE = "provider.merge" {
        off: "Merging messages of one role loses pictures behind a prefix, tool calls and unknown parts, glues empty messages on as blank lines, and turns lists of parts into `[object Object]`.",
        on: "Messages are merged part by part: pictures, tool calls and unknown parts stay, empty messages go, tool results are never merged.",
        faults: ["06 F1", "06 F2", "06 F3", "06 F4", "06 F6a", "06 F17", "06 F19a"]
    }
    PROVIDER_NAMES = "provider.names" {
        off: "A name is put in front of a text again although it is there, in front of every part, from the active character for other members, or stays as a field that the provider refuses.",
        on: "Every message carries its own speaker's display name, once, as text wherever the provider has no field for it; with names off, nothing is added.",
        faults: ["06 F5", "06 F6", "06 F7", "06 F15", "06 F18", "06 F19", "06 F29"]
    }
    PROVIDER_BLOCKS = "provider.blocks" {
        off: "Empty blocks and turns, remote pictures and lists of parts in system texts go out in forms that Anthropic and Gemini refuse, Mistral, Cohere and AI21 get media and empty messages they do not take, and signed Gemini text is sent twice.",
        on: "Empty blocks and turns are left out, media move to the user's turn in the form the provider takes or are left out with a note, remote pictures go by reference, signed text goes once.",
        faults: ["06 F10", "06 F11", "06 F12", "06 F24", "06 F25"]
    }
    PROVIDER_TOOLS = "provider.tools" {
        off: "Text beside tool calls is lost for Anthropic and Gemini, arguments that are no JSON fail the whole request, and DeepSeek gets empty reasoning with every tool call.",
        on: "Text and tool calls both go out, odd arguments are wrapped, and stored reasoning is replayed.",
        faults: ["06 F8", "06 F9", "06 F19b"]
    }
    PROVIDER_PREFILL = "provider.prefill" {
        off: "The begun reply goes out with trailing white space, as a plain assistant turn to Mistral, and by way of OpenRouter or a custom endpoint to models that refuse it.",
        on: "White space at its end is taken off and reported, Mistral gets its prefix flag and what it repeats of the begun reply is left out, and where a model refuses a begun reply on such a route it becomes an instruction.",
        faults: ["06 F13", "06 F14", "06 F16"]
    }
    PROVIDER_HEADERS = "provider.headers" {
        off: "Anthropic gets beta headers that some accounts are refused for, an endpoint without a key gets an empty `Authorization`, header names are told apart by case, and a base URL with a final slash gives `//`.",
        on: "Only headers that are needed go out, the browser opt-in among them; names are compared without case; base and path are joined with one slash.",
        faults: ["06 F21", "06 F30", "06 F33"]
    }
    PROVIDER_FIELDS = "provider.fields" {
        off: "Some models get fields that they refuse: samplers beside adaptive thinking or on new Claude models, an empty stop list, the old token limit on custom routes; custom YAML cannot override six fields; cache marks miss some ids and may exceed four; thoughts of Gemini eat the answer's tokens; Cohere gets a schema in a form it does not know.",
        on: "Fields follow the model on every route, unknown Claude models count as the newest, empty stop lists are left out, the user's YAML wins, cache marks stay within four, Gemini gets room for thoughts, a schema goes in the provider's form.",
        faults: ["06 F20", "06 F22", "06 F23", "06 F27", "06 F31", "06 F32", "06 F34", "06 F35"]
    }
    PROVIDER_READING = "provider.reading" {
        off: "Of an answer only some text and reasoning is read: the first Gemini part of an event, no reasoning of OpenAI or Groq, blank lines between blocks; thoughts of the first of several answers only; errors inside a stream and its unfinished last event are lost, a refusal is an empty answer.",
        on: "All text, reasoning and signatures are read whatever the source, blocks are joined as they came, a stream is read by the standard and ends with its error.",
        faults: ["06 F40", "06 F41", "06 F42", "06 F43", "06 F44", "06 F45", "06 F46", "06 F47", "06 F48"]
    }
    PROMPT_ORDER = "prompt.order" {
        off: "Only the order list of 100001 is read, an empty one too; absent or excluded markers are sent at the very end; duplicates are charged twice; user prompts need `system_prompt: false`.",
        on: "The first order list that is not empty is used; what is absent, excluded or double is left out with a reason; any id that is not built in is the user's; slots have identities.",
        faults: ["02 F-10", "02 F-11", "02 F-13", "02 F-14", "02 F-15", "02 F-44"]
    }
    PROMPT_FRAMING = "prompt.framing" {
        off: "Each message is charged five tokens (other tokenizers: the role and a blank line, less two) and bare texts six; a special token in a text ends the count of its message.",
        on: "Each message is charged what the wire charges: three and its role, one a name, three for the reply; a special token is text like any other.",
        faults: ["02 F-06", "02 F-07"]
    }
    PROMPT_HISTORY = "prompt.history" {
        off: "A ghosted message in mid-chat breaks the request, a swipe of a hidden message drops the last visible one, and the count of messages in context includes injected ones.",
        on: "Ghosted messages are skipped, a swipe drops the swiped message and no other, and only chat messages are counted.",
        faults: ["02 F-19", "02 F-39", "02 F-45"]
    }
    PROMPT_NAMES = "prompt.names" {
        off: "Narrators get a prefix in groups, an empty name gives `: text`, names in other scripts become underscores, and outside groups only messages with their own avatar are named.",
        on: "Narrators and empty names get none, a name that the field would spoil goes in front of the text, and whoever does not own the role is named.",
        faults: ["02 F-24", "02 F-25", "02 F-26", "02 F-27"]
    }
    PROMPT_EXAMPLES = "prompt.examples" {
        off: "Example lines are split only between user and character, the first label anywhere is removed, later lines keep another member's name, and empty blocks leave a lone heading.",
        on: "Every label at the start of a line begins a new record under that name, narration stays by itself, and blocks without text are dropped.",
        faults: ["02 F-28", "01 F19"]
    }
    PROMPT_OVERFLOW = "prompt.overflow" {
        off: "When texts that must be sent do not fit, what was placed until then is sent; a newest message that does not fit leaves a request without any chat.",
        on: "Both are errors that list every item with its tokens; fixed texts are reserved before optional ones are taken, and tools only when there are any.",
        faults: ["02 F-01", "02 F-02", "02 F-05", "02 F-42"]
    }
    PROMPT_INJECTIONS = "prompt.injections" {
        off: "Texts at a depth are chat messages that a cut drops, in fixed role order and alphabetical by key; filters are ignored there; odd depths and roles lose the text; keys that differ in punctuation collapse; a relative text needs `main`; notes that are not due take the persona and entries with them.",
        on: "They are reserved first and stay within the kept history, by `order` and then in the order given; filters count everywhere; depths and roles are mended; keys keep their identity; relative texts have an anchor of their own; persona and entries do not depend on the note's interval.",
        faults: ["02 F-04", "02 F-16", "02 F-17", "02 F-18", "02 F-34", "02 F-35", "02 F-38", "05 I1", "05 I2", "05 I4", "05 I5", "05 I6", "05 I8", "05 I15"]
    }
    PROMPT_CONTINUE = "prompt.continue" {
        off: "With the nudge the continued message still counts for depths and loses its name and media; a user's message is continued as the character; the postfix is added after a line feed too.",
        on: "The continued message is taken out whole before depths are counted, a tool record is never continued, a user's message is continued as the user, and the postfix follows text only.",
        faults: ["02 F-20", "02 F-21", "02 F-22", "02 F-40", "05 I7"]
    }
    PROMPT_SQUASH = "prompt.squash" {
        off: "Squashing turns lists of parts into `[object Object]` and is left out of previews.",
        on: "Text is merged with text only, and previews show what is sent.",
        faults: ["02 F-30"]
    }
    PROMPT_NUDGES = "prompt.nudges" {
        off: "`send_if_empty` is added unexpanded after any character's message, whatever is asked for; quiet requests in groups still say whom to write as and look at lorebooks whether or not they should; a group's regeneration and tool follow-ups trigger the prompts of a normal reply.",
        on: "`send_if_empty` belongs to a reply the user asked for, with macros; quiet requests carry no group nudge and keep their options; triggers follow what the user did.",
        faults: ["01 F18", "02 F-23", "02 F-31", "02 F-33", "02 F-48"]
    }
    PROMPT_ONCE = "prompt.once" {
        off: "Card fields, prompts and injected texts are expanded two or three times, so random macros differ between passes; an `{{original}}` that no text has is sent; a blank format hides its field.",
        on: "Each text is expanded once a request, an `{{original}}` that is left over goes, a blank format counts as none.",
        faults: ["02 F-36", "02 F-41", "04 F12"]
    }
    LORE_MATCHING = "lore.matching" {
        off: "Whole words are bounded by ASCII letters only, keys of several words have no bounds, case is ignored by lower-casing, a blank key matches always.",
        on: "Words of any script are whole words, blanks of any kind and number separate words, spelling variants of one letter are equal, blank keys are ignored.",
        faults: ["03 F9", "03 F10", "03 F11", "03 F14"]
    }
    LORE_SCAN = "lore.scan" {
        off: "Scan depth 0 blinds an entry to everything, the search for a minimum of activations goes one message too deep, macros in keys are drawn anew in each loop, a persona in the chat is looked into one request late.",
        on: "Scan depth 0 leaves out the messages only, the search ends at its limit, macros in keys are drawn once, texts of this request are looked into.",
        faults: ["03 F1", "03 F2", "03 F17", "03 F42", "05 I10"]
    }
    LORE_RECURSION = "lore.recursion" {
        off: "Delay levels force recursion although it is off or the budget is spent, a single level never opens by itself, texts that were not inserted are scanned.",
        on: "Delay levels open only where recursion may run, the lowest one included; only inserted texts are scanned.",
        faults: ["03 F3", "03 F4", "03 F5"]
    }
    LORE_DECORATORS = "lore.decorators" {
        off: "A decorator is known by its beginning, a carriage return belongs to its name, content of decorators alone is inserted, and those of card format V3 do nothing.",
        on: "A decorator's name ends at the first blank, content may be empty behind it, and those of V3 that name fields of an entry set them.",
        faults: ["03 F16"]
    }
    LORE_GROUPS = "lore.groups" {
        off: "A loser of two inclusion groups takes an unrelated entry with it, winners of several groups do not hold them, losers come back, resting sticky entries remove themselves, two sticky ones stay, scores ignore macros, an override found by recursion comes too late.",
        on: "Each group is decided once, by sets of names, in order of appearance; the latest sticky entry holds its group, an override takes it over even later; scores use the keys as they matched.",
        faults: ["03 F15", "03 F18", "03 F19", "03 F20", "03 F21", "03 F22", "03 F23", "03 F24", "03 F25"]
    }
    LORE_BUDGET = "lore.budget" {
        off: "Texts that activate nothing are forgotten by the budget, unlimited ones and the frame of a message count against the others, texts count as they are before scripts, an exact fit overflows, and one large entry ends the list.",
        on: "Exactly the inserted, limited texts count, each by itself and as scripts leave it; an exact fit fits, and smaller entries after a large one are still tried.",
        faults: ["03 F6", "03 F7", "03 F8"]
    }
    LORE_TIMERS = "lore.timers" {
        off: "Timed effects end when an entry is edited or another member speaks, survive a shorter chat, run backwards when messages are hidden, are spent by background and failed requests and unseen by previews.",
        on: "Timed effects belong to the entry's id, rest from their own end, end with the messages that began them, are spent by replies only and read by previews; hidden messages count, and `world_info_timed_unit: \"turns\"` counts turns of the user.",
        faults: ["03 F26", "03 F27", "03 F28", "03 F29", "03 F30", "03 F31", "03 F34", "03 F35", "03 F36b"]
    }
    LORE_PLACES = "lore.places" {
        off: "Outlets and top examples read from the highest order down, entries in the chat without a depth are lost, an outlet inside an entry is silently empty.",
        on: "All places read ascending by order, the default depth is 4, and an outlet inside an entry is reported.",
        faults: ["03 F38", "03 F39", "03 F40"]
    }
    LORE_ENTRIES = "lore.entries" {
        off: "An entry without a position is inserted nowhere, one without an order breaks the sort, tag filters do not apply when nobody is selected, of two entries under one uid one text is lost, a bad entry switches all books off, books in other forms are silent, a book's own settings are ignored.",
        on: "A missing position is the first, a missing order is 100, both filters treat nobody alike, equal uids are told apart, a bad entry is left out and reported, a `character_book` or another program's book is converted, and its `scan_depth`, `token_budget` and `recursive_scanning` hold for its entries.",
        faults: ["03 F43", "03 F44", "03 F46", "03 F47", "03 F50", "03 F51", "03 F53"]
    }
    MACROS_ESCAPES = "macros.escapes" {
        off: "Every pass removes a backslash before a brace and acts on `{{trim}}`, also in text that came out of macros.",
        on: "Only source text is unescaped, once; text that came out of a macro stays as it is; `{{noop}}` shields what stands before it from `{{trim}}`.",
        faults: ["04 F1", "04 F21"]
    }

    MACROS_SCOPES = "macros.scopes" {
        off: "A scoped macro that fails loses its closing tag; `{{// /x}}` is a closing tag; macros in comments run; scopes do not work in the value of a shorthand.",
        on: "What fails is written back whole; a closing comment tag holds slashes only; comments do nothing; scopes work in values; a closing tag of a macro without content is text.",
        faults: ["04 F2", "04 F3", "04 F18", "04 F22", "04 F23", "04 F24"]
    }

    MACROS_CARD_FIELDS = "macros.card_fields" {
        off: "Card macros inside card fields are empty, and a field is expanded anew each time it is read.",
        on: "Card fields may name other fields, and each is expanded once a request.",
        faults: ["04 F4", "04 F14", "04 F15"]
    }

    MACROS_NOT_CHAR = "macros.not_char" {
        off: "`{{notChar}}` in a group leaves out the user, muted members and members who share the speaker's name.",
        on: "`{{notChar}}` is every member but the speaker, then the user.",
        faults: ["04 F5"]
    }

    MACROS_IF = "macros.if" {
        off: "`{{else}}` splits in lower case only, and a condition is true unless its text is empty, off, false or 0.",
        on: "`{{else}}` works in any case; conditions know `==`, `!=`, `<`, `>`, `<=`, `>=`, `and`, `or`, `not` and names of local variables.",
        faults: ["04 F6", "04 F7"]
    }

    MACROS_NAMES = "macros.names" {
        off: "Characters behind a macro's name are swallowed, malformed variable shorthands vanish or are repaired, braces without a name are closed in values and upset what follows, their names are ASCII, three old names are unknown.",
        on: "What is malformed stays as it is, shorthand names may be in any script, `charJailbreak`, `instructFirstOutput` and `instructLastOutput` work.",
        faults: ["04 F8", "04 F11", "04 F16", "04 F19"]
    }

    MACROS_VALUES = "macros.values" {
        off: "Reading a variable rewrites what looks like a number and sees members of JavaScript objects; UTC offsets are whole hours in capitals; `{{lastMessage}}` may be hidden.",
        on: "Variables read as they were stored; `{{time::utc+5:30}}` and times of day in `{{timeDiff}}` work; `{{lastMessage}}` is visible.",
        faults: ["04 F9", "04 F10", "04 F17", "04 F20"]
    }

    MACROS_TRUST = "macros.trust" {
        off: "Every text may do everything, whoever wrote it.",
        on: "Cards and lorebooks cannot write global variables or ban words; in model output and retrieved text only names are expanded.",
        faults: ["04 F13"]
    }
    REPLY_CUT = "reply.cut" {
        off: "A reply is cut at `Name:` literally, with an ASCII colon, wherever a line begins so: in lists, code and status blocks too; one that begins with another's label is emptied; quiet answers are cut as well.",
        on: "Labels in any script and dress are found; lists, code, tagged blocks, quotes and rosters are left alone; only the speaker's own labels are taken off, without the blank lines behind; a wrong beginning is left out if the speaker's part follows, else reported; quiet answers stay whole.",
        faults: ["01 F12", "01 F13", "01 F14", "01 F15", "01 F17", "01 F26", "01 F37"]
    }
    REPLY_STOPS = "reply.stops" {
        off: "What may be the beginning of a stop string is taken off the end of a reply, be it one character; a whole one in the middle stays.",
        on: "A reply ends at the first whole stop string; the beginning of one goes only if the provider reports a stop or the length limit, and not for a single character.",
        faults: ["01 F23", "07 F28"]
    }
    REPLY_CONTINUE = "reply.continue" {
        off: "Continuing cleans the accepted text again and cuts it, too.",
        on: "Only the new part is cleaned.",
        faults: ["01 F16"]
    }
    REPLY_MARKDOWN = "reply.markdown" {
        off: "Blanks between emphasis marks go wherever two equal marks are, list bullets and code included.",
        on: "Marks that begin a line before a blank are bullets, lines of marks are rules, and code is left alone.",
        faults: ["01 F24"]
    }
    REPLY_SENTENCES = "reply.sentences" {
        off: "An unfinished sentence is cut back to the last mark of a fixed list, which has apostrophes, `Mr.` and opening marks in it and misses the ends of many scripts.",
        on: "It is cut back to the last end of a sentence in any script; abbreviations, numbers and apostrophes are none, and quotes and emphasis count only where they close.",
        faults: ["01 F25"]
    }
    REPLY_NAME_STOPS = "reply.name_stops" {
        off: "Text completion stops at the labels of user and members in list order, ASCII colon only, with empty names giving a bare colon.",
        on: "Who spoke last comes first, so that a provider's limit keeps the likely ones; names in Chinese, Japanese and Korean also stop at the full-width colon; empty names and beginnings of the speaker's own label are left out.",
        faults: ["01 F12", "07 F13", "07 F14"]
    }
    SCRIPTS_DEPTH = "scripts.depth" {
        off: "A script's depth limits count for nothing where a text is stored, or shown without a depth.",
        on: "A text that is being stored has depth 0; a hidden message has none, and scripts with limits leave it alone.",
        faults: ["05 R1", "05 R12"]
    }
    SCRIPTS_REPLACEMENT = "scripts.replacement" {
        off: "`$3` without a third group inserts the offset or the whole text, macros in matched text run, their writes count at every display and request, `{{char}}` is one name in trim texts and another elsewhere.",
        on: "An unknown group is empty, matched text is only text, writes count where the text is stored, `{{char}}` is one name.",
        faults: ["05 R2", "05 R3", "05 R8"]
    }
    SCRIPTS_PATTERN = "scripts.pattern" {
        off: "Macros in a pattern cost it the backslashes before braces, flags other than g, i, m, s, u make the whole text a literal pattern, a pattern ends with its line.",
        on: "Backslashes stay, all flags of JavaScript work, wrong ones are reported, a pattern may have several lines.",
        faults: ["05 R4", "05 R5"]
    }
    SCRIPTS_OWNER = "scripts.owner" {
        off: "A card's scripts run on everybody's messages while its character has the turn; a narrator's line is model output in a request and a command's on screen.",
        on: "A card's scripts run on its character's messages, and on the user's and narrator's while it has the turn; a narrator's line is a command's everywhere.",
        faults: ["05 R6", "05 R7"]
    }
    SCRIPTS_ORDER = "scripts.order" {
        off: "Scripts run user's, preset's, card's; on lorebook entries only those marked for the prompt; `priority`, `minIndex` and `maxIndex` mean nothing.",
        on: "A script's `priority` (default 0, low ones first) goes before its owner, `minIndex` and `maxIndex` count messages from the start, scripts without a mode run on lorebook entries too.",
        faults: ["05 R9", "05 R10", "05 R11"]
    }
    ROOM_REGENERATE = "room.regenerate" {
        off: "Regenerating in a group chooses the speakers anew.",
        on: "The same speakers answer again, in the same order.",
        faults: ["01 F10"]
    }
    ROOM_QUIET = "room.quiet" {
        off: "In a group a quiet request loses its options: whether it is loud, skips the lorebook, has a name.",
        on: "They are kept.",
        faults: ["01 F18"]
    }
    ROOM_ONE_MESSAGE = "room.one_message" {
        off: "`send_if_empty` is sent again before every later speaker of a round.",
        on: "A round has one message of the user.",
        faults: ["01 F9"]
    }
    ROOM_GREETINGS = "room.greetings" {
        off: "Opening a group's chat loses what its greetings write to the chat's variables, and `{{char}}` in an old first message is empty.",
        on: "The variables are kept, and `{{char}}` is the author of the message.",
        faults: ["02 addendum 1"]
    }
    ROOM_ROUNDS = "room.rounds" {
        off: "A configuration of rounds begins from the preset `sillytavern`: nobody re-plans for what is said or typed meanwhile, a line of another member is thrown away, nobody is told of the room, and the speaker's card stands before the history whatever `layout` says.",
        on: "It begins from the room's own rules: the addressed speak first, typed text moves them to the front, repeats are asked for anew, speakers are told of the room; cross-talk, hand-off, presence, limits of auto mode and the tail layout can be had.",
        faults: ["09 R10", "09 R11", "09 R12", "09 R13", "09 R14", "09 R15", "09 R16", "09 R20", "09 R21", "09 R22", "09 R23"]
    }
    ROOM_CALLS = "room.calls" {
        off: "In rounds `@` finds who its longest run of letters names exactly; strategies look for ids as pieces of the text and for any word of a card, relations count for both sides, a narrator's label is taken off once.",
        on: "In rounds `@` and strategies find whole names in any script, in the order in which they are named; relations count from the speaker to the last author; only given words trigger; labels go until none is left. `crossTalk.match` chooses otherwise.",
        faults: ["09 R1", "09 R2", "09 R3", "09 R4", "09 R5", "09 R6", "09 R7", "09 R8", "09 R9", "09 R18", "09 R19"]
    }
    MEMORY_SUMMARY = "memory.summary" {
        off: "A summary is due by messages, and by ASCII words only together with them; it is kept in the last message but one, goes with that message, and reaches the next one only as an injected text.",
        on: "Messages and words in any script count apart; summaries know what they cover, sleep and wake with their messages, may belong to one member, and always go into the next one's request.",
        faults: ["10 M14", "10 M15", "10 M16", "10 M17", "10 M18", "10 M19", "10 M20"]
    }
    MEMORY_RECALL = "memory.recall" {
        off: "Protected messages take places among the results, each chunk takes one, the threshold counts for documents only, of two neighbours one stays in the history too, the best stands last, nothing has a budget.",
        on: "Only messages that the history left out are ranked, each once, by meaning and by words, above the threshold, in their order, within a share of the budget.",
        faults: ["10 M1", "10 M2", "10 M3", "10 M4", "10 M5", "10 M6", "10 M7", "10 M10", "10 M11", "10 M22", "10 M23"]
    }
    MEMORY_FRAME = "memory.frame" {
        off: "Recalled messages, memories and documents stand in the prompt bare.",
        on: "They stand in a frame that says they are reference and nothing inside is an instruction; a text cannot end the frame.",
        faults: ["10 M24"]
    }
    TEXT_HALVES = "text.halves" {
        off: "Halves of surrogate pairs go through as they are.",
        on: "They become U+FFFD where they come in, since no provider accepts them, with a warning.",
        faults: ["08 §12.4"]
    }
    TOKENS_ESTIMATE = "tokens.estimate" {
        off: "The tokenizer is found by a part of the model's name; without its vocabulary tokens are bytes / 3.35, and the prompt is filled to the brim by that guess.",
        on: "The tokenizer goes by the model's family; without its vocabulary the guess goes by script, and a tenth of the prompt's room stays free.",
        faults: ["02 F-08", "02 F-09"]
    }
    TEXT_TEMPLATES = "text.templates" {
        off: "A story string that Handlebars cannot read fails the request and macros with arguments lose them; one without anchors loses injected texts; injected texts count as the first and the last message; narration goes under the speaker's name in sequences; examples are glued without macros and only the user is named in them; what `{{original}}` brings into the text after the chat stays unexpanded.",
        on: "Macros in a story string are kept, one that cannot be read gives way to the usual order of fields, injected texts without an anchor stand at its end with a warning; first and last are real messages of the prompt; narration is the system's; examples read like the chat; texts are expanded before they are inserted.",
        faults: ["07 F8", "07 F9", "07 F10", "07 F11", "07 F12", "07 F24", "07 F31", "05 I11"]
    }
    TEXT_LAST_LINE = "text.last_line" {
        off: "A continuation gets the speaker's name once more, again at each pass of the trim loop; a begun reply is followed by a line feed and loses its blanks, and what is put in front of the stored reply is another text; guidance at depth 0 stands in the model's mouth.",
        on: "The last line is made once from the untouched message, a begun reply is the very end of the prompt and stands in front of the stored one, guidance stands before the last line.",
        faults: ["07 F1", "07 F2", "07 F5", "07 F20", "07 F26", "07 F27"]
    }
    TEXT_BUDGET = "text.budget" {
        off: "When nothing of the chat fits the last line is missing too, an injected text that does not fit empties the chat, a text after the chat shifts what is reserved when continuing, and the whole is counted for continuations only.",
        on: "The last line is always there and the report says what did not fit; only what is kept is charged; injected texts are known by what they are; the whole prompt is counted and trimmed; fixed texts that do not fit are an error.",
        faults: ["07 F3", "07 F4", "07 F16", "07 F17"]
    }
    TEXT_BODIES = "text.bodies" {
        off: "A missing model is noticed after the old reply is gone, empty DRY breakers go out as one empty text.",
        on: "A missing model is noticed before the chat changes, empty breakers are left out.",
        faults: ["07 F19", "07 F30"]
    }
}

/// Faults that no profile has, and what is done instead: nobody could want a crash, a freeze or a wrong word in a manual back.
pub const NEVER: &[(&str, &str)] = &[
    (
        "05 I3",
        "The depth of a note or an injected text is the number of messages behind it: 4 puts it before the last four.",
    ),
    ("05 I9", "Text completion has no roles beside the story string; in the chat a text's role counts."),
    ("05 I12", "Only depths that some text has are looked at."),
    ("05 I13", "Several notes with depths, roles and orders of their own are `extensionPrompts`."),
    (
        "05 I14",
        "`report.reuse` says where a request parts from the one before and how many tokens stay the same.",
    ),
    ("05 I16", "A character without guidance of its own has none; the user's own counts."),
    (
        "05 R13",
        "A pattern has a number of steps; when they are used up the text is left as it was and the script is named.",
    ),
    (
        "05 R14",
        "Scripts are compiled once a room, and one whose match can begin nowhere in a text costs one look at it.",
    ),
    (
        "05 R15",
        "The texts of further alternatives are model output for scripts, their reasoning is reasoning.",
    ),
    ("05 R16", "A script without trim texts, placements or a replacement has empty ones."),
];
