// The providers' own clients judge: our bodies are of their request types, their clients send the same, and their stream
// parsers read what we read.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { invoke, load } from "../pkg/index.js";
import { install } from "./peer.mjs";
import { requests } from "./sdk/cases.mjs";
import { camel, clients, familyOf } from "./sdk/clients.mjs";
import { cut, recorder } from "./sdk/server.mjs";
import { streams } from "./sdk/streams.mjs";

const here = dirname(fileURLToPath(import.meta.url));
await load();
const skip = install("sdk") ?? false;
const built = requests();
let server;
let judges;
before(async () => {
  if (skip) return;
  server = await recorder();
  judges = await clients(server.base);
});
after(() => server?.close());

test("bodies are of the clients' request types", { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), "promptside-sdk-"));
  try {
    symlinkSync(join(here, "sdk", "node_modules"), join(folder, "node_modules"), "dir");
    const lines = [
      'import type OpenAI from "openai";',
      'import type Anthropic from "@anthropic-ai/sdk";',
      'import type * as G from "@google/genai";',
      'import type { ChatCompletionRequest } from "@mistralai/mistralai/models/components";',
      'import type { V2ChatRequest } from "./node_modules/cohere-ai/serialization/resources/v2/client/requests/V2ChatRequest.js";',
      // A word of an enum is as good as its member: JSON has only words.
      "type Words<T> = T extends string ? `${T}` : T extends (infer U)[] ? Words<U>[] : T extends object ? { [K in keyof T]: Words<T[K]> } : T;",
      "type OpenAi = OpenAI.ChatCompletionCreateParams;",
      'type Azure = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, "model">;',
      "type Gemini = Words<{ contents: G.Content[]; safetySettings: G.SafetySetting[]; generationConfig: G.GenerationConfig; systemInstruction?: G.Content; tools?: G.Tool[]; toolConfig?: G.ToolConfig }>;",
      "type Cohere = V2ChatRequest.Raw & { stream: boolean };",
    ];
    const types = { claude: "Anthropic.MessageCreateParams", gemini: "Gemini", mistral: "ChatCompletionRequest", cohere: "Cohere", openai: "OpenAi" };
    built.forEach(({ name, source, request }, i) => {
      const family = familyOf(source);
      const type = source === "azure_openai" ? "Azure" : types[family];
      const form = { gemini: geminiForm, mistral: judges.mistralBody }[family] ?? ((body) => body);
      lines.push(`// ${name}`, `export const c${i}: ${type} = ${JSON.stringify(form(JSON.parse(JSON.stringify(request.body))))};`);
    });
    writeFileSync(join(folder, "bodies.ts"), lines.join("\n"));
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    const compilerOptions = { module: "esnext", moduleResolution: "bundler", target: "es2022", lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"], types: [], strict: true, skipLibCheck: true, noEmit: true };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["bodies.ts"] }));
    const tsc = join(dirname(here), "node_modules", "typescript", "bin", "tsc");
    const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
    const at = (text) => text.replace(/bodies\.ts\((\d+)/g, (all, line) => `${lines[Number(line) - 2]} ${all}`);
    assert.equal(status, 0, at(stdout) + stderr);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** The API takes a key in either spelling and an enum's word in either case; the client's types know one of each. */
function geminiForm(body) {
  const out = camel(body);
  const thinking = out.generationConfig.thinkingConfig;
  if (thinking?.thinkingLevel) thinking.thinkingLevel = thinking.thinkingLevel.toUpperCase();
  for (const part of out.contents.flatMap((c) => c.parts)) {
    if (part.mediaResolution) part.mediaResolution.level = part.mediaResolution.level.toUpperCase();
  }
  for (const tool of out.tools ?? []) tool.functionDeclarations?.forEach((f) => shout(f.parameters));
  shout(out.generationConfig.responseSchema);
  return out;
}

/** The types of a schema in capitals. */
function shout(schema) {
  if (typeof schema !== "object" || schema === null) return;
  if (typeof schema.type === "string") schema.type = schema.type.toUpperCase();
  Object.values(schema).forEach(shout);
}

/** What a client writes although nobody said it. */
const without = (body, keys) => Object.fromEntries(Object.entries(body).filter(([k]) => !keys.includes(k)));

test("the clients send the same", { skip }, async (t) => {
  for (const { name, source, model, request } of built) {
    await t.test(name, async () => {
      const family = familyOf(source);
      server.answer("application/json", Buffer.from(JSON.stringify(whole[family])));
      const url = new URL(request.url);
      await judges.send(source, model, structuredClone(request.body), url.pathname);
      const sent = server.requests.at(-1);
      assert.equal(sent.method, request.method);
      const ours = url.pathname + url.search;
      assert.equal(sent.path, family === "gemini" ? ours.replace("streamGenerateContent", "generateContent").replace("?alt=sse", "") : ours);
      const { header, prefix } = request.auth;
      assert.equal(sent.headers[header.toLowerCase()], `${prefix}KEY`);
      for (const [key, value] of Object.entries(request.headers)) {
        if (!/^(accept|content-type|anthropic-dangerous)/i.test(key)) assert.equal(sent.headers[key.toLowerCase()], value, key);
      }
      assert.deepEqual(neutral(family, sent.body), neutral(family, request.body));
    });
  }
});

/** A body without what the client adds by itself and without the stream flag, which chooses its method. */
function neutral(family, body) {
  const plain = without(structuredClone(body), ["stream"]);
  if (family === "gemini") {
    const out = geminiForm(plain);
    // The client marks the instruction with a role, which the API ignores.
    if (out.systemInstruction) delete out.systemInstruction.role;
    return out;
  }
  if (family === "mistral") {
    for (const message of plain.messages) {
      if (message.prefix === false) delete message.prefix;
      for (const call of message.tool_calls ?? []) delete call.index;
    }
  }
  return plain;
}

/** The least that each client takes for an answer. */
const whole = {
  openai: { id: "1", object: "chat.completion", created: 1, model: "m", choices: [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }] },
  claude: { id: "1", type: "message", role: "assistant", model: "m", content: [{ type: "text", text: "x" }], stop_reason: "end_turn", stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
  gemini: { candidates: [{ content: { role: "model", parts: [{ text: "x" }] }, finishReason: "STOP", index: 0 }] },
  mistral: { id: "1", object: "chat.completion", created: 1, model: "m", choices: [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
  cohere: { id: "1", finish_reason: "COMPLETE", message: { role: "assistant", content: [{ type: "text", text: "x" }] } },
};

const FINISH = {
  stop: "stop", length: "length", tool_calls: "tools",
  end_turn: "stop", max_tokens: "length", tool_use: "tools",
  STOP: "stop", MAX_TOKENS: "length",
  COMPLETE: "stop", TOOL_CALL: "tools",
};

test("the clients' stream parsers read what we read", { skip }, async (t) => {
  for (const { name, family, source, bytes } of streams) {
    await t.test(name, async () => {
      // A fixed walk over cuts, many of them inside a character or a line end.
      for (const step of [bytes.length, 1, 7, 64]) {
        const cuts = Array.from({ length: Math.floor(bytes.length / step) }, (_, i) => (i + 1) * step);
        const mine = ours(source, bytes, cuts);
        server.answer("text/event-stream", bytes, cuts);
        const theirs = await judges.read(family);
        if (theirs.finish === "STOP" && theirs.calls.length > 0) theirs.finish = "tool_calls";
        assert.ok(FINISH[theirs.finish], `finish ${theirs.finish}`);
        assert.ok(theirs.text.length + theirs.calls.length > 0);
        assert.deepEqual(mine, { ...theirs, finish: FINISH[theirs.finish] }, `pieces of ${step}`);
      }
    });
  }
});

/** Our reading in the judges' form. */
function ours(source, bytes, cuts) {
  const chunks = cut(bytes, cuts).map((piece) => [...piece]);
  const answer = invoke("provider.read_stream", { profile: "promptside", source, chunks });
  const parsed = (value) => (typeof value === "string" ? JSON.parse(value || "{}") : value);
  return {
    text: answer.text,
    reasoning: answer.reasoning,
    calls: (answer.toolCalls ?? []).map((c) => ({ id: c.id, name: c.function.name, arguments: parsed(c.function.arguments) })),
    finish: answer.finish,
    input: answer.usage.input,
    output: answer.usage.output,
  };
}
