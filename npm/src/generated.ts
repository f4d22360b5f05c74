// Made from the Rust definitions by `UPDATE=1 cargo test --lib api::tests`. Do not edit.
import type { MemoryOptions } from "./memory.js";
import type { OutgoingRequest } from "./round.js";
type JsonValue = unknown;

/**
 * Options of a room. All are optional.
 */
export type RoomOptions = { 
/**
 * `promptside` (default) or `sillytavern`.
 */
profile?: string, 
/**
 * Single switches, by name: `docs/differences.md`.
 */
switches: Record<string, boolean>, 
/**
 * Random source. Default in JavaScript: the platform's entropy.
 */
random?: Random, 
/**
 * Now, milliseconds since 1970. Default in JavaScript: the clock.
 */
now: number, 
/**
 * Minutes east of Greenwich. Default in JavaScript: the browser's zone.
 */
offsetMinutes?: number, 
/**
 * BCP 47 tag. Default in JavaScript: the browser's language.
 */
locale?: string, 
/**
 * `auto` (default: by model, an estimate while its vocabulary is not loaded), `estimate`, `codepoints`, an encoding such as
 * `o200k_base`, the name that a `tokenizer.json` was loaded under, or `supplied` (`supplied:NAME`): the host counts.
 */
tokenizer?: string, 
/**
 * Host settings of the providers: `promptPlaceholder`, `claude.cachingAtDepth` …
 */
provider: Record<string, unknown>, 
/**
 * Bounds on work: `docs/untrusted.md`.
 */
limits: Record<string, number>, 
/**
 * How the budget is shared out between newest messages, examples, memory, lorebooks.
 */
budget?: Shares, 
/**
 * The room has a memory: its settings, and under `state` what it was. `docs/memory.md` lists them.
 */
memory: MemoryOptions, 
/**
 * How rounds in a group go: `{preset?, mode?, who?, crossTalk?, …}`, see `RoundConfig`. Absent: as in the reference.
 */
rounds: RoundConfig, 
/**
 * `own` (default): regex scripts run on the package's engine, step by step. `platform`: on the browser's, which knows no
 * budget; for callers that run the package in a worker and end it at a deadline.
 */
regexp?: string, 
/**
 * Write the greetings of a new chat, expand the first message of an existing one (default true).
 */
open?: boolean, };

/**
 * Where random numbers come from.
 */
export type Random = { 
/**
 * A seed: the same numbers on every platform.
 */
seed: number, 
/**
 * Recorded numbers in [0, 1), used in order; running out is an error.
 */
tape?: Array<number>, 
/**
 * 32 bytes of entropy as hexadecimal text.
 */
entropy?: string, };

/**
 * Who would speak?
 */
export type SpeakerOptions = { 
/**
 * What the user typed.
 */
userMessage?: string, 
/**
 * `normal` (default), `swipe`, `regenerate`, `continue`, `impersonate`, `quiet`.
 */
kind?: string, 
/**
 * Force this speaker: name, alias, avatar, or index in the group.
 */
speaker?: string, 
/**
 * Auto mode: nobody pressed send.
 */
auto: boolean, 
/**
 * Use up the random numbers; otherwise asking twice gives the same answer (default false).
 */
spend: boolean, };

/**
 * Who speaks, and why.
 */
export type Plan = { 
/**
 * In order.
 */
speakers: Array<Pick>, 
/**
 * Why nobody.
 */
nobody: Nobody | null, 
/**
 * Which members do not speak, and why.
 */
passed: Array<Pass>, 
/**
 * The random numbers used, in order.
 */
draws: Array<Drawn>, 
/**
 * Oddities.
 */
warnings: Array<Warning>, };

/**
 * A random number and what it decided.
 */
export type Drawn = { 
/**
 * `natural.shuffle`, `natural`, `pooled`, `wi`, `macro.random` …
 */
site: string, 
/**
 * The number, 0 <= value < 1.
 */
value: number, };

/**
 * Who speaks.
 */
export type Pick = { 
/**
 * Index in the scene's characters.
 */
index: number, 
/**
 * Its id (avatar).
 */
id: string, 
/**
 * Its name.
 */
name: string, 
/**
 * Why.
 */
reason: Reason, };

/**
 * Who does not.
 */
export type Pass = { 
/**
 * Member id.
 */
id: string, 
/**
 * Why not.
 */
reason: Silence, };

/**
 * Why nobody speaks.
 */
export type Nobody = "all_muted" | "manual" | "unknown_strategy" | "missing" | "silent";

/**
 * Why somebody speaks.
 */
export type Reason = { "kind": "mentioned", 
/**
 * Where, in UTF-16 units of that text.
 */
start: number, 
/**
 * Where the name ends.
 */
end: number, 
/**
 * How. In the reference's matcher every word counts, which is `part`.
 */
by: MentionKind, } | { "kind": "roll", 
/**
 * The number drawn.
 */
value: number, 
/**
 * The member's talkativeness.
 */
talkativeness: number, } | { "kind": "fallback", 
/**
 * The number drawn.
 */
value: number, } | { "kind": "list" } | { "kind": "pooled" } | { "kind": "pooled_again" } | { "kind": "manual" } | { "kind": "forced" } | { "kind": "last_speaker" } | { "kind": "impersonate" } | { "kind": "quiet" } | { "kind": "again" } | { "kind": "solo" };

/**
 * Why a member does not speak.
 */
export type Silence = { "kind": "muted" } | { "kind": "missing" } | { "kind": "banned" } | { "kind": "roll", 
/**
 * The number drawn.
 */
value: number, 
/**
 * The member's talkativeness.
 */
talkativeness: number, } | { "kind": "silent" } | { "kind": "not_mentioned" } | { "kind": "spoken" };

/**
 * How a member was mentioned.
 */
export type MentionKind = "at" | "full" | "alias" | "part";

/**
 * Which request?
 */
export type BuildOptions = { 
/**
 * Who speaks: name, alias, avatar, or index. Default: the one whom the plan names first.
 */
speaker?: string, 
/**
 * A message of the user that is not in the chat yet.
 */
userMessage?: string, 
/**
 * See [`SpeakerOptions::kind`].
 */
kind?: string, 
/**
 * For `quiet`.
 */
quiet?: QuietInput, 
/**
 * Nobody pressed send.
 */
auto: boolean, 
/**
 * As a stream; overrides the preset.
 */
stream?: boolean, };

/**
 * A prompt without the chat (text completion).
 */
