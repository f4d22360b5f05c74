// The model: which provider, at which address. The key stays in memory and is put into the request at the last moment.
import { capabilities, withKey, withProxy, type OutgoingRequest } from "promptside";

export interface Endpoint {
  /** The provider: `custom` for any OpenAI-compatible address, or a source of the package. */
  source: string;
  /** Custom: base address such as `http://host/v1`, or the whole `…/chat/completions`. Others: a proxy in front of the provider. */
  url: string;
  key: string;
  model: string;
  /** Model that embeds, at the same custom address; empty: a hash on this page. */
  embedding: string;
}

/** What can be chosen; the model is one to begin with. */
export const SOURCES: readonly { source: string; name: string; model: string }[] = [
  { source: "custom", name: "OpenAI-compatible address", model: "" },
  { source: "openai", name: "OpenAI", model: "gpt-4.1" },
  { source: "claude", name: "Anthropic", model: "claude-sonnet-4-6" },
  { source: "makersuite", name: "Google AI Studio", model: "gemini-2.5-flash" },
  { source: "mistralai", name: "Mistral", model: "mistral-large-latest" },
  { source: "cohere", name: "Cohere", model: "command-a-03-2025" },
  { source: "deepseek", name: "DeepSeek", model: "deepseek-v4-flash" },
  { source: "openrouter", name: "OpenRouter", model: "openrouter/auto" },
  { source: "groq", name: "Groq", model: "llama-3.3-70b-versatile" },
  { source: "xai", name: "xAI", model: "grok-4" },
];

const trimmed = (url: string) => url.trim().replace(/\/+$/, "").replace(/\/chat\/completions$/, "");

/** Whether requests leave the page: there is an address, or a provider and a key for it. */
export function online({ source, url, key }: Endpoint): boolean {
  return url.trim() !== "" || (source !== "custom" && key !== "");
}

/** What the scene's preset says about the provider. */
export function providerPreset({ source, url, model }: Endpoint): Record<string, unknown> {
  if (source === "custom") {
    const base = trimmed(url);
    if (!base) return { chat_completion_source: "openai", openai_model: model || "understudy", stream_openai: true };
    return { chat_completion_source: "custom", custom_url: base, custom_model: model, stream_openai: true };
  }
  const known = SOURCES.find((s) => s.source === source);
  const field = source === "makersuite" ? "google_model" : `${source}_model`;
  return { chat_completion_source: source, [field]: model || known?.model, stream_openai: true, use_sysprompt: true };
}

/** Whether a page may call the provider itself, in words. */
export function directCalls(source: string): string {
  const { direct, verified, remark } = capabilities(source).browser;
  const may = { yes: "may be called from a page", few_headers: "may be called from a page", no: "needs a proxy", server: "its own settings decide", unknown: "try, or use a proxy" };
  return `${may[direct]}${verified || direct === "unknown" ? "" : " (not verified)"}: ${remark}`;
}

/** Sends a request, by way of the proxy if there is one; the response's stream is read by the round. */
export function sendTo(request: OutgoingRequest, endpoint: Endpoint): Promise<Response> {
  const routed = endpoint.source !== "custom" && endpoint.url.trim() ? withProxy(request, endpoint.url.trim()) : request;
  const { url, method, headers, body, signal } = withKey(routed, endpoint.key);
  return fetch(url, { method, headers, body, credentials: "omit", referrerPolicy: "no-referrer", ...(signal ? { signal } : {}) });
}
