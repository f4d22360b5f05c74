// What providers take, how to reach them through a proxy, and what they say when they refuse.
import { call, text } from "./core.js";
import type { OutgoingRequest } from "./round.js";
import type { Capabilities, ProviderError } from "./types.js";

/** What a source takes and whether a page may call it; without a source: all of them. Data: browsers' rows say how well they are known. */
export function capabilities(): Capabilities[];
export function capabilities(source: string): Capabilities;
export function capabilities(source?: string): Capabilities | Capabilities[] {
  return call("provider.capabilities", text(source === undefined ? {} : { source }));
}

/**
 * The same request by way of a proxy; method, headers and body stay. `proxy` is
 * - a base address, which takes the place of the provider's origin: `https://my.example/claude` + `/v1/messages`;
 * - a template with `{url}` (the whole address, encoded), `{host}` or `{path}` (with the query);
 * - a function from the address to another.
 */
export function withProxy(request: OutgoingRequest, proxy: string | ((url: string) => string)): OutgoingRequest {
  if (typeof proxy === "function") return { ...request, url: proxy(request.url) };
  const { host, pathname, search } = new URL(request.url);
  const path = pathname + search;
  if (!/\{(?:url|host|path)\}/.test(proxy)) return { ...request, url: proxy.replace(/\/+$/, "") + path };
  const parts: Record<string, string> = { url: encodeURIComponent(request.url), host, path: path.slice(1) };
  return { ...request, url: proxy.replace(/\{(url|host|path)\}/g, (_, part: string) => parts[part] ?? "") };
}

/** What a failed call says: kind, the provider's words, whether and when to try again. Reads the response's body. */
export async function readError(response: Response): Promise<ProviderError> {
  const said = await response.text().catch(() => "");
  let body: unknown = said.slice(0, 2000);
  try {
    body = JSON.parse(said);
  } catch {
    // Not JSON: a gateway's page or plain words.
  }
  const { status, headers } = response;
  const plain = typeof body === "string" ? body : "";
  const statusText = plain || response.statusText || `HTTP ${status}`;
  return call("provider.read_error", text({ status, statusText, retryAfter: headers.get("retry-after"), body }));
}

/** A text-completion backend that may count tokens itself. */
export interface CountingBackend {
  /** `koboldcpp`, `llamacpp`, `ooba`, `tabby`, `vllm`, `aphrodite`. */
  type: string;
  /** Its address, as in `text.textgen.server`. */
  server: string;
  /** The model, where the backend has several. */
  model?: string;
}

/** The request, to be sent with POST as JSON, that asks a backend for the tokens of a text; undefined for backends that do not count. */
export function tokenCountRequest(backend: CountingBackend, words: string): { url: string; body: string } | undefined {
  const { type, server, model } = backend;
  return call<{ url: string; body: string } | null>("provider.token_count_request", text({ type, server, model, text: words })) ?? undefined;
}

/** The tokens that a backend's answer to `tokenCountRequest` names; undefined when it names none. */
export function readTokenCount(answer: unknown): number | undefined {
  return call<number | null>("provider.read_token_count", text({ answer })) ?? undefined;
}