export type RawOptions = { 
/**
 * A text, or `[{role, content, name?}]`; macros are expanded.
 */
prompt: JsonValue, 
/**
 * In front of it.
 */
systemPrompt: string, 
/**
 * How the answer is to begin.
 */
prefill: string, 
/**
 * Leave out the instruct template.
 */
instructOverride: boolean, 
/**
 * The answer is meant to be seen.
 */
toLoud: boolean, 
/**
 * Response length for this call, tokens.
 */
responseLength?: number, 
/**
 * Who `{{char}}` is: name, alias, avatar, or index.
 */
speaker?: string, };

/**
 * A request that would be sent.
 */
export type Built = { 
/**
 * `{method, url, headers, body, auth?}`: a valid second argument of `fetch`, the key still missing.
 */
request: OutgoingRequest, 
/**
 * Why it looks as it does.
 */
report: Report, 
/**
 * What a round would store once this request is answered: variables, timers, edits.
 */
changes: Changes, 
/**
 * Who speaks: avatar.
 */
speaker: string, };

/**
 * A reply to clean.
 */
export type CleanOptions = { 
/**
 * The reply as it came.
 */
text: string, 
/**
 * Who spoke. Outside a group: the character.
 */
speaker?: string, 
/**
 * It is a message in the user's name.
 */
impersonate: boolean, 
/**
 * It continues the last message.
 */
continue: boolean, 
/**
 * Leave an unfinished last sentence.
 */
keepIncomplete: boolean, 
/**
 * `smart`, `compat` or `off`: what to do with labels; default by the profile.
 */
trim?: string, 
/**
 * Stop strings of this call; default those of the settings.
 */
stop?: Array<string>, 
/**
 * Remove the speaker's own label (default true).
 */
trimNames: boolean, 
/**
 * Cut at the label of the one who must not speak (default true).
 */
trimWrongNames: boolean, 
/**
 * Put "start reply with" in front (default true).
 */
includeBias: boolean, };

/**
 * A reply as it is kept.
 */
export type Cleaned = { 
/**
 * The text, with what was accepted before when continuing; may be empty.
 */
text: string, 
/**
 * Where it was cut, if it was: the first place.
 */
cut: Cut | null, 
/**
 * What was left out in front.
 */
salvage: Salvage | null, 
/**
 * Own labels that were taken off (`Trim::Smart`).
 */
stripped: Array<Stripped>, 
/**
 * The steps that changed something, in order.
 */
steps: Array<Step>, 
/**
 * Scripts that met a limit, by name, and what else was reported.
 */
warnings: Array<Warning>, };

/**
 * Where a reply was cut.
 */
export type Cut = { 
/**
 * UTF-16 offset in the text as it was when the cut was made: the reply as written, unless "start reply with", template
 * texts or regex scripts changed it before. When continuing, offsets count from the new part.
 */
offset: number, 
/**
 * The name, or the text of the mark or stop string, that was found.
 */
name: string, 
/**
 * Id of the participant; empty when it was no label.
 */
id: string, 
/**
 * Why.
 */
reason: CutReason, };

/**
 * Why a reply was cut.
 */
export type CutReason = "label" | "foreign_start" | "stop" | "marker";

/**
 * A beginning in somebody else's name that was left out because the speaker's own part follows.
 */
export type Salvage = { 
/**
 * UTF-16 offset where the speaker's own part begins; as in [`Cut::offset`].
 */
until: number, 
/**
 * In whose name the beginning was.
 */
name: string, 
/**
 * Id of that participant.
 */
id: string, };

/**
 * A step that changed the text.
 */
export type Step = "start_with" | "stops" | "marks" | "names" | "newlines" | "line_ends" | "markdown" | "sentence" | "trim";

/**
 * An own label that was taken off.
 */
export type Stripped = { 
/**
 * UTF-16 offset; as in [`Cut::offset`].
 */
offset: number, 
/**
 * The label, as it was written.
 */
text: string, };

/**
 * What a request was made of.
 */
export type Inspected = { 
/**
 * The neutral payload, before post-processing and conversion.
 */
payload: JsonValue, 
/**
 * Its report.
 */
report: Report, 
/**
 * Active lorebook entries: `[{book, uid}]`.
 */
activated: JsonValue, 
/**
 * What the memory brought, and why; `null` without one.
 */
memory: JsonValue, };

/**
 * Changes of the stored chat by the host.
 */
export type ChatEdits = { 
/**
 * Messages to append, as a chat file holds them.
 */
append: Array<JsonValue>, 
/**
 * How many of the last messages to remove, before appending.
 */
removeLast: number, };

/**
 * Texts to expand.
 */
export type ExpandOptions = { 
/**
 * Each is expanded, in order; later ones see variables that earlier ones set.
 */
texts: Array<string>, 
/**
 * Who `{{char}}` is.
 */
speaker?: string, 
/**
 * Keep the variables that were set (default false).
 */
commit: boolean, };

/**
 * A text to look at, for editors.
 */
export type InspectOptions = { 
/**
 * The text.
 */
text: string, 
/**
 * Who `{{char}}` is.
 */
speaker?: string, 
/**
 * Whose text it is: `full` (default: the user's), `card`, `data` (model output, retrieved text).
 */
trust?: string, 
/**
 * Keep what it writes (default false).
 */
commit: boolean, };

/**
 * What a text becomes, and why.
 */
export type InspectedText = { 
/**
 * The text, expanded.
 */
text: string, 
/**
 * Its macros in source order, with what each inserts.
 */
macros: Array<MacroSpan>, 
/**
 * Names that are neither built in nor in the scene's `macros`.
 */
unknown: Array<string>, 
/**
 * What the result depends on.
 */
needs: Needs, 
/**
 * What it would write.
 */
changes: Changes, 
/**
 * Macros that met a limit or were not allowed.
 */
warnings: Array<Warning>, };

/**
 * A text run through the regex scripts.
 */
export type Scripted = { 
/**
 * The text as the scripts leave it.
 */
text: string, 
/**
 * The scripts that changed it, in the order they ran.
 */
changed: Array<ScriptChange>, 
/**
 * What macros in them would write.
 */
changes: Changes, 
/**
 * Scripts that were stopped or do nothing, by name and with the reason.
 */
warnings: Array<Warning>, };

/**
 * What one script did.
 */
export type ScriptChange = { 
/**
 * Name of the script.
 */
script: string, 
/**
 * Whose it is.
 */
scope: ScriptScope, 
/**
 * How many matches it replaced.
 */
matches: number, 
/**
 * Nothing is left of the text.
 */
emptied: boolean, };

/**
 * Whose script it is. In the order in which they run.
 */
export type ScriptScope = "global" | "preset" | "character";

/**
 * A macro in a text.
 */
