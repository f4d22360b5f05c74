// Loading the module, and the calls into it: JSON text in, JSON text out, one kind of error.
import init, * as glue from "./glue.js";
import { source as ownSource } from "./source.js";
import { PromptsideError } from "./errors.js";

/** Where the wasm comes from: a URL, a fetch response, bytes, or a compiled module. */
export type WasmSource = string | URL | Request | Response | BufferSource | WebAssembly.Module | Promise<Response>;

let loading: Promise<void> | undefined;
let ready = false;
let dead: string | undefined;

/**
 * Loads the wasm core. Call it once before anything else; further calls wait for the same promise.
 * @param source Default: `promptside.wasm` beside this package's code.
 */
export function load(source?: WasmSource): Promise<void> {
  loading ??= start(source).catch((error: unknown) => {
    loading = undefined; // so that a second attempt with a better source is possible
    throw error;
  });
  return loading;
}

async function start(source: WasmSource | undefined): Promise<void> {
  let input: unknown = await (source ?? ownSource());
  if (typeof input === "string" || input instanceof URL || (typeof Request !== "undefined" && input instanceof Request)) {
    input = await fetch(input as string | URL | Request);
  }
  if (typeof Response !== "undefined" && input instanceof Response) {
    if (!input.ok) throw new PromptsideError("load.failed", "", `the wasm file was not found: ${input.status} ${input.url}`);
    const type = input.headers.get("content-type") ?? "";
    if (type.includes("html")) throw notWasm(input.url);
    if (!type.includes("application/wasm")) input = new Uint8Array(await input.arrayBuffer());
  }
  if (input instanceof Uint8Array && input[0] === 0x3c) throw notWasm("the bytes");
  try {
    await init({ module_or_path: input });
  } catch (cause) {
    throw new PromptsideError("load.failed", "", `the wasm file cannot be compiled: ${String(cause)}`, { cause });
  }
  ready = true;
}

function notWasm(where: string): PromptsideError {
  return new PromptsideError(
    "load.not_wasm",
    "",
    `${where} is a web page, not wasm: with Vite, use import url from "promptside/promptside.wasm?url"; await load(url), ` +
      `or add "promptside" to optimizeDeps.exclude`,
  );
}

/** Runs a call into the module and turns what it throws into PromptsideError. */
export function guarded<T>(action: () => T): T {
  if (!ready) throw new PromptsideError("not_loaded", "", "call `await load()` from promptside first");
  if (dead !== undefined) throw new PromptsideError("internal.dead", "", dead);
  try {
    return action();
  } catch (thrown) {
    if (typeof thrown === "string" && thrown.startsWith("{")) {
      const { code, path, message } = JSON.parse(thrown) as { code: string; path: string; message: string };
      throw new PromptsideError(code, path, message);
    }
    dead = `the module stopped at a fault of its own (${String(thrown)}); load the page again and rebuild rooms from their snapshots`;
    throw new PromptsideError("internal.panic", "", dead, { cause: thrown });
  }
}

/** A free function of the module. */
export function call<T>(method: string, params: unknown): T {
  const json = text(params);
  return guarded(() => JSON.parse(glue.call(method, json)) as T);
}

/** A free function that takes a file. */
export function callBytes<T>(method: string, bytes: Uint8Array, params: unknown): T {
  const json = text(params);
  return guarded(() => JSON.parse(glue.call_bytes(method, bytes, json)) as T);
}

/** A free function that takes a file and gives one, if there is one to give. */
export function writeBytes(method: string, bytes: Uint8Array, params: unknown): Uint8Array | undefined {
  const json = text(params);
  return guarded(() => glue.write_bytes(method, bytes, json));
}

/** JSON text of a value; a string is taken to be JSON text already. Made outside `guarded`: what fails here is the caller's. */
export function text(value: unknown): string {
  if (typeof value === "string") return value;
  let json: string | undefined;
  try {
    json = JSON.stringify(value ?? {});
  } catch (cause) {
    throw new PromptsideError("input.not_json", "", `the input cannot be written as JSON: ${String(cause)}`, { cause });
  }
  if (json === undefined) throw new PromptsideError("input.not_json", "", `a ${typeof value} is no input; give an object or JSON text`);
  return json;
}

export { glue };
