// What is not made from Rust: the shapes of the files that users bring, as far as their fields are read. The rest is generated.
import type * as made from "./generated.js";
import type { MemoryReport } from "./memory.js";
import type { OutgoingRequest } from "./round.js";
export type * from "./generated.js";

// Fields with a default may be left out.
/** A request beside the chat: only `prompt` is needed. */
export type QuietInput = Partial<made.QuietInput> & { prompt: string };
/** What the user sent or asked for. */
export type Start = Partial<Omit<made.Start, "quiet">> & { quiet?: QuietInput };
/** How rounds in a group go. */
export type RoundConfig = Partial<Omit<made.RoundConfig, "crossTalk" | "auto" | "director" | "narrator" | "presence" | "validation">> & {
  crossTalk?: Partial<made.CrossTalk>;
  auto?: Partial<made.Auto>;
  director?: Partial<made.Director>;
  narrator?: Partial<made.Narrator> | null;
  presence?: Partial<made.PresenceOptions>;
  validation?: Partial<made.Rules> | null;
};
/** What a room is told. */
export type Input = Exclude<made.Input, { type: "start" }> | ({ type: "start" } & Start);
/** What a room answers. */
export type Output =
  | Exclude<made.Output, { type: "memory" | "request" | "user_message" | "message_done" | "round_plan" }>
  | (Omit<Extract<made.Output, { type: "request" }>, "request" | "report"> & { request: OutgoingRequest; report: made.Report })
  | (Omit<Extract<made.Output, { type: "memory" }>, "report"> & { report: MemoryReport })
  | (Omit<Extract<made.Output, { type: "user_message" }>, "message"> & { message: MessageInput })
  | (Omit<Extract<made.Output, { type: "message_done" }>, "message"> & { message: MessageInput })
  | (Omit<Extract<made.Output, { type: "round_plan" }>, "planned" | "draws" | "empty"> & {
      planned: { id: string; name: string; reason: made.Reason | { kind: "round"; cause: made.Cause; by: string | null } }[];
      /** Why nobody speaks; absent when somebody does. */
      empty?: made.Nobody;
      draws: made.Drawn[];
    });
/** Where random numbers come from: one of the three. */
export type Random = Partial<made.Random>;
/** Options of a room. */
export type RoomOptions = Partial<Omit<made.RoomOptions, "random" | "rounds">> & { random?: Random; rounds?: RoundConfig | null };
/** Who would speak? */
export type SpeakerOptions = Partial<made.SpeakerOptions>;
/** Which request? */
export type BuildOptions = Partial<Omit<made.BuildOptions, "quiet">> & { quiet?: QuietInput };
/** A prompt without the chat. */
export type RawOptions = Partial<Omit<made.RawOptions, "prompt">> & {
  /** A text, or messages, oldest first. */
  prompt: string | { role: "system" | "user" | "assistant"; content: string; name?: string }[];
};
/** A look into the lorebooks. */
export type LoreOptions = Partial<made.LoreOptions>;
/** A text to look at. */
export type InspectOptions = Partial<made.InspectOptions>;
/** Which regex scripts run on a text. */
export interface ScriptOptions {
  /** 1 user input, 2 reply, 3 command, 5 lorebook, 6 reasoning. */
  placement: 1 | 2 | 3 | 5 | 6;
  /** For display (`markdown`), for a request (`prompt`); neither: the text is stored. */
  markdown?: boolean;
  prompt?: boolean;
  /** A stored message is being edited. */
  edit?: boolean;
  /** Messages behind it, and before it. */
  depth?: number;
  index?: number;
  /** Whose turn it is: that card's scripts run, if they are allowed. */
  speaker?: string;
  /** `{{char}}` in trim texts (put right: everywhere), if not the speaker's name: the message's. */
  name?: string;
}
/** A reply to clean. */
export type CleanOptions = Partial<made.CleanOptions> & { text: string };

/** A card as its file has it: V1, V2 or V3. */
export type Card = { spec?: string; spec_version?: string; data?: Record<string, unknown> } & Record<string, unknown>;