export type MacroSpan = { 
/**
 * UTF-16 range, braces included.
 */
range: [number, number], 
/**
 * Name as written; `.name` or `$name` for a variable shorthand.
 */
name: string, 
/**
 * What would become of it.
 */
status: SpanStatus, 
/**
 * UTF-16 ranges of its arguments.
 */
args: Array<[number, number]>, 
/**
 * UTF-16 range of its scoped content.
 */
content?: [number, number], 
/**
 * What it inserts here and now; only from [`explain`], and only where it was evaluated.
 */
value?: string, };

/**
 * What would become of a macro.
 */
export type SpanStatus = "expands" | "unknown" | "arguments" | "closes" | "unpaired";

/**
 * What an expansion depends on. With nothing set the text is constant.
 */
export type Needs = { 
/**
 * Names of user, speaker, group.
 */
names: boolean, 
/**
 * Card fields, whose own texts may need more.
 */
card: boolean, 
/**
 * Messages of the chat.
 */
chat: boolean, 
/**
 * Reads variables.
 */
variables: boolean, 
/**
 * Writes variables or bans words: must run once a request.
 */
writes: boolean, 
/**
 * Draws random numbers: must run once a request.
 */
random: boolean, 
/**
 * The time.
 */
time: boolean, 
/**
 * Settings, templates, outlets, the chat's id, values of the host.
 */
host: boolean, 
/**
 * A macro that is not built in.
 */
unknown: boolean, };

/**
 * Changes that wait for a commit. Later entries win; `None` (in JSON null) deletes.
 */
export type Changes = { 
/**
 * Variables of the chat (`chat_metadata.variables`).
 */
local: Record<string, unknown>, 
/**
 * Global variables.
 */
global: Record<string, unknown>, 
/**
 * Other keys of the chat metadata (`chat_id_hash`, `timedWorldInfo` …).
 */
metadata: Record<string, unknown>, 
/**
 * Edits of stored messages.
 */
chat: Array<ChatEdit>, 
/**
 * Words banned for this generation (`{{banned}}`).
 */
banned: Array<string>, };

/**
 * One edit of the stored chat.
 */
export type ChatEdit = { "type": "text", 
/**
 * Message index.
 */
index: number, 
/**
 * New text.
 */
mes: string, };

/**
 * A lorebook scan.
 */
export type LoreOptions = { 
/**
 * Lines to look into, oldest first; default: the chat's visible messages.
 */
lines?: Array<string>, 
/**
 * Prompt size in tokens that the budget is a share of (default: context less response).
 */
maxContext?: number, 
/**
 * Generation type.
 */
trigger?: string, 
/**
 * Who is about to speak.
 */
speaker?: string, 
/**
 * Timers are not written (default false).
 */
dry: boolean, };

/**
 * What a look into the lorebooks finds: which entries are active, what they say where, and why each is active or not.
 */
export type LoreLook = { 
/**
 * Text before the card.
 */
before: string, 
/**
 * Text after the card.
 */
after: string, 
/**
 * Example dialogue.
 */
examples: Array<LoreExample>, 
/**
 * Texts in the chat, by depth and role.
 */
depth: Array<LoreDepth>, 
/**
 * Lines above the author's note.
 */
an_before: Array<string>, 
/**
 * Lines below it.
 */
an_after: Array<string>, 
/**
 * Texts for `{{outlet::name}}`, by name.
 */
outlets: Record<string, string[]>, 
/**
 * Active entries, in the order in which they became so.
 */
activated: Array<LoreActive>, 
/**
 * Every entry that something came of.
 */
explained: Array<LoreExplained>, 
/**
 * All other entries: by reason and book their uids, where a list `[a, b]` stands for all whole numbers from a to b.
 */
untouched: Record<string, Record<string, (number | string | [number, number])[]>>, 
/**
 * The loops of the scan.
 */
loops: Array<LoreLoop>, 
/**
 * Tokens that the entries could take.
 */
budget: number, 
/**
 * An entry did not fit (in profile `promptside` others still may).
 */
overflow: boolean, 
/**
 * What could not be read, keys that were stopped.
 */
warnings: Array<Warning>, };

/**
 * An example dialogue of a lorebook entry.
 */
export type LoreExample = { 
/**
 * 0 before the card's own, 1 behind them.
 */
position: number, 
/**
 * The text.
 */
content: string, };

/**
 * Lorebook texts of one depth and role.
 */
export type LoreDepth = { 
/**
 * Messages from the end; null where there is none.
 */
depth: JsonValue, 
/**
 * 0 system, 1 user, 2 assistant.
 */
role: number, 
/**
 * Texts, joined by a line feed in the request.
 */
entries: Array<string>, };

/**
 * An active entry.
 */
export type LoreActive = { 
/**
 * Name of the book.
 */
book: string, 
/**
 * `uid` of the entry in it, as it stands.
 */
uid: JsonValue, };

/**
 * Everything that decides how a room goes. All is optional.
 */
