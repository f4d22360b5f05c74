// A model behind an OpenAI-compatible address. The key stays in memory and is put into the request at the last moment.
import { withKey, type OutgoingRequest } from "promptside";

export interface Endpoint {
  /** Base address such as `http://host/v1`, or the whole `…/chat/completions`. Empty: offline. */
  url: string;
  key: string;
  model: string;
  /** Model that embeds, at the same address; empty: a hash on this page. */
  embedding: string;
}

/** What the scene's preset says about the provider. */
export function providerPreset({ url, model }: Endpoint): Record<string, unknown> {
  const base = url.trim().replace(/\/+$/, "").replace(/\/chat\/completions$/, "");
  if (!base) return { chat_completion_source: "openai", openai_model: model || "understudy", stream_openai: true };
  return { chat_completion_source: "custom", custom_url: base, custom_model: model, stream_openai: true };
}

/** Sends a request as it is; the response's stream is read by the round. */
export function sendTo(request: OutgoingRequest, key: string): Promise<Response> {
  const { url, method, headers, body, signal } = withKey(request, key);
  return fetch(url, { method, headers, body, credentials: "omit", referrerPolicy: "no-referrer", ...(signal ? { signal } : {}) });
}
