import { glue, guarded, text } from "./core.js";
import { PromptsideError } from "./errors.js";
import { RoomMemory } from "./memory.js";
import type { BuildOptions, RawOptions, Built, CleanOptions, Cleaned, Input, InspectOptions, Inspected, InspectedText, LoreLook, LoreOptions, MissingCount, Output, Plan, Planned, RoomOptions, SceneInput, Scripted, ScriptOptions, SpeakerOptions, Start, SuppliedCount } from "./types.js";

const left = new FinalizationRegistry<glue.Handle>((handle) => handle.free());

/**
 * A chat that goes on. Keeps everything parsed and counted inside the module, so that the next request costs only what changed.
 * Free it when the chat closes: `using room = new Room(scene)`, or `room.free()`.
 */
export class Room {
  #handle: glue.Handle | undefined;

  /** @param scene What the frontend brings, as an object or as JSON text. */
  constructor(scene: SceneInput | string, options: RoomOptions = {}) {
    const sceneText = text(scene);
    const optionsText = text(filled(options));
    const handle = guarded(() => new glue.Handle(sceneText, optionsText));
    this.#handle = handle;
    left.register(this, handle, this);
  }

  #call<T>(method: string, params: unknown = {}): T {
    const handle = this.#handle;
    if (!handle) throw new PromptsideError("room.closed", "", "the room was freed; build a new one");
    const json = text(params);
    return guarded(() => JSON.parse(handle.call(method, json)) as T);
  }

  /** Who would speak now, and why. Nothing is spent: asking twice gives the same answer. */
  nextSpeakers(options: SpeakerOptions = {}): Plan {
    return this.#call("nextSpeakers", options);
  }

  /** The request that would be sent for a speaker, with its report. Nothing is changed. */
  buildRequest(options: BuildOptions = {}): Built {
    return this.#call("buildRequest", options);
  }

  /** The request of a prompt without the chat, for text completion. No message is stored. */
  buildRaw(options: RawOptions): Built {
    return this.#call("buildRaw", options);
  }

  /** Cleans a whole reply of a speaker. Nothing is stored. */
  cleanReply(options: CleanOptions): Cleaned {
    return this.#call("cleanReply", options);
  }

  /** A text with its macros expanded, and what each of them inserts, which are unknown, what it would write. For editors. */
  inspectText(text: string, options: Omit<InspectOptions, "text"> = {}): InspectedText {
    return this.#call("inspectText", { ...options, text });
  }

  /** A text as the regex scripts leave it, with what each did and which were stopped. Nothing is stored. */
  runScripts(text: string, options: ScriptOptions): Scripted {
    return this.#call("runScripts", { ...options, text });
  }

  /** Which lorebook entries would be active now, where their texts would go, and for every entry why it is active or not. Nothing is stored. */
  inspectLore(options: Omit<LoreOptions, "dry"> = {}): LoreLook {
    return this.#call("inspectLore", options);
  }

  /** Tells the room what happened and gets what to do next. `runRound` does this for you. */
  step(input: Input, now: number = Date.now()): Output[] {
    return this.#call("step", { input, now });
  }

  /** What a start would give, up to its first request, without what a memory would bring. Nothing is changed. */
  previewRound(start: Start = {}): Output[] {
    return this.#call("previewRound", start);
  }

  /** Who waits for a turn in the running round, in order, and why. */
  get queue(): Planned[] {
    return this.#call("queue");
  }

  /** What the last request was made of. */
  inspect(): Inspected {
    return this.#call("inspect");
  }

  /** Changes parts of the scene between rounds: any keys of the scene, replaced whole. */
  update(scene: Partial<SceneInput>): void {
    this.#call("update", scene);
  }

  /** The chat as it stands: `{id, metadata, messages}`. */
  get chat(): { id: string; metadata: Record<string, unknown>; messages: Record<string, unknown>[] } {
    return this.#call("chat");
  }

  /** Everything, as JSON: `new Room(snapshot.scene, snapshot.options)` goes on from there, with the same random numbers to come. */
  snapshot(): { scene: SceneInput; options: RoomOptions } {
    return this.#call("snapshot");
  }

  /** What comes back into the prompt after the history has dropped it. A room has none until it is configured or used. */
  get memory(): RoomMemory {
    const handle = (): glue.Handle => {
      if (!this.#handle) throw new PromptsideError("room.closed", "", "the room was freed; build a new one");
      return this.#handle;
    };
    return new RoomMemory({
      call: (method, params) => this.#call(method, params),
      floats: (method, params, floats) => {
        const own = handle();
        const json = text(params);
        return guarded(() => JSON.parse(own.call_floats(method, json, floats)));
      },
      bytes: () => {
        const own = handle();
        return guarded(() => own.memory_bytes());
      },
      load: (state, bytes) => {
        const own = handle();
        const json = text(state);
        guarded(() => own.load_memory(json, bytes));
      },
    });
  }

  /** The texts whose counts were guessed since the last call. For rooms with the option `tokenizer: "supplied"`. */
  missingCounts(): MissingCount[] {
    return this.#call("missingCounts");
  }

  /** Enters counts that the host made, or that it kept under their keys. For rooms with the option `tokenizer: "supplied"`. */
  supplyCounts(counts: SuppliedCount[]): void {
    this.#call("supplyCounts", { counts });
  }

  /** Other calls by name, for hosts that need them. */
  invoke<T>(method: string, params: unknown = {}): T {
    return this.#call(method, params);
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

/** The options with the platform's entropy, clock and locale where they name none. */
export function filled(options: RoomOptions): RoomOptions {
  const now = options.now ?? Date.now();
  return {
    ...options,
    random: options.random ?? { entropy: guarded(() => glue.entropy()) },
    now,
    offsetMinutes: options.offsetMinutes ?? -new Date(now).getTimezoneOffset(),
    locale: options.locale ?? (typeof navigator === "undefined" ? "en-US" : navigator.language),
  };
}