export type RoundConfig = { 
/**
 * Values that the others lie over: `single_round`, `free_chat`, `host_mode`, `nekobot`, `sillytavern`.
 */
preset?: string, 
/**
 * How many rounds, and who begins.
 */
mode: Mode, 
/**
 * Whom a round plans.
 */
who: Who, 
/**
 * For `pooled`: everybody once, in drawn order (default false).
 */
all: boolean, 
/**
 * For `formula`: how many speak (default 1).
 */
top: number, 
/**
 * What addressing does.
 */
directed: Directed, 
/**
 * What counts as addressing.
 */
mentionOrder: MentionOrder, 
/**
 * For `host_mode`: member id; absent: the first participant.
 */
host?: string, 
/**
 * For `host_mode`: the host has the last word (default false).
 */
hostClosing: boolean, 
/**
 * Rounds of one start (default 1; `free_chat` 2).
 */
maxRounds?: number, 
/**
 * Stored replies of one start (default: as many as participants; `free_chat` twice that).
 */
maxMessages?: number, 
/**
 * Idle rounds in a row that end the room (default 2; 0: none do).
 */
idleLimit: number, 
/**
 * Which rounds are idle.
 */
idleBy: IdleBy, 
/**
 * When another round follows.
 */
continueOn: ContinueOn, 
/**
 * Every round begins with the next participant (default false).
 */
rotate: boolean, 
/**
 * Whether who is spoken to may stay silent.
 */
silence: SilencePolicy, 
/**
 * How replies carry skips and nominations.
 */
control: Control, 
/**
 * Members that replies call.
 */
crossTalk: CrossTalk, 
/**
 * What a cut line of another member does.
 */
handoff: Handoff, 
/**
 * Replies that say the same again are asked for anew, then dropped (default true).
 */
repeatGuard: Guard, 
/**
 * Rules for replies; absent: only empty ones are rejected.
 */
validation?: Rules, 
/**
 * Requests of one turn at most (default 4).
 */
maxAttempts: number, 
/**
 * Milliseconds between two turns (default 200).
 */
pauseMs: number, 
/**
 * A start while the room is busy.
 */
onBusy: OnBusy, 
/**
 * A message of the user while the room is busy.
 */
onUserMessage: OnUserMessage, 
/**
 * Rounds that begin by themselves.
 */
auto: Auto, 
/**
 * A model that picks the speakers.
 */
director: Director, 
/**
 * A narrator; absent: none.
 */
narrator?: Narrator, 
/**
 * Milliseconds after which a call counts as failed; told to the driver with each request.
 */
timeoutMs: number, 
/**
 * Who hears what.
 */
presence: PresenceOptions, 
/**
 * Members that are not there.
 */
absent: Array<string>, 
/**
 * Members that speak only when they are spoken to.
 */
onlyWhenMentioned: Array<string>, 
/**
 * Speakers are told of the room: who is there, who was addressed, what was wrong with their last attempt (default true).
 */
groupContext: boolean, 
/**
 * Where the speaker's card stands. `tail` needs the switch `room.rounds`.
 */
layout: Layout, 
/**
 * For `tail`: the speaker's texts are one message (default true).
 */
tailJoin: boolean, 
/**
 * For `tail`: what share of its room the history takes when it begins anew (default 0.75).
 */
lowWater: number, 
/**
 * Speakers are told who the others are, in a line each; absent: by name only.
 */
blurbs?: Blurbs, 
/**
 * For the host: which model or preset answers for a member, by avatar; told with its requests.
 */
connections?: { [key in string]: string }, 
/**
 * How often in a row the word may go to and fro between the same two members; absent: without limit.
 */
maxConsecutivePair?: number, 
/**
 * For the group context: what is talked about.
 */
topic: string, 
/**
 * For the group context: where.
 */
scene: string, 
/**
 * For `relevance` and `world_engine`: how members stand.
 */
relations: Array<Relation>, 
/**
 * For `world_engine`: the active node of the plot.
 */
plot?: Node, };

/**
 * How many rounds a start has, and who begins them.
 */
export type Mode = "single_round" | "free_chat" | "host_mode";

/**
 * Which participants a round plans.
 */
export type Who = "all" | "natural" | "list" | "pooled" | "manual" | "round_robin" | "mention" | "random" | "relevance" | "narrator_driven" | "world_engine" | "formula" | "director";

/**
 * What it means that the user addresses members.
 */
export type Directed = "first" | "only" | "off";

/**
 * Which mentions move a member to the front.
 */
export type MentionOrder = "at" | "any";

/**
 * Which rounds count as idle.
 */
export type IdleBy = "messages" | "nominations";

/**
 * When another round follows.
 */
export type ContinueOn = "always" | "nomination";

/**
 * Whether a member that is spoken to may stay silent.
 */
export type SilencePolicy = "must_reply_if_mentioned" | "allow_skip";

/**
 * What happens when a reply was cut where another member's line began.
 */
export type Handoff = "off" | "next";

/**
 * What a start does while the room is busy.
 */
export type OnBusy = "refuse" | "queue" | "replace";

/**
 * What a message of the user does while the room is busy.
 */
export type OnUserMessage = "insert" | "after" | "cancel";

/**
 * One line about each member.
 */
export type Blurbs = { 
/**
 * Lines by avatar; a member without one is told of by the beginning of its description.
 */
texts: Record<string, string>, 
/**
 * Code points of a line (default 120).
 */
chars: number, };

/**
 * Members that replies call speak after the round.
 */
export type CrossTalk = { 
/**
 * Default false.
 */
enabled: boolean, 
/**
 * How many at most (default 5).
 */
max: number, 
/**
 * How `@` is read.
 */
match: Match, 
/**
 * Words such as `@all` call everybody (default true).
 */
everyone: boolean, };

/**
 * Rounds that begin by themselves.
 */
export type Auto = { 
/**
 * Default false.
 */
enabled: boolean, 
/**
 * Milliseconds between two (default 5000).
 */
delayMs: number, 
/**
 * How many in a row; absent: no limit.
 */
maxTurns?: number, };

/**
 * A model that picks the speakers.
 */
export type Director = { 
/**
 * How many at most (default 3).
 */
max: number, 
/**
 * How many messages it is shown (default 10).
 */
depth: number, 
/**
 * Code points of a member's description (default 200).
 */
briefChars: number, 
/**
 * Code points of a message (default 400).
 */
lineChars: number, 
/**
 * What a mention does.
 */
onMention: OnMention, 
/**
 * Who speaks otherwise.
 */
fallback: DirectorFallback, 
/**
 * It is shown what not all candidates heard (default true).
 */
omniscient: boolean, 
/**
 * Milliseconds after which its call counts as failed (default 30000).
 */
timeoutMs: number, };

/**
 * What a mention does to a director.
 */
export type OnMention = "skip" | "add";

/**
 * Who speaks when a director's answer is of no use.
 */
export type DirectorFallback = "natural" | "list" | "last_plan" | "nobody";

/**
 * A voice that tells what happens. It is no member: its messages count for no limit.
 */
export type Narrator = { 
/**
 * Id of its messages.
 */
id: string, 
/**
 * Name of its messages.
 */
name: string, 
/**
 * Rounds with a reply after which it speaks (default 3); 0: only when the host asks.
 */
interval: number, 
/**
 * Default true.
 */
enabled: boolean, };

/**
 * Whether the guard against repeats is on, or how it measures.
 */
export type Guard = boolean | RepeatOptions;

/**
 * Why somebody has a turn.
 */
export type Cause = "mentioned" | "scheduled" | "host" | "nominated" | "handoff" | "director" | "fallback" | "cross_talk" | "host_closing" | "narrator";

/**
 * How replies carry skips and nominations.
 */
export type Control = "none" | "json" | "marks";

/**
 * Where a speaker's card stands.
 */
export type Layout = "classic" | "tail";

/**
 * What may make a narrator speak.
 */
export type Trigger = "scene_change" | "character_join" | "plot_node" | "manual" | "interval" | "silence";

/**
 * Rules of hearing.
 */
export type PresenceOptions = { 
/**
 * New messages are stamped with who is there, and members hear only what they were there for (default false).
 */
enabled: boolean, 
/**
 * Members that hear everything, such as a narrator.
 */
seeAll: Array<string>, 
/**
 * The message right before a reply is heard in any case (default false).
 */
seeLast: boolean, 
/**
 * What messages without a list mean.
 */
legacy: Legacy, 
/**
 * Muted members hear what is said (default true).
 */
includeMuted: boolean, };

/**
 * What a message without a list means.
 */
