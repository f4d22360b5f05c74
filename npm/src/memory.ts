// A room's memory, and an index of vectors by itself. Nothing here calls a model: jobs are data, results are handed back.
import { glue, guarded, text } from "./core.js";
import { PromptsideError } from "./errors.js";
import type { OutgoingRequest } from "./round.js";

/** Where a text of the memory goes in the prompt. */
export interface MemoryPlace {
  /** -1 nowhere, 0 behind the main prompt, 1 in the chat at a depth, 2 before the main prompt. */
  position?: number;
  /** Messages behind it; 10000 is the beginning of the history. */
  depth?: number;
  /** 0 system, 1 user, 2 assistant. */
  role?: number;
  /** Lorebook keys are looked for in it. */
  scan?: boolean;
}

/** Settings of a room's memory; `docs/memory.md` says what each does. All may be left out. */
export interface MemoryOptions {
  /** Share of the prompt that memory may take (0.25). */
  share?: number;
  summary?: {
    enabled?: boolean;
    perMember?: boolean;
    interval?: number;
    forceWords?: number;
    keepRecent?: number;
    frozen?: boolean;
    words?: number;
    prompt?: string;
    template?: string;
    pinned?: string[];
    budget?: number | null;
    max?: number | null;
    place?: MemoryPlace;
  };
  recall?: {
    enabled?: boolean;
    candidates?: "dropped" | "unprotected";
    threshold?: number;
    top?: number;
    protect?: number;
    order?: "chronological" | "relevance";
    template?: string;
    max?: number | null;
    keepHidden?: boolean;
    query?: number;
    queryMin?: number;
    halfLife?: number | null;
    place?: MemoryPlace;
  };
  bank?: {
    sizeThreshold?: number;
    chunk?: number;
    overlap?: number;
    top?: number;
    maxPerFile?: number;
    template?: string;
    titles?: boolean;
    max?: number | null;
    place?: MemoryPlace;
  };
  lore?: { top?: number; all?: boolean };
  private?: { enabled?: boolean; every?: number; minImportance?: number; review?: boolean; top?: number; consolidate?: number };
  embed?: {
    /** A provider's name; without one the host embeds by itself. */
    provider?: string;
    base?: string;
    /** Without a model nothing is embedded, and words alone answer. */
    model?: string;
    dimensions?: number | null;
    batch?: number;
    precision?: "f32" | "int8";
  };
  /** What `RoomMemory.export` gave as `state`: the room goes on from there. */
  state?: unknown;
}

/** Something to do when there is time. */
export type MemoryJob =
  | { id: string; kind: "embed"; texts: string[]; items: string[]; purpose: "document"; request?: OutgoingRequest }
  | { id: string; kind: "summarise"; scope: string; coversUntil: string; left: number; system: string; user: string; request: OutgoingRequest }
  | { id: string; kind: "extract" | "consolidate"; owner: string; system: string; user: string; request: OutgoingRequest };

/** How a job ended. */
export type MemoryResult =
  | { vectors: ArrayLike<number>[] }
  /** What the embedding provider answered, parsed. */
  | { response: unknown }
  /** What the model wrote, without its reasoning. */
  | { text: string }
  /** The job will be offered again. */
  | { failed: true };

/** What the memory brings into a request, and why. */
export interface MemoryReport {
  query: string;
  items: {
    kind: "core" | "summary" | "memory" | "message" | "file" | "lore";
    id: string;
    tokens: number;
    score?: number;
    cosine?: number;
    wordRank?: number;
    leftOut?: boolean;
    cut?: boolean;
  }[];
  excluded: { protected: number; notHeard: number; hidden: number; below: number; overTop: number; overBudget: number };
  /** Tokens of the pool that the history gets. */
  left: number;
  /** `no_index`, `no_vector`: words alone answered; `stale_summary`, `summary_cut`, `no_room`. */
  degraded: string[];
  summary: string;
  recalled: string;
  bank: string;
}

/** The summary in force, and whether one is due. */
export interface SummaryState {
  id: string;
  text: string;
  covers: number;
  stale: boolean;
  due: boolean;
  why: "interval" | "words" | "not_yet" | "nothing" | "frozen";
  messages: number;
  words: number;
  pinned: string[];
}

/** How the memory reaches its room. */
interface Reach {
  call<T>(method: string, params: unknown): T;
  floats<T>(method: string, params: unknown, floats: Float32Array): T;
  bytes(): Uint8Array;
  load(state: unknown, bytes: Uint8Array): void;
}

/** The memory of a room: `room.memory`. */
export class RoomMemory {
  #reach: Reach;

  /** @internal */
  constructor(reach: Reach) {
    this.#reach = reach;
  }

  /** Changes settings; what is left out stays. */
  configure(options: MemoryOptions): void {
    this.#reach.call("memory.configure", options);
  }

  /** What there is to do now. Asking twice gives the same jobs. Call it after a round, and after the chat was edited. */
  pending(): MemoryJob[] {
    return this.#reach.call("memory.pending", {});
  }

  /** Keeps the result of a job. `stale_result`: its messages have changed meanwhile. */
  store(id: string, result: MemoryResult): { status: "kept" | "stale_result" | "empty" | "reopened" } {
    if ("vectors" in result) {
      const { floats, dims } = flat(result.vectors);
      return this.#reach.floats("memory.store", { id, dims }, floats);
    }
    return this.#reach.call("memory.store", { id, ...result });
  }

