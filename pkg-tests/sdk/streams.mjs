// Answers as each family streams them, by its published wire format: text, reasoning, tool calls, why it ended, tokens.
// `framing`: how events are written; every parser must take all of them.

const data = (events, { end = "\n", done = false, comment = false, named = false } = {}) => {
  const lines = [];
  for (const event of events) {
    if (comment) lines.push(`: keep-alive ⏳${end}${end}`);
    if (named) lines.push(`event: ${event.type}${end}`);
    lines.push(`data: ${JSON.stringify(event)}${end}${end}`);
  }
  if (done) lines.push(`data: [DONE]${end}${end}`);
  return Buffer.from(lines.join(""), "utf8");
};

// OpenAI and those that speak like it.
const chunk = (delta, more = {}) => ({
  id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m",
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const usage = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18, completion_tokens_details: { reasoning_tokens: 3 } } };
const openaiText = [chunk({ role: "assistant", content: "" }), ..."她说：«Ночь» 🌙 — 안녕".match(/.{1,3}/gu).map((content) => chunk({ content })), chunk({}, { finish_reason: "stop" }), usage];
const openaiCut = [chunk({ role: "assistant", content: "" }), chunk({ content: "สวัสดี" }), chunk({}, { finish_reason: "length" })];
const openaiTools = [
  chunk({ role: "assistant", content: null, tool_calls: [{ index: 0, id: "call_a", type: "function", function: { name: "weather", arguments: "" } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":"東' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '京"}' } }] }),
  chunk({ tool_calls: [{ index: 1, id: "call_b", type: "function", function: { name: "луна", arguments: "{}" } }] }),
  chunk({}, { finish_reason: "tool_calls" }),
  usage,
];
const openaiThinks = [chunk({ role: "assistant", content: null, reasoning_content: "Думаю… " }), chunk({ content: null, reasoning_content: "夜だ。" }), chunk({ content: "Ночь." }), chunk({}, { finish_reason: "stop" }), usage];

// Anthropic.
const started = { type: "message_start", message: { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 12, cache_read_input_tokens: 4, cache_creation_input_tokens: 0, output_tokens: 1 } } };
const block = (index, content_block, deltas) => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const stopped = (stop_reason, output_tokens) => [{ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } }, { type: "message_stop" }];
const say = (...texts) => texts.map((text) => ({ type: "text_delta", text }));
const claudeText = [started, { type: "ping" }, ...block(0, { type: "text", text: "" }, say("Тихо", "。雪が", " падает ❄️")), ...stopped("end_turn", 9)];
const claudeThinks = [
  started,
  ...block(0, { type: "thinking", thinking: "", signature: "" }, [{ type: "thinking_delta", thinking: "Надо " }, { type: "thinking_delta", thinking: "молчать. 静か" }, { type: "signature_delta", signature: "c2ln" }]),
  ...block(1, { type: "text", text: "" }, say("쉿")),
  ...stopped("max_tokens", 20),
];
const claudeTools = [
  started,
  ...block(0, { type: "text", text: "" }, say("Смотрю погоду.")),
  ...block(1, { type: "tool_use", id: "toolu_1", name: "weather", input: {} }, [{ type: "input_json_delta", partial_json: "" }, { type: "input_json_delta", partial_json: '{"city": "東' }, { type: "input_json_delta", partial_json: '京", "days": 2}' }]),
  ...block(2, { type: "tool_use", id: "toolu_2", name: "moon", input: {} }, []),
  ...stopped("tool_use", 30),
];

// Gemini.
const candidate = (parts, more = {}, usageMetadata) => ({ candidates: [{ content: { role: "model", parts }, index: 0, ...more }], ...(usageMetadata ? { usageMetadata } : {}), modelVersion: "m" });
const counts = { promptTokenCount: 8, candidatesTokenCount: 5, thoughtsTokenCount: 2, totalTokenCount: 15 };
const geminiText = [candidate([{ text: "夜" }, { text: "已深" }]), candidate([{ text: "。 Тихо 🦉" }], { finishReason: "STOP" }, counts)];
const geminiThinks = [candidate([{ text: "Подумаю… ", thought: true }]), candidate([{ text: "ดี", thought: true }]), candidate([{ text: "좋아" }], { finishReason: "MAX_TOKENS" }, counts)];
const geminiTools = [candidate([{ text: "Смотрю. " }]), candidate([{ functionCall: { id: "fc_1", name: "weather", args: { city: "東京" } }, thoughtSignature: "c2ln" }], { finishReason: "STOP" }, counts)];

// Mistral.
const mistralUsage = { prompt_tokens: 6, completion_tokens: 4, total_tokens: 10 };
const mistralText = [chunk({ role: "assistant", content: "" }), chunk({ content: "Лес " }), { ...chunk({ content: "静か。" }, { finish_reason: "stop" }), usage: mistralUsage }];
const mistralThinks = [
  chunk({ role: "assistant", content: [{ type: "thinking", thinking: [{ type: "text", text: "Надо " }] }] }),
  chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "идти" }] }] }),
  chunk({ content: [{ type: "text", text: "走吧" }] }),
  { ...chunk({ content: "！" }, { finish_reason: "length" }), usage: mistralUsage },
];
const mistralTools = [chunk({ role: "assistant", content: "" }), { ...chunk({ content: "", tool_calls: [{ id: "abcdef123", type: "function", function: { name: "weather", arguments: '{"city": "東京"}' }, index: 0 }] }, { finish_reason: "tool_calls" }), usage: mistralUsage }];