export type Legacy = "everyone" | "none";

/**
 * How the guard measures.
 */
export type RepeatOptions = { 
/**
 * From which likeness on a text is a repeat, 0 to 1. Default: 0.6 for Chinese, Japanese and Korean, 0.7 for others.
 */
threshold?: number, 
/**
 * The caller hands vectors of both texts in: a cosine of 0.92 is a repeat, too (default false).
 */
embedding: boolean, };

/**
 * Rules for replies.
 */
export type Rules = { 
/**
 * Words that must not occur.
 */
forbidden: Array<Word>, 
/**
 * How the speaker refers to itself.
 */
selfReference?: SelfReference, 
/**
 * A claim to be another member is an error (default false).
 */
identity: boolean, 
/**
 * Further phrases that introduce oneself, besides the known ones.
 */
identityPatterns: Array<string>, 
/**
 * Texts of the prompt that must not occur. Default: the header of the group context.
 */
leakMarkers?: Array<string>, };

/**
 * A forbidden word: the text, or one with exceptions.
 */
export type Word = string | { 
/**
 * The word.
 */
text: string, 
/**
 * Longer words that are allowed.
 */
except: Array<string>, };

/**
 * How a speaker may refer to itself.
 */
export type SelfReference = { 
/**
 * Its own words for itself.
 */
required: Array<string>, 
/**
 * Words that it never uses for itself.
 */
wrong: Array<string>, 
/**
 * Words that have a wrong one in them and are allowed.
 */
except: Array<string>, 
/**
 * When it counts.
 */
mode: SelfMode, };

/**
 * When the words for oneself count.
 */
export type SelfMode = "if_first_person" | "always";

/**
 * Something wrong with a reply.
 */
export type Issue = { "code": "empty" } | { "code": "forbidden_word", 
/**
 * Which.
 */
words: Array<string>, } | { "code": "self_reference", 
/**
 * Which.
 */
wrong: Array<string>, } | { "code": "speaks_as_other", 
/**
 * Who; absent when unknown.
 */
member: string | null, } | { "code": "prompt_leak" };

/**
 * How `@` finds its member.
 */
export type Match = "smart" | "strict";

/**
 * Two members and how they stand. All numbers are 0 to 100.
 */
export type Relation = { 
/**
 * One of them.
 */
a: string, 
/**
 * The other.
 */
b: string, 
/**
 * How well they know each other.
 */
familiarity: number, 
/**
 * Trust.
 */
trust: number, 
/**
 * Affection.
 */
affection: number, 
/**
 * Rivalry.
 */
rivalry: number, };

/**
 * The active node of the plot.
 */
export type Node = { 
/**
 * `normal`, `turning_point`, `ending` …
 */
level: string, 
/**
 * Member ids, the most important first.
 */
participants: Array<string>, 
/**
 * Title.
 */
title: string, 
/**
 * What happens in it.
 */
summary: string, };

/**
 * Something that happened outside, told to the room.
 */
export type Input = { "type": "start" } & Start | { "type": "chunk", 
/**
 * The request it answers.
 */
request: string, 
/**
 * The piece.
 */
text: string, } | { "type": "wire", 
/**
 * The request it answers.
 */
request: string, 
/**
 * The piece; an empty one ends the answer.
 */
text: string, 
/**
 * Nothing more will come.
 */
end?: boolean, } | { "type": "reply", 
/**
 * The request it answers.
 */
request: string, 
/**
 * Whole text; absent: what came in chunks.
 */
text?: string, 
/**
 * Reasoning text.
 */
reasoning?: string, 
/**
 * Encrypted reasoning.
 */
signature?: string, 
/**
 * Further candidates.
 */
alternatives?: Array<string>, 
/**
 * Their reasoning, in the same order.
 */
alternativeReasonings?: Array<string>, 
/**
 * Why it ended: `stop`, `length`, `tools`, `filter` …
 */
finish?: string, 
/**
 * With the option `rounds`: the speaker stays silent.
 */
skip?: boolean, 
/**
 * With the option `rounds`: whom it names next.
 */
next?: string, 
/**
 * With the option `rounds`: a vector of this reply, for the guard against repeats.
 */
vector?: Array<number>, 
/**
 * With the option `rounds`: a vector of the speaker's last message.
 */
previousVector?: Array<number>, } | { "type": "fail", 
/**
 * The request it answers.
 */
request: string, 
/**
 * A short stable word: `network`, `http_429`, the provider's own code …
 */
code: string, 
/**
 * For people.
 */
message?: string, } | { "type": "timeout", 
/**
 * The request it answers.
 */
request: string, } | { "type": "abort", 
/**
 * Keep what has come of the running reply.
 */
keep?: boolean, } | { "type": "elapsed", 
/**
 * Which wait.
 */
wait: string, } | { "type": "typing" } | { "type": "user_message", 
/**
 * The text.
 */
text: string, } | { "type": "command", 
/**
 * Which.
 */
order: Order, 
/**
 * Whom it is about, for `insert` and `skip`; `skip` without anybody ends the running turn.
 */
member?: string, 
/**
 * In which order, for `reorder`.
 */
members?: Array<string>, } | { "type": "present", 
/**
 * Who.
 */
member: string, 
/**
 * Whether it is there from now on.
 */
present: boolean, } | { "type": "trigger", 
/**
 * `scene_change`, `character_join`, `plot_node`, `manual`, `silence`.
 */
trigger: string, };

/**
 * Orders about the turns to come.
 */
export type Order = "pause" | "resume" | "insert" | "skip" | "retry" | "reorder";

/**
 * What a request of a configured round is for.
 */
export type Asking = { 
/**
 * `reply`, `director`, `narrate`.
 */
purpose: string, 
/**
 * Why the speaker has a turn.
 */
reason?: Cause, 
/**
 * Who made it so: `user` or an avatar.
 */
by?: string, 
/**
 * Number of the round.
 */
round?: number, 
/**
 * Whom the user addressed.
 */
target?: string, 
/**
 * The speaker was spoken to and must answer.
 */
mustReply: boolean, 
/**
 * Its last attempt said the same as before.
 */
antiRepeat: boolean, 
/**
 * What was wrong with its last attempt.
 */
issues: Array<Issue>, 
/**
 * It has the last word.
 */
closing: boolean, 
/**
 * Whom a director can choose.
 */
candidates: Array<string>, 
/**
 * The narrator's occasion.
 */
trigger?: Trigger, 
/**
 * What the configuration says of the speaker's model.
 */
connection?: string, 
/**
 * After how many milliseconds the call counts as failed.
 */
timeoutMs?: number, };

/**
 * What a round is to do.
 */