  /** The text that a request of this speaker would look for. Its vector may be given to `setQuery`; without one, words answer. */
  query(options: { speaker?: string; userMessage?: string } = {}): string {
    return this.#reach.call("memory.query", options);
  }

  /** The vector of a query text. */
  setQuery(query: string, vector: ArrayLike<number>): void {
    this.#reach.floats("memory.setQuery", { text: query }, Float32Array.from(vector));
  }

  /** What the memory would bring into a request of this speaker, and why. Nothing is changed. */
  recall(options: { speaker?: string } = {}): MemoryReport {
    return this.#reach.call("memory.recall", options);
  }

  /** The summary in force. `scope`: `shared` (default) or a member's avatar. */
  summary(scope = "shared"): SummaryState {
    return this.#reach.call("memory.summary", { scope });
  }

  /** A summary written by hand. */
  editSummary(summary: string, scope = "shared"): void {
    this.#reach.call("memory.editSummary", { text: summary, scope });
  }

  /** Takes the summary in force back; the one before counts again. */
  restoreSummary(scope = "shared"): void {
    this.#reach.call("memory.restoreSummary", { scope });
  }

  /** Takes over the summaries that SillyTavern left in the chat's messages; gives how many. */
  importSummaries(): number {
    return this.#reach.call("memory.importSummaries", {});
  }

  /** The summaries as SillyTavern keeps them: `extra.memory` of the message at `index`. */
  exportSummaries(): { index: number; text: string }[] {
    return this.#reach.call("memory.exportSummaries", {});
  }

  /** Adds a document or replaces the one with its id; gives the id. `scope`: `global`, `chat` or `character:AVATAR`. */
  addFile(file: { id?: string; name?: string; scope?: string; text: string; disabled?: boolean }): string {
    return this.#reach.call("memory.addFile", file);
  }

  /** Deletes a document, a private memory or a summary. */
  forget(id: string): boolean {
    return this.#reach.call("memory.forget", { id });
  }

  /** Confirms a private memory that waits (`private.review`). */
  confirm(id: string): boolean {
    return this.#reach.call("memory.confirm", { id });
  }

  /** Everything: JSON, and the vectors as one block. */
  export(): { state: Record<string, unknown>; vectors: Uint8Array } {
    return { state: this.#reach.call("memory.state", {}), vectors: this.#reach.bytes() };
  }

  /** Takes the place of everything but the settings. Without vectors they are made anew. */
  import(from: { state: unknown; vectors?: Uint8Array }): void {
    this.#reach.load(from.state, from.vectors ?? new Uint8Array());
  }
}

/** Vectors one after the other. */
function flat(vectors: ArrayLike<number>[]): { floats: Float32Array; dims: number } {
  const dims = vectors[0]?.length ?? 0;
  const floats = new Float32Array(dims * vectors.length);
  vectors.forEach((vector, i) => {
    if (vector.length !== dims) throw new PromptsideError("memory.answer", `vectors[${i}]`, "the vectors have different lengths");
    floats.set(vector, i * dims);
  });
  return { floats, dims };
}

const left = new FinalizationRegistry<glue.Vectors>((handle) => handle.free());

/** An exact index of vectors, for pages that keep vectors of their own: cosine over all of them, in a few milliseconds. */
export class VectorIndex {
  #handle: glue.Vectors | undefined;

  /** @param precision `int8` takes a quarter of the memory and is off by less than 0.003. */
  constructor(model: string, precision: "f32" | "int8" = "f32", from?: { items: unknown[]; bytes: Uint8Array }) {
    const items = from && text(from.items);
    const handle = guarded(() => (from && items ? glue.Vectors.from_bytes(model, items, from.bytes) : new glue.Vectors(model, precision)));
    this.#handle = handle;
    left.register(this, handle, this);
  }

  #own(): glue.Vectors {
    if (!this.#handle) throw new PromptsideError("room.closed", "", "the index was freed; build a new one");
    return this.#handle;
  }

  /** Adds items with their vectors, as a list or as one array of numbers. */
  add(items: (string | { id: string; chunk?: number; hash?: string })[], vectors: Float32Array | ArrayLike<number>[]): void {
    const handle = this.#own();
    const json = text(items);
    const floats = vectors instanceof Float32Array ? vectors : flat(vectors).floats;
    guarded(() => handle.add(json, floats));
  }

  /** Deletes all items of these ids. */
  remove(ids: string[]): void {
    const handle = this.#own();
    const json = text(ids);
    guarded(() => handle.remove(json));
  }

  /** The best `k` items, best first; later ones first on ties. */
  search(query: ArrayLike<number>, k = 10): { id: string; chunk: number; score: number }[] {
    const handle = this.#own();
    const floats = query instanceof Float32Array ? query : Float32Array.from(query);
    return guarded(() => JSON.parse(handle.search(floats, k)));
  }

  /** Items and bytes: `new VectorIndex(model, precision, exported)` goes on from there. */
  export(): { items: unknown[]; bytes: Uint8Array } {
    const handle = this.#own();
    return guarded(() => ({ items: JSON.parse(handle.items()), bytes: handle.to_bytes() }));
  }

  /** How many items there are. */
  get length(): number {
    const handle = this.#own();
    return guarded(() => handle.length());
  }

  /** Bytes of numbers. */
  get size(): number {
    const handle = this.#own();
    return guarded(() => handle.size());
  }

  /** Gives the memory back. A second call does nothing. */
  free(): void {
    const handle = this.#handle;
    this.#handle = undefined;
    if (handle) {
      left.unregister(this);
      handle.free();
    }
  }

  [Symbol.dispose](): void {
    this.free();
  }
}
