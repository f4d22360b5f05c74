// Rounds through runRound: every way a reply can come, fail, be cut or be left.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Room, load, runRound, withKey } from "../pkg/index.js";

before(() => load());

const card = (name, description, more = {}) => ({ spec: "chara_card_v2", spec_version: "2.0", data: { name, description, ...more } });
const scene = (group = {}, more = {}) => ({
  characters: [
    { avatar: "a.png", card: card("Anna", "A sailor.") },
    { avatar: "b.png", card: card("Борис", "A cook.") },
    { avatar: "c.png", card: card("千夏", "A singer.") },
  ],
  group: { members: ["a.png", "b.png", "c.png"], activation_strategy: 1, ...group },
  persona: { name: "旅人" },
  ...more,
});
const quietly = (names) => names.map((n) => ({ avatar: `${n}.png`, card: card(n, "", { extensions: { talkativeness: "0" } }) }));
const fixed = { random: { seed: 1 }, now: 1_700_000_000_000, offsetMinutes: 0, locale: "en-US" };
const room = (s = scene(), options = {}) => new Room(s, { ...fixed, ...options });
const onlyAnna = () => room(scene({ members: ["a.png"] }));

async function run(r, start, send, options = {}) {
  const events = [];
  for await (const event of runRound(r, start, { send, ...options })) events.push(event);
  return events;
}
const of = (events, type) => events.filter((e) => e.type === type);
const tokens = (events, speaker) => of(events, "token").filter((e) => !speaker || e.speaker === speaker).map((e) => e.text).join("");
const spoken = (r) => r.chat.messages.map((m) => [m.name, m.mes]);
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A response with server-sent events, cut into pieces of `size` bytes: in the middle of characters and of events. */
function sse(texts, size, { hang = false } = {}) {
  const events = texts.map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`).join("");
  const bytes = new TextEncoder().encode(hang ? events : `${events}data: [DONE]\n\n`);
  const state = { cancelled: false };
  const stream = new ReadableStream({
    start(controller) {
      for (let i = 0; i < bytes.length; i += size) controller.enqueue(bytes.slice(i, i + size));
      if (!hang) controller.close();
    },
    cancel: () => { state.cancelled = true; },
  });
  return Object.assign(new Response(stream, { headers: { "content-type": "text/event-stream" } }), { state });
}

test("a text: two speakers in one round, in order, each with a reason", async () => {
  const r = room(scene({ activation_strategy: 0, members: ["a.png", "b.png"] }, { characters: quietly(["a", "b"]).map((c, i) => ({ ...c, card: card(["Anna", "Борис"][i], "", { extensions: { talkativeness: "0" } }) })) }));
  const sent = [];
  const events = await run(r, { userMessage: "Борис и Anna, вы тут?" }, (request, context) => {
    sent.push([context.speaker, context.name, context.kind, JSON.parse(request.body).messages.length]);
    return `${context.name}: да`;
  });
  assert.deepEqual(events.map((e) => e.type), [
    "round_started", "round_plan", "user_message", "request", "message_done", "request", "message_done", "round_stats", "room_finished",
  ]);
  const [plan] = of(events, "round_plan");
  assert.deepEqual(plan.planned.map((p) => [p.name, p.reason.kind, p.reason.start, p.reason.end]), [["Борис", "mentioned", 0, 5], ["Anna", "mentioned", 8, 12]]);
  assert.deepEqual(sent.map((s) => s.slice(0, 3)), [["b.png", "Борис", "normal"], ["a.png", "Anna", "normal"]]);
  assert.equal(sent[1][3], sent[0][3] + 1, "the second sees the first's reply");
  assert.deepEqual(spoken(r), [["旅人", "Борис и Anna, вы тут?"], ["Борис", "да"], ["Anna", "да"]]);
  assert.deepEqual(of(events, "round_stats")[0].spoke, ["b.png", "a.png"]);
  assert.equal(events.at(-1).reason, "round_complete");
});

test("pieces: tokens come while the reply still comes in", async () => {
  const r = onlyAnna();
  let given = 0;
  const seen = [];
  const send = async function* () {
    for (const piece of ["When ", "the ", "tide ", "turns."]) {
      given++;
      yield piece;
    }
  };
  for await (const event of runRound(r, { userMessage: "?" }, { send })) if (event.type === "token") seen.push([given, event.text]);
  assert.ok(seen[0][0] < 4, "the first token came before the last piece was asked for");
  assert.equal(seen.map((s) => s[1]).join(""), "When the tide turns.");
  assert.equal(r.chat.messages.at(-1).mes, "When the tide turns.");
});

test("server-sent events cut anywhere", async () => {
  for (const size of [1, 2, 3, 5, 7, 64, 100_000]) {
    const r = onlyAnna();
    const events = await run(r, { userMessage: "?", stream: true }, () => sse(["Anna: こん", "にちは🌸、\n", "привет ", "สวัสดี 👩‍👩‍👧"], size));
    assert.equal(r.chat.messages.at(-1).mes, "こんにちは🌸、\nпривет สวัสดี 👩‍👩‍👧", `pieces of ${size}`);
    assert.match(tokens(events), /^こんにちは🌸、/);
    assert.ok(r.chat.messages.at(-1).mes.startsWith(tokens(events)), "what was shown is a beginning of what is kept");
    assert.equal(JSON.parse(of(events, "request")[0].request.body).stream, true);
  }
});

test("a plain JSON response, and an answer read by the host", async () => {
  const r = onlyAnna();
  await run(r, { userMessage: "?" }, () => Response.json({ choices: [{ message: { content: "Anna: 好。" }, finish_reason: "stop" }] }));
  assert.equal(r.chat.messages.at(-1).mes, "好。");
  await run(r, { userMessage: "?" }, async () => ({ text: "Anna: хорошо", finish: "stop" }));
  assert.equal(r.chat.messages.at(-1).mes, "хорошо");
});

test("failures are events, and the others go on", async () => {
  const cases = [
    ["http_500", "down", () => new Response("down", { status: 500 })],
    ["http_401", "no key", () => new Response("no key", { status: 401 })],
    ["network", "TypeError: fetch failed", () => { throw new TypeError("fetch failed"); }],
    ["network", "Error: later", () => Promise.reject(new Error("later"))],
    ["network", "Error: broken", async function* () { yield "An"; throw new Error("broken"); }],
    ["network", undefined, () => new Response(new ReadableStream({ pull(c) { c.error(new Error("reset")); } }))],
    ["send", undefined, () => undefined],
    ["send", undefined, () => 5],
  ];
  for (const [code, message, bad] of cases) {
    const r = room();
    const events = await run(r, { userMessage: "?" }, (q, c) => (c.speaker === "a.png" ? bad() : "ok"));
    const [error] = of(events, "error");
    assert.equal(error.code, code);
    assert.equal(error.speaker, "a.png");
    if (message) assert.equal(error.message, message);
    assert.deepEqual(of(events, "message_done").map((e) => e.speaker), ["b.png", "c.png"]);
    assert.deepEqual(of(events, "round_stats")[0].failed, ["a.png"]);
    assert.deepEqual(spoken(r).slice(1), [["Борис", "ok"], ["千夏", "ok"]]);
  }
});

test("a call that takes too long", async () => {
  for (const slow of [
    () => new Promise(() => {}),
    async function* () { yield "Par"; await new Promise(() => {}); },
    () => sse(["Part"], 4, { hang: true }),
  ]) {
    const r = room();
    let signal;
    const events = await run(r, { userMessage: "?", stream: true }, (q, c) => {
      if (c.speaker !== "a.png") return "ok";
      signal = q.signal;
      return slow();
    }, { timeout: 30 });
    assert.equal(of(events, "error")[0].code, "timeout");
    assert.ok(signal.aborted);
    assert.deepEqual(of(events, "round_stats")[0].spoke, ["b.png", "c.png"]);
  }
});

test("aborted before: nothing is sent", async () => {
  const r = room();
  let sends = 0;
  const events = await run(r, { userMessage: "?" }, () => { sends++; return "x"; }, { signal: AbortSignal.abort() });
  assert.equal(sends, 0);
  assert.equal(events.at(-1).type, "room_finished");
  assert.equal(events.at(-1).reason, "aborted");
  assert.deepEqual(spoken(r), [["旅人", "?"]]);
  await run(r, { userMessage: "again" }, () => "here");
  assert.equal(spoken(r).length, 5);
});

test("aborted while a reply comes: the part is kept, the rest is not asked, the room goes on", async () => {
  for (const kind of ["pieces", "hanging pieces", "response", "promise"]) {
    const r = room();
    const controller = new AbortController();
    let calls = 0;
    let signal;
    const send = (q) => {
      calls++;
      signal = q.signal;
      setTimeout(() => controller.abort(), 30);
      if (kind === "pieces") return (async function* () { yield "Часть"; for (;;) { await wait(5); yield "."; } })();
      if (kind === "hanging pieces") return (async function* () { yield "Часть"; await new Promise(() => {}); })();
      if (kind === "response") return sse(["Часть"], 3, { hang: true });
      return new Promise(() => {});
    };
    const events = await run(r, { userMessage: "?", stream: true }, send, { signal: controller.signal });
    assert.equal(events.at(-1).reason, "aborted", kind);
    assert.equal(calls, 1);
    assert.ok(signal.aborted);
    assert.deepEqual(of(events, "error"), []);
    if (kind === "promise") assert.deepEqual(spoken(r), [["旅人", "?"]]);
    else assert.match(r.chat.messages.at(-1).mes, /^Часть\.*$/);
    const count = r.chat.messages.length;
    await run(r, { userMessage: "again" }, () => "here");
    assert.equal(r.chat.messages.length, count + 4);
  }
});

test("leaving the loop early ends the call and keeps what came", async () => {
  const r = onlyAnna();
  let signal;
  let closed = false;
  const send = (q) => {
    signal = q.signal;
    return (async function* () {
      try { yield "Раз "; yield "два "; yield "три"; } finally { closed = true; }
    })();
  };
  for await (const event of runRound(r, { userMessage: "?" }, { send })) if (event.type === "token") break;
  assert.ok(signal.aborted && closed);
  assert.deepEqual(spoken(r), [["旅人", "?"], ["Anna", "Раз"]]);
  await run(r, { userMessage: "?" }, () => "next");
  assert.equal(r.chat.messages.at(-1).mes, "next");
});

test("a reply that goes on as somebody else is cut, and the call is stopped", async () => {
  const foreign = ["Anna: Ahoy!\nБор", "ис: no", " more of this\n", " and this", " and that"];
  for (const how of ["pieces", "response"]) {
    const r = onlyAnna();
    r.update({ group: scene().group });
    let signal;
    let given = 0;
    let response;
    const events = await run(r, { userMessage: "?", stream: true, speakers: undefined, speaker: "a.png" }, (q) => {
      signal = q.signal;
      if (how === "response") return (response = sse(foreign, 9, { hang: true }));
      return (async function* () { for (const piece of foreign) { given++; yield piece; } })();
    });
    assert.equal(tokens(events), "Ahoy!", how);
    const [cut] = of(events, "cut");
    assert.equal(cut.foreign, "b.png");
    assert.equal(cut.reason, "label");
    assert.ok(signal.aborted);
    assert.equal(of(events, "stop").length, 1);
    if (how === "pieces") assert.ok(given < foreign.length, "what comes after the cut is not asked for");
    else assert.ok(response.state.cancelled);
    assert.equal(of(events, "message_done")[0].text, "Ahoy!");
    assert.deepEqual(spoken(r), [["旅人", "?"], ["Anna", "Ahoy!"]]);
  }
});

test("swipe, regenerate, continue, impersonate, quiet", async () => {
  const r = room(scene({ members: ["a.png", "b.png"] }));
  await run(r, { userMessage: "Hi" }, (q, c) => `first of ${c.name}`);
  const last = () => r.chat.messages.at(-1);

  let events = await run(r, { kind: "swipe" }, () => "другой");
  assert.deepEqual(of(events, "request").map((e) => [e.speaker, e.kind]), [["b.png", "swipe"]]);
  assert.deepEqual([last().mes, last().swipes, last().swipe_id], ["другой", ["first of Борис", "другой"], 1]);
  assert.equal(r.chat.messages.length, 3);

  events = await run(r, { kind: "regenerate" }, (q, c) => `new of ${c.name}`);
  assert.deepEqual(of(events, "round_plan")[0].planned.map((p) => [p.id, p.reason.kind]), [["a.png", "again"], ["b.png", "again"]]);
  assert.deepEqual(spoken(r), [["旅人", "Hi"], ["Anna", "new of Anna"], ["Борис", "new of Борис"]]);

  events = await run(r, { kind: "continue" }, () => "и дальше");
  assert.equal(of(events, "request")[0].speaker, "b.png");
  assert.match(last().mes, /^new of Борис\s+и дальше$/);
  assert.equal(r.chat.messages.length, 3);

  const before = JSON.stringify(r.chat.messages);
  events = await run(r, { kind: "impersonate" }, () => "旅人: я иду");
  assert.equal(of(events, "result")[0].text, "я иду");
  events = await run(r, { kind: "quiet", quiet: { prompt: "Sum it up: 要約" } }, (q) => {
    assert.match(q.body, /Sum it up: 要約/);
    return "short";
  });
  assert.equal(of(events, "result")[0].text, "short");
  assert.deepEqual(of(events, "round_stats")[0].unreached, []);
  assert.equal(JSON.stringify(r.chat.messages), before, "neither is stored");
});

test("strategies, muted members, auto mode", async () => {
  const planned = async (group, start = { userMessage: "hm" }) => {
    const r = room(scene(group));
    const events = await run(r, start, () => "x");
    const [plan] = of(events, "round_plan");
    return { r, plan, who: plan.planned.map((p) => [p.name, p.reason.kind]) };
  };
  assert.deepEqual((await planned({ activation_strategy: 1 })).who, [["Anna", "list"], ["Борис", "list"], ["千夏", "list"]]);
  assert.deepEqual((await planned({ activation_strategy: 1, disabled_members: ["b.png"] })).who, [["Anna", "list"], ["千夏", "list"]]);

  const manual = await planned({ activation_strategy: 2 });
  assert.deepEqual([manual.who, manual.plan.empty], [[], "manual"]);
  assert.deepEqual(spoken(manual.r), [["旅人", "hm"]], "what the user wrote is kept");
  await run(manual.r, { speaker: "千夏" }, () => "だれ？");
  assert.deepEqual(manual.r.chat.messages.at(-1).mes, "だれ？");

  const pooled = room(scene({ activation_strategy: 3 }));
  const picks = [];
  for (let i = 0; i < 3; i++) {
    const events = await run(pooled, i ? { auto: true } : { userMessage: "hm" }, () => "x");
    const [plan] = of(events, "round_plan");
    assert.deepEqual(plan.planned.map((p) => p.reason.kind), ["pooled"]);
    picks.push(plan.planned[0].id);
  }
  assert.deepEqual(picks.sort(), ["a.png", "b.png", "c.png"], "everybody once before anybody twice");

  const muted = await planned({ activation_strategy: 0, disabled_members: ["a.png", "b.png", "c.png"] }, { userMessage: "Anna!" });
  assert.deepEqual([muted.who, muted.plan.empty], [[], "all_muted"]);

  const auto = await planned({ activation_strategy: 1 }, { auto: true });
  assert.equal(of(await run(auto.r, { auto: true }, () => "x"), "user_message").length, 0);
  assert.ok(auto.r.chat.messages.every((m) => !m.is_user));
});

const natural = () => scene({ activation_strategy: 0 }, { preset: { temperature: 0.5 } });
/** Rounds with a scripted model and clock; what was sent and stored. */
async function session(r, from, to) {
  const bodies = [];
  for (let i = from; i < to; i++) {
    let outputs = r.step({ type: "start", userMessage: `round ${i} {{random::a::b::c}}` }, 1_700_000_000_000 + i * 1000);
    for (let request; (request = outputs.find((o) => o.type === "request")); ) {
      bodies.push(request.speaker + request.request.body);
      outputs = r.step({ type: "reply", request: request.id, text: `answer ${i} of ${request.name}` }, 1_700_000_000_500 + i * 1000);
    }
  }
  return bodies;
}

test("the same seed gives the same bytes; a snapshot goes on where the room stood", async () => {
  const whole = room(natural());
  const bodies = await session(whole, 0, 8);
  const again = room(natural());
  assert.deepEqual(await session(again, 0, 8), bodies);
  assert.equal(JSON.stringify(again.snapshot()), JSON.stringify(whole.snapshot()));
  assert.notDeepEqual(await session(room(natural(), { random: { seed: 2 } }), 0, 8), bodies);

  const first = room(natural());
  const begun = await session(first, 0, 4);
  const { scene: s, options } = JSON.parse(JSON.stringify(first.snapshot()));
  first.free();
  const second = new Room(s, options);
  assert.equal(JSON.stringify(second.snapshot()), JSON.stringify({ scene: s, options }));
  const rest = await session(second, 4, 8);
  assert.deepEqual([...begun, ...rest], bodies);
});

test("recorded numbers that are left go into the snapshot", () => {
  const tape = Array.from({ length: 40 }, (_, i) => (i * 0.37) % 1);
  const r = room(natural(), { random: { tape } });
  const used = r.step({ type: "start", userMessage: "x" }).find((o) => o.type === "round_plan").draws.length;
  assert.ok(used > 0);
  assert.deepEqual(r.snapshot().options.random, { tape: tape.slice(used) });
});

test("keys go where the request says, and nowhere else", async () => {
  const key = "sk-секрет-123";
  for (const [source, where] of [["openai", "Authorization"], ["claude", "x-api-key"], ["makersuite", undefined]]) {
    const r = room(scene({}, { preset: { chat_completion_source: source } }));
    const seen = [];
    await run(r, { userMessage: "?" }, (q) => {
      assert.ok(!JSON.stringify({ ...q, signal: undefined }).includes(key));
      const sealed = withKey(q, key);
      assert.equal(sealed.body, q.body);
      if (where) assert.ok(sealed.headers[where].endsWith(key), source);
      else assert.ok(JSON.stringify([sealed.headers, decodeURIComponent(sealed.url)]).includes(key), source);
      seen.push(sealed);
      return "ok";
    });
    assert.ok(seen.length > 0);
    assert.equal(withKey(seen[0], ""), seen[0], "no key: unchanged");
    assert.ok(!JSON.stringify(r.snapshot()).includes("секрет"));
    assert.ok(!JSON.stringify(r.inspect()).includes("секрет"));
  }
});