/** A character: a card, or a card with the id it is known by. */
export type CharacterInput = Card | { avatar: string; card: Card; aliases?: string[] };

/** A group as SillyTavern stores it. */
export interface GroupInput {
  id?: string;
  name?: string;
  /** Avatars, in order. */
  members: string[];
  /** Muted avatars. */
  disabled_members?: string[];
  allow_self_responses?: boolean;
  /** 0 natural, 1 list, 2 manual, 3 pooled. */
  activation_strategy?: number;
  /** 0 swap, 1 join without muted, 2 join with muted. */
  generation_mode?: number;
  generation_mode_join_prefix?: string;
  generation_mode_join_suffix?: string;
  auto_mode_delay?: number;
  [key: string]: unknown;
}

/** Who the user is. */
export interface PersonaInput {
  name?: string;
  avatar?: string;
  description?: string;
  /** 0 in the prompt, 2 top of the author's note, 3 bottom of it, 4 at depth, 9 nowhere. */
  position?: number;
  depth?: number;
  role?: number;
  lorebook?: string;
}

/** A chat message as a chat file has it. */
export interface MessageInput {
  name: string;
  is_user?: boolean;
  is_system?: boolean;
  mes: string;
  send_date?: string | number;
  original_avatar?: string;
  extra?: Record<string, unknown>;
  swipes?: string[];
  swipe_id?: number;
  [key: string]: unknown;
}

/** A text that the host wants in the prompt. */
export interface ExtensionPromptInput {
  key: string;
  value: string;
  /** -1 stored only, 0 after main, 1 in chat, 2 before main. */
  position?: number;
  /** Messages behind the text, for position 1. */
  depth?: number;
  /** Place among texts and prompts of one depth, low ones first; default 100. */
  order?: number;
  role?: number;
  scan?: boolean;
  filter?: boolean;
}

/** Everything a frontend brings. Only `characters` is needed. */
export interface SceneInput {
  characters: CharacterInput[];
  /** Outside a group: avatar of the character. */
  chatWith?: string;
  group?: GroupInput | null;
  persona?: PersonaInput;
  /** Messages, oldest first, or the chat with its header. */
  chat?: MessageInput[] | { id?: string; metadata?: Record<string, unknown>; messages: MessageInput[] };
  /** A chat-completion preset or settings object. */
  preset?: Record<string, unknown>;
  settings?: { power_user?: Record<string, unknown>; extensions?: Record<string, unknown>; world_info?: Record<string, unknown> };
  /** Text completion instead of chat completion: see `docs/text-completion.md`. */
  text?: TextInput;
  lorebooks?: { books?: Record<string, unknown>; global?: string[]; charLore?: { name: string; extraBooks: string[] }[] };
  scripts?: { global?: unknown[]; preset?: unknown[]; allowedCharacters?: string[] };
  extensionPrompts?: ExtensionPromptInput[];
  variables?: { global?: Record<string, unknown> };
  /** Macros of your own: what each inserts. `"name::argument"` is for a call with that argument. See `docs/macros.md`. */
  macros?: Record<string, string | number | boolean>;
  /** In `Room.update`: header metadata to merge. */
  chatMetadata?: Record<string, unknown>;
}

/** A text-completion backend and its settings. */
export interface TextBackend {
  /** `koboldcpp`, `llamacpp`, `ooba` (default), `tabby`, `vllm`, `aphrodite`, `ollama`, `generic`, `huggingface`, or a hosted service. */
  type?: string;
  model?: string;
  /** What the server says it runs; stored with replies (default: the model). */
  status?: string;
  /** Base URL of your own server (default `http://127.0.0.1:5000`). */
  server?: string;
  streaming?: boolean;
  /** Tokens (default 8192). */
  max_context?: number;
  /** Tokens (default 300). */
  response_length?: number;
  /** Sampler settings, under the names of preset files. */
  settings?: Record<string, unknown>;
}