export type Start = { 
/**
 * What the user typed; absent or empty: nothing typed.
 */
userMessage?: string, 
/**
 * `normal` (default), `swipe`, `regenerate`, `continue`, `impersonate`, `quiet`.
 */
kind?: string, 
/**
 * Force this speaker: name, alias, avatar, or index in the group.
 */
speaker?: string, 
/**
 * A round of auto mode: what is typed is not sent.
 */
auto: boolean, 
/**
 * For `quiet`: the instruction and its options.
 */
quiet?: QuietInput, 
/**
 * Run exactly these avatars, in this order, instead of choosing.
 */
speakers?: Array<string>, 
/**
 * The reply is asked for as a stream; overrides the preset.
 */
stream?: boolean, 
/**
 * With the option `rounds`: the member whom the user addresses, by name, alias or avatar.
 */
target?: string, 
/**
 * With the option `rounds`: occasions for the narrator.
 */
triggers?: Array<string>, 
/**
 * How many messages the chat has for the page; when the room has more or fewer, `history_changed` says so.
 */
historyLength?: number, };

/**
 * A request beside the chat.
 */
export type QuietInput = { 
/**
 * The instruction.
 */
prompt: string, 
/**
 * The answer is meant to be seen.
 */
toLoud: boolean, 
/**
 * Leave out lorebook and author's note.
 */
skipLore: boolean, 
/**
 * Name for the answer's last line in text completion.
 */
name: string, 
/**
 * A picture, as a data URL.
 */
image?: string, 
/**
 * Response length for this call, tokens.
 */
responseLength?: number, };

/**
 * What a provider answered, in the caller's hands or read by us.
 */
export type Answer = { 
/**
 * Whole text; absent: what came in chunks.
 */
text?: string, 
/**
 * Reasoning text.
 */
reasoning?: string, 
/**
 * Encrypted reasoning.
 */
signature?: string, 
/**
 * Further candidates.
 */
alternatives?: Array<string>, 
/**
 * Their reasoning, in the same order.
 */
alternativeReasonings?: Array<string>, 
/**
 * Why it ended: `stop`, `length`, `tools`, `filter` …
 */
finish?: string, 
/**
 * With the option `rounds`: the speaker stays silent.
 */
skip?: boolean, 
/**
 * With the option `rounds`: whom it names next.
 */
next?: string, 
/**
 * With the option `rounds`: a vector of this reply, for the guard against repeats.
 */
vector?: Array<number>, 
/**
 * With the option `rounds`: a vector of the speaker's last message.
 */
previousVector?: Array<number>, };

/**
 * What the room answers, in order.
 */
export type Output = { "type": "round_started", 
/**
 * Its number in this start.
 */
round: number, 
/**
 * `single_round`, `free_chat`, `host_mode`.
 */
mode: string, 
/**
 * Whom the user addressed.
 */
target?: string, } | { "type": "round_plan", 
/**
 * Its number.
 */
round: number, 
/**
 * In order.
 */
planned: Array<Planned>, 
/**
 * Why nobody: `all_muted`, `manual` …
 */
empty: string | null, 
/**
 * Random numbers that the choice used.
 */
draws: JsonValue, 
/**
 * It changed while the round went on: these are who still waits.
 */
revised: boolean, } | { "type": "user_message", 
/**
 * Position in the chat.
 */
index: number, 
/**
 * As stored.
 */
message: JsonValue, } | { "type": "memory", 
/**
 * Who will speak.
 */
speaker: string, 
/**
 * `{query, items: [{kind, id, tokens, score?, cosine?, wordRank?, leftOut?, cut?}], excluded, left, degraded, summary, recalled, bank}`.
 */
report: JsonValue, } | { "type": "request", 
/**
 * Names it in the inputs that answer it.
 */
id: string, 
/**
 * Avatar of who speaks; absent for the user's voice outside a group.
 */
speaker: string, 
/**
 * Their name.
 */
name: string, 
/**
 * Generation type.
 */
kind: string, 
/**
 * `{url, method, headers, body, auth}`: a valid second argument of `fetch`, the key still missing.
 */
request: JsonValue, 
/**
 * Why the request looks as it does.
 */
report: Report, 
/**
 * What it is for, in a configured round.
 */
turn?: Asking, } | { "type": "token", 
/**
 * Who.
 */
speaker: string, 
/**
 * The new piece.
 */
text: string, 
/**
 * Which request.
 */
attempt?: string, } | { "type": "draft_reset", 
/**
 * Who.
 */
speaker: string, 
/**
 * Which request.
 */
attempt?: string, } | { "type": "stop", 
/**
 * Which request.
 */
request: string, } | { "type": "cut", 
/**
 * Who spoke.
 */
speaker: string, 
/**
 * UTF-16 offset in the raw reply.
 */
offset: number, 
/**
 * Whose label was found.
 */
foreign: string, 
/**
 * The reason code.
 */
reason: string, 
/**
 * Which request.
 */
attempt?: string, } | { "type": "message_done", 
/**
 * Who.
 */
speaker: string, 
/**
 * Their name.
 */
name: string, 
/**
 * Position in the chat.
 */
index: number, 
/**
 * The cleaned text.
 */
text: string, 
/**
 * Scripts and macros of the reply that met a limit or are wrong; absent when there are none.
 */
warnings?: Array<Warning>, 
/**
 * As stored.
 */
message: JsonValue, 
/**
 * Which request.
 */
attempt?: string, 
/**
 * Number of the round.
 */
round?: number, 
/**
 * Number of the turn in it.
 */
turn?: number, 
/**
 * Why it spoke.
 */
reason?: Cause, 
/**
 * The round was stopped in the middle of it.
 */
partial: boolean, } | { "type": "result", 
/**
 * Who spoke, or beside whom.
 */
speaker: string, 
/**
 * The cleaned text.
 */
text: string, } | { "type": "error", 
/**
 * Who.
 */
speaker: string, 
/**
 * Stable code.
 */
code: string, 
/**
 * For people.
 */
message: string, 
/**
 * Which request.
 */
attempt?: string, 
/**
 * What was wrong with the reply.
 */
issues: Array<string>, } | { "type": "status", 
/**
 * Who; empty for a director.
 */
speaker: string, 
/**
 * Which request.
 */
attempt: string, 
/**
 * `planning`, `generating`, `checking`, `retrying`, `narrating`.
 */
node: string, } | { "type": "director_plan", 
/**
 * Number of the round.
 */
round: number, 
/**
 * Avatars in order.
 */
speakers: Array<string>, 
/**
 * In the model's words, or `mentioned`, `only_candidate`.
 */
reason: string, 
/**
 * Its answer was of no use.
 */
fallback: boolean, } | { "type": "role_skipped", 
/**
 * Who.
 */
speaker: string, 
/**
 * Number of the round.
 */
round: number, 
/**
 * `no_new_value`, `similar_to_last`, `by_host`, `pair_limit`.
 */
reason: string, } | { "type": "handoff", 
/**
 * From whom.
 */
from: string, 
/**
 * To whom.
 */
to: string, } | { "type": "crosstalk_plan", 
/**
 * Number of the round.
 */
round: number, 
/**
 * Who speaks.
 */
planned: Array<string>, 
/**
 * Who does not, because of the limit.
 */
dropped: Array<string>, } | { "type": "queued" } | { "type": "auto_ended" } | { "type": "round_stats", 
/**
 * Its number.
 */
round: number, 
/**
 * Who spoke.
 */
spoke: Array<string>, 
/**
 * Who stayed silent.
 */
skipped: Array<string>, 
/**
 * Whose turn failed.
 */
failed: Array<string>, 
/**
 * Who was not reached.
 */
unreached: Array<string>, 
/**
 * How long it took, milliseconds.
 */
durationMs?: number, } | { "type": "room_finished", 
/**
 * `round_complete`, `aborted`, `nobody_can_speak` …
 */
reason: string, 
/**
 * Rounds run.
 */
round: number, 
/**
 * Messages stored.
 */
count: number, } | { "type": "wait", 
/**
 * Names it.
 */
id: string, 
/**
 * How long, milliseconds.
 */
ms: number, 
/**
 * `pause` or `auto`.
 */
why: string, } | { "type": "history_changed", 
/**
 * Messages that the start spoke of.
 */
expected: number, 
/**
 * Messages that there are.
 */
length: number, } | { "type": "refused", 
/**
 * The code, `room.busy`.
 */
code: string, } | { "type": "ignored", 
/**
 * `stale`.
 */
reason: string, 
/**
 * The request named.
 */
request: string, };