// Cohere.
const cohereStart = { type: "message-start", id: "1", delta: { message: { role: "assistant", content: [], tool_plan: "", tool_calls: [], citations: [] } } };
const cohereEnd = (finish_reason) => ({ type: "message-end", delta: { finish_reason, usage: { billed_units: { input_tokens: 3, output_tokens: 4 }, tokens: { input_tokens: 30, output_tokens: 4 } } } });
const cohereBlock = (index, type, texts) => [
  { type: "content-start", index, delta: { message: { content: { type, [type]: "" } } } },
  ...texts.map((text) => ({ type: "content-delta", index, delta: { message: { content: { [type]: text } } } })),
  { type: "content-end", index },
];
const cohereText = [cohereStart, ...cohereBlock(0, "text", ["夜の", "森 — ", "тихо 🌲"]), cohereEnd("COMPLETE")];
const cohereThinks = [cohereStart, ...cohereBlock(0, "thinking", ["Хм… ", "そうだ"]), ...cohereBlock(1, "text", ["ใช่"]), cohereEnd("MAX_TOKENS")];
const cohereTools = [
  cohereStart,
  { type: "tool-call-start", index: 0, delta: { message: { tool_calls: { id: "weather_1", type: "function", function: { name: "weather", arguments: "" } } } } },
  { type: "tool-call-delta", index: 0, delta: { message: { tool_calls: { function: { arguments: '{"city":' } } } } },
  { type: "tool-call-delta", index: 0, delta: { message: { tool_calls: { function: { arguments: '"東京"}' } } } } },
  { type: "tool-call-end", index: 0 },
  cohereEnd("TOOL_CALL"),
];

/** `{name, family, source, bytes}`. */
export const streams = [
  ["openai: text", "openai", "openai", data(openaiText, { done: true })],
  ["openai: text, CRLF and comments", "openai", "openrouter", data(openaiText, { done: true, end: "\r\n", comment: true })],
  ["openai: cut by length", "openai", "groq", data(openaiCut, { done: true })],
  ["openai: tools", "openai", "openai", data(openaiTools, { done: true })],
  ["openai: reasoning", "openai", "deepseek", data(openaiThinks, { done: true })],
  ["openai: reasoning of a custom endpoint", "openai", "custom", data(openaiThinks, { done: true, end: "\r\n" })],
  ["claude: text", "claude", "claude", data(claudeText, { named: true })],
  ["claude: reasoning", "claude", "claude", data(claudeThinks, { named: true, comment: true })],
  ["claude: tools", "claude", "claude", data(claudeTools, { named: true, end: "\r\n" })],
  ["gemini: text", "gemini", "makersuite", data(geminiText, { end: "\r\n" })],
  ["gemini: reasoning", "gemini", "makersuite", data(geminiThinks)],
  ["gemini: tools", "gemini", "vertexai", data(geminiTools, { end: "\r\n" })],
  ["mistral: text", "mistral", "mistralai", data(mistralText, { done: true })],
  ["mistral: reasoning", "mistral", "mistralai", data(mistralThinks, { done: true, end: "\r\n" })],
  ["mistral: tools", "mistral", "mistralai", data(mistralTools, { done: true })],
  ["cohere: text", "cohere", "cohere", data(cohereText, { named: true })],
  ["cohere: reasoning", "cohere", "cohere", data(cohereThinks, { named: true })],
  ["cohere: tools", "cohere", "cohere", data(cohereTools, { named: true })],
].map(([name, family, source, bytes]) => ({ name, family, source, bytes }));
