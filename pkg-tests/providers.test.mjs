// What the package says about providers, and the helpers to reach them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { Room, capabilities, load, readError, runRound, withKey, withProxy } from "../pkg/index.js";

await load();
const card = { spec: "chara_card_v2", spec_version: "2.0", data: { name: "洛恩", description: "An old hunter.", first_mes: "Да?" } };
const room = (preset, options = {}) =>
  new Room({ characters: [card], persona: { name: "旅人" }, preset }, { random: { seed: 1 }, now: 1_700_000_000_000, ...options });

test("every source has a row, and the documentation lists it where the data put it", () => {
  const all = capabilities();
  assert.ok(all.length > 20);
  assert.equal(new Set(all.map((c) => c.source)).size, all.length);
  const table = readFileSync(new URL("../docs/providers.md", import.meta.url), "utf8").split("\n").filter((l) => /^\| `/.test(l));
  for (const row of all) {
    assert.deepEqual(capabilities(row.source), row);
    assert.ok(["yes", "few_headers", "no", "server", "unknown"].includes(row.browser.direct));
    if (row.browser.direct === "unknown") assert.equal(row.browser.verified, false);
    const line = table.find((l) => l.startsWith(`| \`${row.browser.direct}\``));
    assert.match(line, new RegExp(`\\b${row.source}\\b`), row.source);
    assert.equal(new RegExp(`\\b${row.source} \\(not verified`).test(line) || row.browser.direct === "unknown", !row.browser.verified, row.source);
  }
  assert.deepEqual(capabilities("claude").browser.header, ["anthropic-dangerous-direct-browser-access", "true"]);
  assert.equal(capabilities("mistralai").beginning, "flag");
  assert.equal(capabilities("zai").stops, 1);
  assert.throws(() => capabilities("nobody"), (e) => e.name === "PromptsideError");
});

test("the rows say what the requests do", () => {
  for (const { source, browser, tools, media, stops, seed } of capabilities()) {
    if (source === "cometapi") continue;
    const preset = { chat_completion_source: source, custom_url: "http://x.example", azure_base_url: "https://x.example", function_calling: true, seed: 5, custom_model: "m" };
    const { request } = room(preset).buildRequest({ userMessage: "你好" });
    const body = JSON.parse(request.body);
    if (browser.header) assert.equal(request.headers[browser.header[0]], browser.header[1]);
    assert.equal(JSON.stringify(body).includes(':5'), seed, `${source}: seed`);
    assert.ok(Array.isArray(media) && (stops === null || stops >= 0) && typeof tools === "boolean");
  }
});

test("a proxy changes the address and nothing else", () => {
  const request = { url: "https://api.example/v1/чат?alt=sse&key=a%20b", method: "POST", headers: { A: "b" }, body: "{}", auth: { query: "key" } };
  const to = (proxy) => {
    const { url, ...rest } = withProxy(request, proxy);
    const { url: _, ...same } = request;
    assert.deepEqual(rest, same);
    return url;
  };
  const path = "/v1/%D1%87%D0%B0%D1%82?alt=sse&key=a%20b";
  assert.equal(to("https://my.example/p/"), `https://my.example/p${path}`);
  assert.equal(to("https://my.example/?to={url}"), `https://my.example/?to=${encodeURIComponent(request.url)}`);
  assert.equal(to("https://my.example/{host}/{path}"), `https://my.example/api.example${path}`);
  assert.equal(to((url) => `${url}#x`), `${request.url}#x`);
  assert.equal(withKey(withProxy(request, "https://my.example"), "ключ").url.startsWith("https://my.example/v1/"), true);
});

test("a round goes through a proxy, and a refusal says whether to try again", async (t) => {
  const seen = [];
  let refuse = true;
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    seen.push(request.url);
    if (refuse) {
      refuse = false;
      response.writeHead(429, { "retry-after": "0.01", "content-type": "application/json" });
      response.end(JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "Помедленнее 🐢" } }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const say = (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    for (const text of ["夜", "已深"]) say({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
    say({ type: "message_delta", delta: { stop_reason: "end_turn" } });
    say({ type: "message_stop" });
    response.end();
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => server.close());
  const base = `http://127.0.0.1:${server.address().port}/claude`;
  const errors = [];
  const send = async (request) => {
    for (;;) {
      const response = await fetch(withProxy(request, base).url, { ...withKey(request, "KEY") });
      if (response.ok) return response;
      const error = await readError(response);
      errors.push(error);
      if (!error.retry) throw new Error(error.message);
      await new Promise((done) => setTimeout(done, error.retryAfter));
    }
  };
  const events = [];
  for await (const event of runRound(room({ chat_completion_source: "claude", claude_model: "claude-sonnet-4-5", stream_openai: true }), { userMessage: "你好" }, { send })) events.push(event);
  assert.deepEqual(errors, [{ kind: "rate_limit", status: 429, message: "Помедленнее 🐢", retry: true, retryAfter: 10 }]);
  assert.deepEqual(seen, ["/claude/v1/messages", "/claude/v1/messages"]);
  assert.equal(events.find((e) => e.type === "message_done").text, "夜已深");
});

test("an error that is no JSON keeps its words", async () => {
  const error = await readError(new Response("<h1>шлюз</h1>", { status: 502 }));
  assert.deepEqual({ ...error }, { kind: "unavailable", status: 502, message: "<h1>шлюз</h1>", retry: true });
  const hint = await readError(new Response(JSON.stringify({ error: { message: "System message must be at the beginning." } }), { status: 400 }));
  assert.equal(hint.kind, "refused");
  assert.match(hint.hint, /semi-strict/);
});

test("a round tells a refusal in the provider's words, and what to change", async () => {
  const said = { error: { type: "invalid_request_error", message: "System message must be at the beginning. 🙈" } };
  const answers = [new Response(JSON.stringify(said), { status: 400, statusText: "Bad Request" }), new Response("", { status: 503, statusText: "Busy" })];
  for (const [answer, code, message] of [
    [answers[0], "http_400", /^System message must be at the beginning\. 🙈 \(set prompt post-processing to semi-strict/],
    [answers[1], "http_503", /^Busy$/],
  ]) {
    const events = [];
    for await (const event of runRound(room({ chat_completion_source: "openai" }), { userMessage: "你好" }, { send: () => answer })) events.push(event);
    const error = events.find((e) => e.type === "error");
    assert.equal(error.code, code);
    assert.match(error.message, message);
  }
});