/**
 * Someone who will speak, and why.
 */
export type Planned = { 
/**
 * Avatar.
 */
id: string, 
/**
 * Name.
 */
name: string, 
/**
 * Why: `{kind: "mentioned", …}`.
 */
reason: JsonValue, };

/**
 * The report of one request.
 */
export type Report = { 
/**
 * Format version.
 */
v: number, 
/**
 * Generation type.
 */
type: string, 
/**
 * Counter used.
 */
tokenizer: string, 
/**
 * Whether its counts are exact.
 */
exact: boolean, 
/**
 * Totals.
 */
budget: Budget, 
/**
 * One a message, same index.
 */
messages: Array<ReportMessage>, 
/**
 * The slots in final order, before system messages are merged.
 */
slots: Array<ReportSlot>, 
/**
 * Identifiers of the messages, where system messages were merged; empty otherwise.
 */
merged: Array<ReportItem>, 
/**
 * Sum of the counts made while merging; what ST's inspector shows without a name.
 */
recounted: number, 
/**
 * What is not in, and why.
 */
omitted: Array<Omitted>, 
/**
 * Every token that was booked.
 */
ledger: Array<LedgerLine>, 
/**
 * Repairs and oddities.
 */
warnings: Array<Warning>, 
/**
 * The history's cut.
 */
cut: HistoryCut, 
/**
 * What it has in common with the room's request before it.
 */
reuse: Reuse, 
/**
 * Fields of the body that the model's name forbids or renames.
 */
body_changes: Array<BodyChange>, 
/**
 * Why the request is not whole; only where the profile sends it all the same.
 */
error: ReportError | null, 
/**
 * The parts of the prompt; only in text completion.
 */
text: TextParts | null, };

/**
 * One message of the request, explained.
 */
export type ReportMessage = { 
/**
 * Index in the assembled list, before post-processing.
 */
i: number, 
/**
 * Role.
 */
role: string, 
/**
 * The `name` field.
 */
name?: string, 
/**
 * Tokens of the message, framing included.
 */
tokens: number, 
/**
 * What its parts were charged, where it was merged from several; else the same as `tokens`.
 */
charged: number, 
/**
 * The slot of the prompt order it stands in.
 */
slot: string, 
/**
 * Depth of an injection.
 */
depth?: number, 
/**
 * Its parts in text order.
 */
parts: Array<Part>, };

/**
 * A slot of the prompt order with what stands in it, before messages are merged; empty prompts are among them.
 */
export type ReportSlot = { 
/**
 * Its name: a prompt identifier, `chatHistory`, `dialogueExamples`, `continueNudge`, `controlPrompts` …
 */
slot: string, 
/**
 * Its messages, in order.
 */
items: Array<ReportItem>, };

/**
 * A message of a slot.
 */
export type ReportItem = { 
/**
 * Its identifier; the continued message has none.
 */
id?: string, 
/**
 * Role.
 */
role: string, 
/**
 * Tokens charged, framing included.
 */
tokens: number, };

/**
 * Why the request is not whole.
 */
export type ReportError = { 
/**
 * A stable code of an error, such as `budget.mandatory`.
 */
code: string, 
/**
 * What did not fit.
 */
what: string, 
/**
 * How many tokens were missing.
 */
short_by: number, };

/**
 * A stretch of a message with one origin.
 */
export type Part = { 
/**
 * Where it came from.
 */
origin: Origin, 
/**
 * UTF-16 range in the content.
 */
range: [number, number], 
/**
 * Text between the previous part and this one.
 */
sep_before: string, };

/**
 * Where a text came from.
 */
export type Origin = { 
/**
 * The kind of source.
 */
kind: OriginKind, 
/**
 * Which one: prompt identifier, field, key, `msg:3` …
 */
id: string, 
/**
 * Avatar of the card, for joined cards.
 */
character?: string, 
/**
 * Message index, for `chat`.
 */
index?: number, };

/**
 * What kind of source a text has.
 */
export type OriginKind = "prompt" | "card" | "persona" | "lore" | "ext" | "chat" | "utility" | "tools" | "host";

/**
 * An input that did not make it, and why (codes of spec 02 Part 3).
 */
export type Omitted = { 
/**
 * What it was.
 */
origin: Origin, 
/**
 * The same holds for the chat messages up to this index: long runs are one item.
 */
through?: number, 
/**
 * What it would have cost, when it was counted.
 */
tokens?: number, 
/**
 * Stable code, such as `budget.history_cut`.
 */
reason: string, 
/**
 * Further data, such as `{left, short_by}`.
 */
detail?: JsonValue, };

/**
 * One line of the ledger.
 */
export type LedgerLine = { 
/**
 * What was done.
 */
op: Op, 
/**
 * With what.
 */
what: string, 
/**
 * Change of what is left.
 */
d: number, 
/**
 * What is left afterwards; may be negative in the `sillytavern` profile.
 */
left: number, };

