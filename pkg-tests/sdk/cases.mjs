// Requests for the judges: what a room would send, over the things that providers write differently.
import { invoke } from "../../pkg/index.js";

const PICTURE = "data:image/png;base64,iVBORw0KGgo=";
const text = [
  { role: "system", content: "你是守林人。\nBe brief — «коротко»." },
  { role: "user", content: "Привет, кто там? 🐺" },
  { role: "assistant", content: "มีใครอยู่ไหม" },
  { role: "system", content: "[夜。雨が降る。]" },
  { role: "user", content: "안녕, 𠮷野さん" },
];
const picture = [
  { role: "system", content: "Describe." },
  { role: "user", content: [{ type: "text", text: "这是什么？" }, { type: "image_url", image_url: { url: PICTURE, detail: "auto" } }] },
];
const sound = [{ role: "user", content: [{ type: "text", text: "слушай" }, { type: "audio_url", audio_url: { url: "data:audio/wav;base64,UklGRg==" } }] }];
const called = [
  { role: "user", content: "Погода в 東京?" },
  { role: "assistant", content: "Смотрю.", tool_calls: [{ id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"東京"}' } }] },
  { role: "tool", tool_call_id: "call_1", content: "[No content]" },
  { role: "assistant", content: "Ничего не видно." },
  { role: "user", content: "ลองอีกครั้ง" },
];
const begun = [...text, { role: "assistant", content: "*She turns.* \"Кто" }];
const parameters = { type: "object", properties: { city: { type: "string", description: "город" }, days: { type: "integer" } }, required: ["city"] };
const tools = [{ type: "function", function: { name: "weather", description: "天気", parameters } }];
const schema = { name: "answer", description: "An answer", strict: true, value: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"], additionalProperties: false } };

/** name, source, model, messages and what else differs. */
const table = [
  ["text", "openai", "gpt-4.1", text, { settings: { stream_openai: true, seed: 7, n: 2 }, env: { stop_strings: ["\nRin:", "里恩："], logit_bias: { 42: -5 }, request_logprobs: true } }],
  ["names", "openai", "gpt-4.1", [{ role: "system", name: "example_user", content: "你好" }, { role: "user", name: "Rin", content: "hi" }]],
  ["picture", "openai", "gpt-4.1", picture],
  ["sound", "openai", "gpt-4o-audio-preview", sound],
  ["tools", "openai", "gpt-4.1", called, { tools }],
  ["schema", "openai", "gpt-4.1", text, { schema }],
  ["reasoning", "openai", "gpt-5.1", text, { settings: { reasoning_effort: "high", verbosity: "low" } }],
  ["reasoning o", "openai", "o3", text, { settings: { reasoning_effort: "low" } }],
  ["reasoning, developer", "openai", "o3", text, { config: { "openai.developerRole": true } }],
  ["reasoning o1", "openai", "o1", text],
  ["text", "custom", "some-model", text, { settings: { custom_url: "http://localhost:1234/v1" } }],
  ["text", "groq", "llama-3.3-70b-versatile", text, { settings: { seed: 3 }, tools }],
  ["text", "azure_openai", "gpt-4.1", text, { settings: { azure_base_url: "https://x.example", azure_deployment_name: "chat" } }],
  ["text", "claude", "claude-sonnet-4-5", text, { settings: { use_sysprompt: true, top_k_openai: 20 }, env: { stop_strings: ["\nRin:"] } }],
  ["text without a system field", "claude", "claude-3-5-haiku-20241022", text],
  ["picture", "claude", "claude-sonnet-4-5", picture, { settings: { use_sysprompt: true } }],
  ["remote picture", "claude", "claude-sonnet-4-5", [{ role: "user", content: [{ type: "text", text: "看" }, { type: "image_url", image_url: { url: "https://pictures.example/夜.png" } }] }]],
  ["tools", "claude", "claude-sonnet-4-5", called, { tools, settings: { use_sysprompt: true } }],
  ["begun", "claude", "claude-sonnet-4-5", text, { settings: { assistant_prefill: "*She turns.* \"Кто  " } }],
  ["begun, refused", "claude", "claude-opus-4-8", begun, { settings: { use_sysprompt: true } }],
  ["reasoning", "claude", "claude-sonnet-4-5", text, { settings: { reasoning_effort: "high", openai_max_tokens: 4000, stream_openai: true } }],
  ["reasoning, adaptive", "claude", "claude-opus-4-8", text, { settings: { reasoning_effort: "medium", verbosity: "low" } }],
  ["schema", "claude", "claude-sonnet-4-5", text, { schema }],
  ["schema by a tool", "claude", "claude-3-7-sonnet-latest", text, { schema }],
  ["web search", "claude", "claude-sonnet-4-5", text, { settings: { enable_web_search: true } }],
  ["cache", "claude", "claude-sonnet-4-5", text, { tools, settings: { use_sysprompt: true }, config: { "claude.enableSystemPromptCache": true, "claude.cachingAtDepth": 0, "claude.extendedTTL": true } }],
  ["text", "makersuite", "gemini-2.5-flash", text, { settings: { use_sysprompt: true, top_k_openai: 40, seed: 1 }, env: { stop_strings: ["\nRin:"] } }],
  ["text, streamed", "makersuite", "gemini-2.0-flash", text, { settings: { stream_openai: true } }],
  ["picture", "makersuite", "gemini-3-pro-preview", [{ role: "user", content: [{ type: "text", text: "これは？" }, { type: "image_url", image_url: { url: PICTURE, detail: "high" } }] }]],
  ["tools", "makersuite", "gemini-2.5-pro", called, { tools, settings: { use_sysprompt: true } }],
  ["reasoning", "makersuite", "gemini-2.5-pro", text, { settings: { reasoning_effort: "medium", openai_max_tokens: 8000 } }],
  ["reasoning, level", "makersuite", "gemini-3-pro-preview", text, { settings: { reasoning_effort: "low" } }],
  ["schema", "makersuite", "gemini-2.5-flash", text, { schema }],
  ["web search", "makersuite", "gemini-2.5-flash", text, { settings: { enable_web_search: true } }],
  ["begun", "makersuite", "gemini-2.5-flash", begun],
  ["text", "mistralai", "mistral-large-latest", text, { settings: { seed: 9 }, env: { stop_strings: ["\nRin:"] } }],
  ["picture", "mistralai", "mistral-large-latest", picture, { settings: { stream_openai: true } }],
  ["tools", "mistralai", "mistral-large-latest", called, { tools }],
  ["begun", "mistralai", "mistral-large-latest", begun],
  ["sound", "mistralai", "voxtral-small-latest", sound],
  ["schema", "mistralai", "mistral-large-latest", text, { schema }],
  ["text", "cohere", "command-a-03-2025", text, { settings: { top_k_openai: 5, seed: 4, stream_openai: true }, env: { stop_strings: ["\nRin:"] } }],
  ["old model", "cohere", "command-r-08-2024", text],
  ["picture", "cohere", "command-a-vision-07-2025", picture],
  ["tools", "cohere", "command-a-03-2025", called, { tools }],
  ["schema", "cohere", "command-a-03-2025", text, { schema }],
  ["sound is left out", "cohere", "command-a-03-2025", sound],
];

/** The requests, built by the package. */
export function requests() {
  return table.map(([name, source, model, messages, more = {}]) => {
    const settings = { chat_completion_source: source, function_calling: Boolean(more.tools), openai_max_tokens: 500, ...more.settings };
    const request = invoke("provider.build_request", {
      profile: "promptside",
      settings,
      model,
      type: "normal",
      messages,
      env: { char_name: "洛恩", user_name: "Rin", group_names: ["洛恩", "Mira"], tools: more.tools ?? [], ...more.env },
      config: { "gemini.keyInHeader": true, ...more.config },
      ...(more.schema ? { json_schema: more.schema } : {}),
    });
    return { name: `${source}: ${name}`, source, model, request };
  });
}
