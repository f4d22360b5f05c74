// What the clients are asked to do: send a request, read a stream into one form.

/** Keys in a client's own spelling; what is the user's (arguments, schemas) stays. */
export function camel(value, key = "") {
  const own = ["arguments", "parameters", "schema", "schemaDefinition", "json_schema_value", "metadata"];
  if (own.includes(key)) return value;
  if (Array.isArray(value)) return value.map((v) => camel(v));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k.replace(/_([a-z])/g, (_, c) => c.toUpperCase()), camel(v, k)]));
}

const FAMILIES = { claude: "claude", makersuite: "gemini", vertexai: "gemini", mistralai: "mistral", cohere: "cohere" };
/** The family of a source. */
export const familyOf = (source) => FAMILIES[source] ?? "openai";

/** The clients, talking to a server. */
export async function clients(base) {
  const [{ default: OpenAI, AzureOpenAI }, { default: Anthropic }, { GoogleGenAI }, { Mistral }, { CohereClientV2 }] = await Promise.all([
    import("openai"), import("@anthropic-ai/sdk"), import("@google/genai"), import("@mistralai/mistralai"), import("cohere-ai"),
  ]);
  const key = "KEY";
  const openai = (path = "/v1") => new OpenAI({ apiKey: key, baseURL: base + path, maxRetries: 0 });
  // The 0.x client: 1.x speaks a newer version of the API.
  const anthropic = new Anthropic({ apiKey: key, baseURL: base, maxRetries: 0 });
  const google = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: base, apiVersion: "v1beta" } });
  const mistral = new Mistral({ apiKey: key, serverURL: base, retryConfig: { strategy: "none" } });
  const cohere = new CohereClientV2({ token: key, environment: base, maxRetries: 0 });

  const geminiConfig = (body) => {
    const { contents, generationConfig, tools, ...rest } = body;
    return { contents, config: { ...generationConfig, ...camel({ tools, ...rest }) } };
  };
  /** Mistral's client calls the schema of an answer `schemaDefinition`. */
  const mistralBody = (body) => {
    const out = camel(body);
    const format = out.responseFormat?.jsonSchema;
    if (format) {
      const { schema, ...rest } = format;
      out.responseFormat.jsonSchema = { ...rest, schemaDefinition: schema };
    }
    return out;
  };

  return {
    mistralBody,
    /** Sends a body by the source's own client. */
    async send(source, model, body, path) {
      switch (familyOf(source)) {
        case "claude": return anthropic.messages.create({ ...body, stream: false });
        case "gemini": return google.models.generateContent({ model, ...geminiConfig(body) });
        case "mistral": return mistral.chat.complete(mistralBody(body));
        case "cohere": {
          const { stream: _, ...rest } = camel(body);
          return cohere.chat(rest);
        }
        default: {
          if (source === "azure_openai") {
            const azure = new AzureOpenAI({ apiKey: key, endpoint: base, deployment: "chat", apiVersion: "2024-02-15-preview", maxRetries: 0 });
            return azure.chat.completions.create({ ...body, stream: false });
          }
          return openai(path.replace(/\/chat\/completions$/, "")).chat.completions.create({ ...body, stream: false });
        }
      }
    },
    /** Reads a stream: `{text, reasoning, calls, finish, input, output}`. */
    async read(family) {
      const out = { text: "", reasoning: "", calls: [], finish: undefined, input: undefined, output: undefined };
      const messages = [{ role: "user", content: "x" }];
      const parsed = (text) => (text ? JSON.parse(text) : {});
      if (family === "openai") {
        const stream = openai().chat.completions.stream({ model: "m", messages });
        stream.on("chunk", (chunk) => { out.reasoning += chunk.choices[0]?.delta?.reasoning_content ?? ""; });
        const { choices: [choice], usage } = await stream.finalChatCompletion().catch((error) => {
          // Its helper refuses an answer that the limit cut.
          if (error.constructor.name !== "LengthFinishReasonError") throw error;
          return stream.currentChatCompletionSnapshot;
        });
        out.text = choice.message.content ?? "";
        out.calls = (choice.message.tool_calls ?? []).map((c) => ({ id: c.id, name: c.function.name, arguments: parsed(c.function.arguments) }));
        Object.assign(out, { finish: choice.finish_reason, input: usage?.prompt_tokens, output: usage?.completion_tokens });
      } else if (family === "claude") {
        const message = await anthropic.messages.stream({ model: "m", max_tokens: 9, messages }).finalMessage();
        for (const block of message.content) {
          if (block.type === "text") out.text += block.text;
          if (block.type === "thinking") out.reasoning += block.thinking;
          if (block.type === "tool_use") out.calls.push({ id: block.id, name: block.name, arguments: block.input });
        }
        Object.assign(out, { finish: message.stop_reason, input: message.usage.input_tokens, output: message.usage.output_tokens });
      } else if (family === "gemini") {
        for await (const event of await google.models.generateContentStream({ model: "m", contents: "x" })) {
          const candidate = event.candidates?.[0];
          for (const part of candidate?.content?.parts ?? []) {
            if (part.functionCall) out.calls.push({ id: part.functionCall.id, name: part.functionCall.name, arguments: part.functionCall.args });
            else if (part.thought) out.reasoning += part.text;
            else out.text += part.text ?? "";
          }
          out.finish = candidate?.finishReason ?? out.finish;
          out.input = event.usageMetadata?.promptTokenCount ?? out.input;
          out.output = event.usageMetadata?.candidatesTokenCount ?? out.output;
        }
      } else if (family === "mistral") {
        for await (const { data } of await mistral.chat.stream({ model: "m", messages })) {
          const [choice] = data.choices;
          const { content, toolCalls } = choice?.delta ?? {};
          for (const part of typeof content === "string" ? [{ type: "text", text: content }] : content ?? []) {
            if (part.type === "text") out.text += part.text;
            if (part.type === "thinking") out.reasoning += part.thinking.map((t) => t.text).join("");
          }
          out.calls.push(...(toolCalls ?? []).map((c) => ({ id: c.id, name: c.function.name, arguments: parsed(c.function.arguments) })));
          out.finish = choice?.finishReason ?? out.finish;
          if (data.usage) Object.assign(out, { input: data.usage.promptTokens, output: data.usage.completionTokens });
        }
      } else {
        for await (const event of await cohere.chatStream({ model: "m", messages })) {
          const message = event.delta?.message;
          if (event.type === "content-delta") {
            out.text += message.content.text ?? "";
            out.reasoning += message.content.thinking ?? "";
          }
          if (event.type === "tool-call-start") out.calls.push({ id: message.toolCalls.id, name: message.toolCalls.function.name, arguments: message.toolCalls.function.arguments });
          if (event.type === "tool-call-delta") out.calls.at(-1).arguments += message.toolCalls.function.arguments;
          if (event.type === "message-end") Object.assign(out, { finish: event.delta.finishReason, input: event.delta.usage.tokens.inputTokens, output: event.delta.usage.tokens.outputTokens });
        }
        for (const call of out.calls) call.arguments = parsed(call.arguments);
      }
      return out;
    },
  };
}