/**
 * A step of the ledger.
 */
export type Op = "set" | "reserve" | "add" | "fill" | "free" | "insert";

/**
 * The totals.
 */
export type Budget = { 
/**
 * Context size.
 */
context: number, 
/**
 * Response length.
 */
response: number, 
/**
 * Kept free because counts are estimates.
 */
margin: number, 
/**
 * `context - response - margin`.
 */
limit: number, 
/**
 * Charged in all.
 */
used: number, 
/**
 * `limit - used`.
 */
left: number, 
/**
 * `used` by class: `priming`, `tools`, `control`, `fixed`, `utility`, `history`, `injections`, `examples`; `lost` for what was
 * charged and overwritten, `held` for reservations that an early stop never gave back. Zeros are left out.
 */
by_class: { [key in string]: number }, };

/**
 * Where the history was cut.
 */
export type HistoryCut = { 
/**
 * Index of the oldest chat message that is in; `None` when there is none.
 */
first_included_index: number | null, 
/**
 * How many older visible messages were left out.
 */
dropped: number, };

/**
 * Where a request parts from the one before.
 */
export type Parting = { 
/**
 * Index of the first message that differs.
 */
index: number, 
/**
 * Where its text came from, if that is known.
 */
origin: Origin | null, };

/**
 * How much of a request stood at the start of the one before, so that a provider's prompt cache can have it.
 */
export type Reuse = { 
/**
 * Messages that are the same, from the first on.
 */
messages: number, 
/**
 * Their tokens, and those of the text that the next one begins with in both.
 */
tokens: number, 
/**
 * Where they part; absent when nothing is new, or when there was no request before.
 */
first_difference?: Parting, 
/**
 * What else differs, so that nothing can be had again: `provider`, `model`, `tools`, `schema`, `system`.
 */
reset?: string, };

/**
 * Shares of the budget; all optional, in tokens unless said otherwise. They hold where `prompt.overflow` is on.
 */
export type Shares = { 
/**
 * So many of the newest chat messages are sent, or the request is an error (default 1).
 */
newest?: number, 
/**
 * Most that example dialogues take together.
 */
examples: number, 
/**
 * Most that summary, recalled messages and data bank take together; a text that does not fit is left out whole.
 */
memory: number, 
/**
 * Most that the entries of a lorebook take, by the book's name.
 */
books: Record<string, number>, 
/**
 * Identifiers of prompts that get only what everything else leaves, in this order: `scenario`, `worldInfoAfter`, an id of the
 * user's.
 */
last?: Array<string>, 
/**
 * Percent of the prompt's room that stay free while counts are estimates (default 10; none in the `sillytavern` profile).
 */
margin?: number, };

/**
 * A change that a model's name made to the body.
 */
export type BodyChange = { 
/**
 * The rule: `o_series`, `gpt_5` …
 */
rule: string, 
/**
 * Fields that were taken out.
 */
removed: Array<string>, 
/**
 * `max_tokens` became `max_completion_tokens`.
 */
completion_tokens: boolean, 
/**
 * System messages became the user's.
 */
system_to_user: boolean, };

/**
 * The parts of a text-completion prompt.
 */
export type TextParts = { 
/**
 * The story string before its sequences.
 */
story: string, 
/**
 * The example dialogue that is in.
 */
examples: string, 
/**
 * The chat that is in, oldest first; the last with the end of the prompt.
 */
messages: Array<string>, 
/**
 * The message that is continued, as far as it goes.
 */
continuation: string, };

/**
 * Something that was repaired or ignored: same shape as an error, but the result stands.
 */
export type Warning = { 
/**
 * Stable code, such as `field-coerced`.
 */
code: string, 
/**
 * Where it arose: JSON path, chunk, entry or line.
 */
path: string, 
/**
 * What was done.
 */
message: string, };

/**
 * One entry, explained.
 */
export type LoreExplained = { 
/**
 * Book.
 */
world: string, 
/**
 * Entry.
 */
uid: JsonValue, 
/**
 * Title.
 */
comment: string, 
/**
 * Where its book came from.
 */
source: LoreSource, 
/**
 * What became of it.
 */
outcome: LoreOutcome, 
/**
 * Why not.
 */
reason: LoreReason | null, 
/**
 * Why.
 */
cause: LoreCause | null, 
/**
 * The loop in which that was decided, from 1.
 */
round: number, };

/**
 * Why it is not active.
 */
export type LoreReason = { "code": "disabled" } | { "code": "trigger" } | { "code": "character_filter" } | { "code": "tag_filter" } | { "code": "delay", 
/**
 * Messages needed.
 */
needed: number, } | { "code": "off_beat", 
/**
 * Messages from one to the next.
 */
every: number, } | { "code": "cooldown" } | { "code": "delay_until_recursion", 
/**
 * Its level.
 */
level: number, } | { "code": "exclude_recursion" } | { "code": "dont_activate" } | { "code": "no_keys" } | { "code": "no_primary_match" } | { "code": "secondary_failed" } | { "code": "group_lost", 
/**
 * The group.
 */
group: string, 
/**
 * By what: `sticky`, `score`, `override`, `roll`, `already_active`, `cooldown`, `delay`.
 */
by: string, } | { "code": "probability", 
/**
 * Rolled, percent.
 */
draw: number, 
/**
 * Allowed, percent.
 */
needed: number, } | { "code": "budget", 
/**
 * Tokens for all entries, or for those of its book when that has a share.
 */
limit: number, } | { "code": "after_overflow" } | { "code": "decided" };

/**
 * Why it is active.
 */
export type LoreCause = { "code": "constant" } | { "code": "decorator" } | { "code": "forced" } | { "code": "sticky" } | { "code": "key", 
/**
 * Its index.
 */
key: number, 
/**
 * As it stands in the book.
 */
text: string, };

/**
 * What became of an entry.
 */
export type LoreOutcome = "activated" | "skipped" | "removed" | "over_budget";

/**
 * One loop of the scan.
 */
export type LoreLoop = { 
/**
 * State at its start.
 */
state: LoreState, 
/**
 * State after it.
 */
next: LoreState, 
/**
 * Which rule of spec 03 §10 step 8 chose that.
 */
rule: string | null, 
/**
 * Entries found in it, after groups and rolls.
 */
new: Array<string>, 
/**
 * Level of delayed recursion.
 */
level: number, 
/**
 * The budget had overflowed.
 */
overflow: boolean, };

/**
 * State of the loop.
 */
export type LoreState = "none" | "initial" | "recursion" | "min_activations";

/**
 * Where a book came from.
 */
export type LoreSource = "global" | "character" | "chat" | "persona";
