// Vocabularies: one asset each, loaded only by those who import it.
import { call, glue, guarded } from "./core.js";
import { local } from "./source.js";
import { PromptsideError } from "./errors.js";

/** A vocabulary as `promptside/tokenizers/NAME` exports it. */
export interface Vocabulary {
  /** Its encoding, such as `o200k_base`. */
  readonly encoding: string;
  /** Where its file is. */
  readonly source: () => Promise<URL | Uint8Array>;
}

/** What `countTokens` gives. */
export interface TokenCount {
  tokens: number;
  /** False while the vocabulary of the model is not loaded, or not public. */
  exact: boolean;
  /** The counter used. */
  tokenizer: string;
}

const loading = new Map<string, Promise<string>>();

/**
 * Loads a vocabulary; from then on counts for its models are exact. Loading one twice costs nothing.
 * A failed load leaves the estimate in place and can be tried again.
 *
 * A `tokenizer.json`, as models have it on Hugging Face, is loaded under a name: `loadTokenizer(url, { name: "my-model" })`, then
 * `tokenizer: "my-model"` as an option of rooms and of `countTokens`.
 * @param vocabulary From `promptside/tokenizers/…`, or the bytes or URL of such a file or of a `tokenizer.json`.
 * @returns The name of its encoding, or the given name.
 */
export function loadTokenizer(
  vocabulary: Vocabulary | Uint8Array | ArrayBuffer | URL | string,
  options: { signal?: AbortSignal; name?: string } = {},
): Promise<string> {
  const key = isVocabulary(vocabulary) ? vocabulary.encoding : undefined;
  const known = key === undefined ? undefined : loading.get(key);
  if (known) return known;
  const loaded = fetched(vocabulary, options.signal).then((bytes) => entered(bytes, options.name ?? key));
  if (key !== undefined) {
    loading.set(key, loaded);
    loaded.catch(() => loading.delete(key));
  }
  return loaded;
}

/** A vocabulary names itself; what begins like JSON is a tokenizer.json, which does not. */
function entered(bytes: Uint8Array, name: string | undefined): string {
  const first = bytes.findIndex((byte) => ![0xef, 0xbb, 0xbf, 0x20, 0x09, 0x0a, 0x0d].includes(byte));
  if (bytes[first] !== 0x7b) return guarded(() => glue.load_vocabulary(bytes));
  if (name === undefined) {
    throw new PromptsideError("option.unknown", "name", 'a tokenizer.json has no name of its own: loadTokenizer(source, { name: "my-model" })');
  }
  guarded(() => glue.load_tokenizer_file(name, bytes));
  return name;
}

function isVocabulary(value: unknown): value is Vocabulary {
  return typeof value === "object" && value !== null && "encoding" in value && "source" in value;
}

async function fetched(from: Vocabulary | Uint8Array | ArrayBuffer | URL | string, signal?: AbortSignal): Promise<Uint8Array> {
  let source: unknown = isVocabulary(from) ? await from.source() : from;
  if (source instanceof URL) source = await local(source);
  if (source instanceof URL || typeof source === "string") {
    const response = await fetch(source, signal ? { signal } : {});
    if (!response.ok) {
      throw new PromptsideError("load.failed", "", `the vocabulary was not found: ${response.status} ${response.url}`);
    }
    source = await response.arrayBuffer();
  }
  const bytes = source instanceof ArrayBuffer ? new Uint8Array(source) : (source as Uint8Array);
  return inflated(bytes);
}

/** Some servers inflate what is named .gz, some do not: the first two bytes tell. */
async function inflated(bytes: Uint8Array): Promise<Uint8Array> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Tokens of a plain text for a model. */
export function countTokens(text: string, model: string | { source?: string; model?: string; tokenizer?: string } = {}): TokenCount {
  return call("countTokens", { text, ...(typeof model === "string" ? { model } : model) });
}

const finished = new FinalizationRegistry<{ free(): void }>((handle) => handle.free());
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A loaded tokenizer: exact counts, ids and texts. Special-token text counts as the text it is, half a surrogate pair as U+FFFD.
 * Freed with `using`, by `free()`, or when it is collected.
 */
export class Tokenizer {
  /** Its encoding, such as `o200k_base`. */
  readonly encoding: string;
  readonly #handle: glue.Tokens;

  /** @param encoding What `loadTokenizer` gave. */
  constructor(encoding: string) {
    this.encoding = encoding;
    this.#handle = guarded(() => new glue.Tokens(encoding));
    finished.register(this, this.#handle, this);
  }

  /** Tokens of a text. */
  count(text: string): number {
    return guarded(() => this.#handle.count(text));
  }

  /** Tokens of a text if there are at most `limit`, else some number above it; stops reading there. */
  countUpTo(text: string, limit: number): number {
    return guarded(() => this.#handle.count_up_to(text, limit));
  }

  /** Tokens of several texts, in one call into the module. */
  countEach(texts: readonly string[]): Uint32Array {
    const bytes = texts.map((text) => encoder.encode(text));
    const lengths = Uint32Array.from(bytes, (part) => part.length);
    const all = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
    let at = 0;
    for (const part of bytes) {
      all.set(part, at);
      at += part.length;
    }
    return guarded(() => this.#handle.count_each(all, lengths));
  }

  /** The ids of a text. */
  encode(text: string): Uint32Array {
    return guarded(() => this.#handle.encode(text));
  }

  /** The text of ids; bytes that are no text become U+FFFD. Unknown ids are an error, and so is a tokenizer from a tokenizer.json. */
  decode(ids: ArrayLike<number>): string {
    return decoder.decode(guarded(() => this.#handle.decode(Uint32Array.from(ids))));
  }

  /** Counts a text while it comes: each addition costs its own length only. */
  stream(): TokenStream {
    return new TokenStream(guarded(() => this.#handle.stream()));
  }

  free(): void {
    finished.unregister(this);
    this.#handle.free();
  }

  [Symbol.dispose](): void {
    this.free();
  }
}

/** A text that grows, and its count. */
export class TokenStream {
  readonly #handle: glue.TokenStream;
  #half = "";
  #tokens = 0;

  constructor(handle: glue.TokenStream) {
    this.#handle = handle;
    finished.register(this, handle, this);
  }

  /** Tokens of the text so far. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Adds to the text; gives the tokens of all of it. Half a surrogate pair at the end waits for its other half. */
  add(text: string): number {
    let whole = this.#half + text;
    this.#half = /[\ud800-\udbff]$/.test(whole) ? whole.slice(-1) : "";
    if (this.#half) whole = whole.slice(0, -1);
    this.#tokens = guarded(() => this.#handle.add(whole));
    return this.#tokens;
  }

  free(): void {
    finished.unregister(this);
    this.#handle.free();
  }

  [Symbol.dispose](): void {
    this.free();
  }
}
