// The driver of a round: everything it decides it was told by the room. Anyone can write another over Room.step().
import { isPromptsideError } from "./errors.js";
import type { Room } from "./room.js";
import type { Answer, Input, Output, Start } from "./types.js";

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

/** How a round reaches the model. */
export interface RoundOptions {
  /** Sends one request. `context` says for whom. */
  send(request: OutgoingRequest, context: { id: string; speaker: string; name: string; kind: string }): Promise<Sent> | Sent;
  /** Ends the round; what was accepted stays. */
  signal?: AbortSignal;
  /** Milliseconds after which a call counts as failed. Default: none. */
  timeout?: number;
}

/** Fills in the key where the request says it belongs. */
export function withKey(request: OutgoingRequest, key: string): OutgoingRequest {
  const { auth } = request;
  if (!auth || !key) return request;
  if (auth.query) {
    const url = new URL(request.url);
    url.searchParams.set(auth.query, key);
    return { ...request, url: url.href };
  }
  return { ...request, headers: { ...request.headers, [auth.header ?? "Authorization"]: `${auth.prefix ?? ""}${key}` } };
}

/**
 * Runs one round: yields what happens, in order, and sends each request through `send`.
 * Ends when the round ends; leaving the loop early aborts it.
 */
export async function* runRound(room: Room, start: Start, options: RoundOptions): AsyncGenerator<Output, void, void> {
  const queue: Output[] = room.step({ type: "start", ...start });
  let finished = false;
  try {
    for (;;) {
      const output = queue.shift();
      if (!output) return;
      if (output.type === "room_finished" || output.type === "refused") finished = true;
      yield output;
      if (output.type === "wait") {
        const aborted = await sleep(output.ms, options.signal);
        queue.push(...room.step(aborted ? { type: "abort", keep: true } : { type: "elapsed", wait: output.id }));
      } else if (output.type === "request") {
        for await (const outputs of answers(room, output, options)) {
          queue.push(...outputs);
          // What needs no answer goes out at once, while the reply still comes in.
          while (queue[0] && queue[0].type !== "request" && queue[0].type !== "wait") {
            const now = queue.shift() as Output;
            if (now.type === "room_finished") finished = true;
            yield now;
          }
        }
      }
    }
  } finally {
    if (!finished) room.step({ type: "abort", keep: true });
  }
}

type RequestOutput = Extract<Output, { type: "request" }>;

/** Sends one request and tells the room what comes back. */
async function* answers(room: Room, output: RequestOutput, options: RoundOptions): AsyncGenerator<Output[], void, void> {
  const { id, speaker, name, kind } = output;
  const controller = new AbortController();
  const stop = (reason: unknown) => controller.abort(reason);
  const onAbort = () => stop("abort");
  options.signal?.addEventListener("abort", onAbort, { once: true });
  const timer = options.timeout ? setTimeout(() => stop("timeout"), options.timeout) : undefined;
  let left = true;
  const tell = (input: Input): Output[] => {
    const outputs = room.step(input);
    if (outputs.some((o) => o.type === "stop")) stop("cut");
    return outputs;
  };
  try {
    if (options.signal?.aborted) {
      stop("abort");
      throw controller.signal.reason;
    }
    const request = { ...output.request, signal: controller.signal };
    const sent = await race(Promise.resolve(options.send(request, { id, speaker, name, kind })), controller.signal);
    if (typeof sent === "string") {
      yield tell({ type: "reply", request: id, text: sent });
    } else if (isResponse(sent)) {
      if (!sent.ok) {
        const text = await sent.text().catch(() => "");
        yield tell({ type: "fail", request: id, code: `http_${sent.status}`, message: text.slice(0, 2000) });
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
    if (reason === "cut") yield tell({ type: "reply", request: id });
    else if (reason === "timeout") yield tell({ type: "timeout", request: id });
    else if (reason === "abort") yield tell({ type: "abort", keep: true });
    else yield tell({ type: "fail", request: id, code: "network", message: String(error) });
  } finally {
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

/** Waits; true when the signal ended the wait. */
function sleep(ms: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(true);
    const done = (aborted: boolean) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      resolve(aborted);
    };
    const onAbort = () => done(true);
    const timer = setTimeout(() => done(false), ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
