// The driver of a round: everything it decides it was told by the room. Anyone can write another over Room.step().
import { isPromptsideError } from "./errors.js";
import { readError } from "./providers.js";
import type { Room } from "./room.js";
import type { Answer, Asking, Input, Output, Start } from "./types.js";

/** The request of one speaker, ready for `fetch(request.url, request)` once the key is in place. */
export interface OutgoingRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
  /** Where the key belongs: `headers[auth.header] = auth.prefix + key`, or a query parameter. Absent when none is needed. */
  auth?: { header?: string; prefix?: string; query?: string };
  signal?: AbortSignal;
}

/** What `send` may give back: a fetch response, the reply's text, its pieces, or an answer that the caller has read itself. */
export type Sent = Response | string | AsyncIterable<string> | Answer;

/** For whom a request is. */
export interface SendContext {
  id: string;
  speaker: string;
  name: string;
  kind: string;
  /** In a configured round: what it is for (`reply`, `director`, `narrate`) and why. */
  turn?: Asking;
}

/** How a round reaches the model. */
export interface RoundOptions {
  /** Sends one request. `context` says for whom. */
  send(request: OutgoingRequest, context: SendContext): Promise<Sent> | Sent;
  /** Ends the round; what was accepted stays. */
  signal?: AbortSignal;
  /** Milliseconds after which a call counts as failed. Default: what the room's configuration says, or none. */
  timeout?: number;
}

/** A round that goes on: what happens, in order, and a way to say something meanwhile. */
export interface RunningRound extends AsyncGenerator<Output, void, void> {
  /**
   * Tells the room something while the round goes on: that the user types or has sent a message, an order about the turns to come.
   * What follows comes out of the round. Throws what the room refuses.
   */
  tell(input: Meanwhile): void;
}

/** What can be told to a running round. */
export type Meanwhile = Extract<Input, { type: "typing" | "user_message" | "command" | "present" | "trigger" }> | ({ type: "start" } & Start);

/** Fills in the key where the request says it belongs. */
export function withKey(request: OutgoingRequest, key: string): OutgoingRequest {
  const { auth } = request;
  if (!auth || !key) return request;
  if (auth.query) {
    const [path = "", query] = request.url.split("?", 2);
    const first = `${auth.query}=${encodeURIComponent(key)}`;
    return { ...request, url: `${path}?${first}${query ? `&${query}` : ""}` };
  }
  return { ...request, headers: { ...request.headers, [auth.header ?? "Authorization"]: `${auth.prefix ?? ""}${key}` } };
}

/**
 * Runs one round: yields what happens, in order, and sends each request through `send`.
 * Ends when the round ends; leaving the loop early aborts it.
 */
export function runRound(room: Room, start: Start, options: RoundOptions): RunningRound {
  const meanwhile = new Told();
  const round = run(room, start, options, meanwhile);
  const tell = (input: Meanwhile) => {
    const outputs = room.step(input);
    if (input.type === "command" && input.order === "pause") meanwhile.paused = true;
    if (input.type === "command" && input.order === "resume") meanwhile.paused = false;
    meanwhile.add(outputs);
  };
  return Object.assign(round, { tell });
}

/** What the room answered to inputs from outside the loop, and who waits for it. */
class Told {
  readonly outputs: Output[] = [];
  /** Called when something came. */
  wake: (() => void) | undefined;
  /** No turn begins until the host says so. */
  paused = false;

  add(outputs: Output[]): void {
    if (outputs.length === 0) return;
    this.outputs.push(...outputs);
    this.wake?.();
  }
}

async function* run(room: Room, start: Start, options: RoundOptions, told: Told): AsyncGenerator<Output, void, void> {
  const queue: Output[] = room.step({ type: "start", ...start });
  let running = true;
  const next = (): Output | undefined => {
    queue.push(...told.outputs.splice(0));
    const output = queue.shift();
    if (output && ENDS.has(output.type)) running = false;
    if (output?.type === "round_started" || output?.type === "request" || output?.type === "wait") running = true;
    return output;
  };
  try {
    for (;;) {
      const output = next();
      if (!output) {
        if (!running || !told.paused) return;
        if ((await sleep(undefined, told, options.signal)) === "aborted") queue.push(...room.step({ type: "abort", keep: true }));
        continue;
      }
      yield output;
      if (output.type === "wait") {
        const { id, ms } = output;
        const ended = await sleep(ms, told, options.signal);
        if (ended === "aborted") queue.push(...room.step({ type: "abort", keep: true }));
        else if (ended === "elapsed") queue.push(...room.step({ type: "elapsed", wait: id }));
        else if (!told.outputs.some((o) => MOVES.has(o.type))) queue.unshift(output);
      } else if (output.type === "request") {
        for await (const outputs of answers(room, output, options, told)) {
          queue.push(...outputs);
          // What needs no answer goes out at once, while the reply still comes in.
          while (queue[0] && queue[0].type !== "request" && queue[0].type !== "wait") {
            const now = next();
            if (now) yield now;
          }
        }
      }
    }
  } finally {
    if (running) room.step({ type: "abort", keep: true });
  }
}

