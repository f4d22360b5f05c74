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
 * @param vocabulary From `promptside/tokenizers/…`, or the bytes or URL of such a file.
 * @returns The name of its encoding.
 */
export function loadTokenizer(
  vocabulary: Vocabulary | Uint8Array | ArrayBuffer | URL | string,
  options: { signal?: AbortSignal } = {},
): Promise<string> {
  const key = isVocabulary(vocabulary) ? vocabulary.encoding : undefined;
  const known = key === undefined ? undefined : loading.get(key);
  if (known) return known;
  const loaded = fetched(vocabulary, options.signal).then((bytes) => guarded(() => glue.load_vocabulary(bytes)));
  if (key !== undefined) {
    loading.set(key, loaded);
    loaded.catch(() => loading.delete(key));
  }
  return loaded;
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
