// How each family streams a reply, for servers that stand in for it.

const openai = (content) => ({ choices: [{ index: 0, delta: { content } }] });
const events = (list, done = "") => `${list.map((e) => `${e.type ? `event: ${e.type}\n` : ""}data: ${JSON.stringify(e)}\n\n`).join("")}${done}`;

/** Source, path, where the key comes, the pieces of a reply and its end. */
export const families = [
  {
    source: "openai", path: "/v1/chat/completions", header: "authorization", prefix: "Bearer ",
    piece: (text) => events([openai(text)]),
    end: events([{ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }], "data: [DONE]\n\n"),
  },
  {
    source: "claude", path: "/v1/messages", header: "x-api-key", prefix: "",
    piece: (text) => events([{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }]),
    end: events([{ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } }, { type: "message_stop" }]),
  },
  {
    source: "makersuite", path: "/v1beta/models/gemini-2.5-flash:streamGenerateContent?key=KEY&alt=sse", header: undefined, prefix: "",
    piece: (text) => events([{ candidates: [{ content: { role: "model", parts: [{ text }] } }] }]).replaceAll("\n", "\r\n"),
    end: events([{ candidates: [{ content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP" }] }]),
  },
  {
    source: "mistralai", path: "/v1/chat/completions", header: "authorization", prefix: "Bearer ",
    piece: (text) => events([openai([{ type: "text", text }])]),
    end: events([{ choices: [{ index: 0, delta: { content: "" }, finish_reason: "stop" }] }], "data: [DONE]\n\n"),
  },
  {
    source: "cohere", path: "/v2/chat", header: "authorization", prefix: "Bearer ",
    piece: (text) => events([{ type: "content-delta", index: 0, delta: { message: { content: { text } } } }]),
    end: events([{ type: "message-end", delta: { finish_reason: "COMPLETE" } }]),
  },
  {
    source: "deepseek", path: "/beta/chat/completions", header: "authorization", prefix: "Bearer ",
    piece: (text) => `: keep-alive\n\n${events([openai(text)])}`,
    end: "data: [DONE]\n\n",
  },
  {
    source: "openrouter", path: "/api/v1/chat/completions", header: "authorization", prefix: "Bearer ",
    piece: (text) => `: OPENROUTER PROCESSING\n\n${events([openai(text)])}`,
    end: "data: [DONE]\n\n",
  },
];