/** Text completion: where the prompt goes, and templates that lie over those of `settings.power_user`. */
export interface TextInput {
  /** The backends of `textgen` (default), or KoboldAI Classic. */
  api?: "textgen" | "kobold";
  textgen?: TextBackend;
  kobold?: Omit<TextBackend, "type"> & { flags?: Record<string, boolean> };
  /** A context template, as its file has it. */
  context?: Record<string, unknown>;
  /** An instruct template; instruct mode is on when it is given, unless it says `enabled: false`. */
  instruct?: Record<string, unknown>;
  sysprompt?: { content?: string; post_history?: string; enabled?: boolean; [key: string]: unknown };
  reasoning?: Record<string, unknown>;
}

/** What a source takes. */
export interface Capabilities {
  /** `openai`, `claude`, `makersuite` … */
  source: string;
  /** Calls straight from a page. */
  browser: {
    /** `few_headers`: with plain headers only; `server`: by the server's own settings; `unknown`: treat it as `no` until probed. */
    direct: "yes" | "few_headers" | "no" | "server" | "unknown";
    /** Somebody has said so in public; false: not confirmed, or reports disagree. */
    verified: boolean;
    /** What a page must add; requests carry it already. */
    header?: [name: string, value: string];
    remark: string;
  };
  /** Takes the preset's reverse proxy and its password. */
  proxy: boolean;
  streaming: boolean;
  /** A begun reply: continued by all models (`flag`: a field asks for it), by some (`model`), or it is a turn like any other. */
  beginning: "flag" | "model" | "turn";
  /** Takes tools; some models may not. */
  tools: boolean;
  /** Media that go out; others are left out, with a note in the report. */
  media: ("image" | "audio" | "video")[];
  /** How much a model thinks: a word, a number of tokens, on and off, or nothing. */
  reasoning: "effort" | "budget" | "switch" | "none";
  /** Structured answers: a field, a field or a tool by model, words in the prompt, or not at all. */
  schema: "native" | "model" | "text" | "none";
  /** Stop strings that are sent at most; null: all. */
  stops: number | null;
  /** Several answers to one request. */
  answers: boolean;
  seed: boolean;
  /** Names go in a field; elsewhere they stand in front of the text. */
  nameField: boolean;
  /** Neighbours of one role are merged. */
  alternation: boolean;
}

/** What went wrong at a provider. */
export interface ProviderError {
  kind: "auth" | "quota" | "rate_limit" | "moderation" | "blocked" | "empty" | "too_long" | "not_found" | "unavailable" | "refused" | "other";
  status?: number;
  /** The provider's words. */
  message: string;
  /** The same request may succeed later. */
  retry: boolean;
  /** Milliseconds to wait before that. */
  retryAfter?: number;
  reasons?: string[];
  flagged?: string;
  /** What to change, where the cause is known. */
  hint?: string;
}

/** What a file can be. */
export type FileKind =
  | "card"
  | "chat"
  | "lorebook"
  | "group"
  | "personas"
  | "regex"
  | "prompts"
  | `preset-${"chat" | "context" | "instruct" | "sysprompt" | "reasoning" | "textgen" | "master"}`;

/** A file that a card brings along. `path`: for `extractAsset`; null when the address leads elsewhere. `size`: null when it is missing. */
export interface FileAsset {
  type: string;
  name: string;
  ext: string;
  path: string | null;
  size: number | null;
}

/** A file that was read. The value is under the key of its kind; presets and prompts are under `preset`. */
export interface FileRead {
  kind: FileKind;
  /** `json`, `png`, `apng`, `charx`, `jsonl`, `yaml` … */
  container: string;
  warnings: { code: string; path: string; message: string }[];
  /** The JSON as it stands in the file, when it was asked for; of JSON lines the list of objects. */
  source?: unknown;
  /** Of a card in an archive. */
  assets?: FileAsset[];
  [part: string]: unknown;
}

/** A text whose tokens a room wants to know, and the key under which the count can be kept. */
export interface MissingCount {
  text: string;
  key: string;
}

/** The tokens of a text, given by itself or by its key. */
export type SuppliedCount = { text: string; tokens: number } | { key: string; tokens: number };