/** After these nothing is under way. */
const ENDS = new Set<Output["type"]>(["room_finished", "refused", "queued", "auto_ended"]);
/** After these a wait is over. */
const MOVES = new Set<Output["type"]>(["request", "wait", "room_finished", "auto_ended", "round_started"]);

type RequestOutput = Extract<Output, { type: "request" }>;

/** Sends one request and tells the room what comes back. */
async function* answers(room: Room, output: RequestOutput, options: RoundOptions, told: Told): AsyncGenerator<Output[], void, void> {
  const { id, speaker, name, kind, turn } = output;
  const controller = new AbortController();
  const stop = (reason: unknown) => controller.abort(reason);
  const onAbort = () => stop("abort");
  options.signal?.addEventListener("abort", onAbort, { once: true });
  const timeout = options.timeout ?? turn?.timeoutMs;
  const timer = timeout ? setTimeout(() => stop("timeout"), timeout) : undefined;
  let left = true;
  const tell = (input: Input): Output[] => {
    const outputs = room.step(input);
    if (outputs.some((o) => o.type === "stop")) stop("cut");
    return outputs;
  };
  // An order of the host can put an end to the running request.
  told.wake = () => {
    if (told.outputs.some((o) => o.type === "draft_reset" || o.type === "room_finished")) stop("over");
  };
  try {
    if (options.signal?.aborted) {
      stop("abort");
      throw controller.signal.reason;
    }
    const request = { ...output.request, signal: controller.signal };
    const context: SendContext = { id, speaker, name, kind, ...(turn ? { turn } : {}) };
    const sent = await race(Promise.resolve(options.send(request, context)), controller.signal);
    if (typeof sent === "string") {
      yield tell({ type: "reply", request: id, text: sent });
    } else if (isResponse(sent)) {
      if (!sent.ok) {
        const { message, hint } = await race(readError(sent), controller.signal);
        yield tell({ type: "fail", request: id, code: `http_${sent.status}`, message: hint ? `${message} (${hint})` : message });
        left = false;
        return;
      }
      for await (const piece of pieces(sent, controller.signal)) yield tell({ type: "wire", request: id, text: piece });
      yield tell({ type: "wire", request: id, text: "", end: true });
    } else if (typeof sent === "object" && sent !== null && Symbol.asyncIterator in sent) {
      for await (const piece of until(sent, controller.signal)) yield tell({ type: "chunk", request: id, text: piece });
      yield tell({ type: "reply", request: id });
    } else if (typeof sent === "object" && sent !== null) {
      yield tell({ type: "reply", request: id, ...sent });
    } else {
      const message = `send gave ${String(sent)}; give a Response, a text, its pieces, or {text}`;
      yield tell({ type: "fail", request: id, code: "send", message });
    }
    left = false;
  } catch (error) {
    if (isPromptsideError(error)) throw error;
    left = false;
    const reason: unknown = controller.signal.aborted ? controller.signal.reason : undefined;
    if (reason === "over") return;
    if (reason === "cut") yield tell({ type: "reply", request: id });
    else if (reason === "timeout") yield tell({ type: "timeout", request: id });
    else if (reason === "abort") yield tell({ type: "abort", keep: true });
    else yield tell({ type: "fail", request: id, code: "network", message: String(error) });
  } finally {
    told.wake = undefined;
    if (left) stop("left"); // the consumer went away: so does the call
    options.signal?.removeEventListener("abort", onAbort);
    clearTimeout(timer);
  }
}

/** The body of a response as text, piece by piece; multi-byte characters are never split. */
async function* pieces(response: Response, signal: AbortSignal): AsyncGenerator<string, void, void> {
  const reader = response.body?.getReader();
  if (!reader) {
    yield await response.text();
    return;
  }
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await race(reader.read(), signal);
      const text = decoder.decode(value, { stream: !done });
      if (text) yield text;
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Pieces until the signal aborts, which is thrown even while the next piece is awaited. */
async function* until(source: AsyncIterable<string>, signal: AbortSignal): AsyncGenerator<string, void, void> {
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await race(iterator.next(), signal);
      if (done) return;
      yield value;
    }
  } finally {
    // Not awaited: a source that hangs would never answer.
    Promise.resolve(iterator.return?.()).catch(() => {});
  }
}

/** The promise, or the abort of the signal, whichever comes first. */
function race<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort(); // the promise is still heard below, so that its failure is not left unhandled
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function isResponse(value: unknown): value is Response {
  return typeof Response !== "undefined" && value instanceof Response;
}

/** Waits until the time is over, the signal aborts, or something else was told to the room. */
function sleep(ms: number | undefined, told: Told, signal?: AbortSignal): Promise<"elapsed" | "aborted" | "told"> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve("aborted");
    if (told.outputs.length > 0) return resolve("told");
    const done = (how: "elapsed" | "aborted" | "told") => {
      clearTimeout(timer);
      told.wake = undefined;
      signal?.removeEventListener("abort", onAbort);
      resolve(how);
    };
    const onAbort = () => done("aborted");
    const timer = ms === undefined ? undefined : setTimeout(() => done("elapsed"), ms);
    told.wake = () => done("told");
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
