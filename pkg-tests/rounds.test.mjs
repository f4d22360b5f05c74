// Configured rounds through runRound: cross-talk, retries, pauses, the director, and what is told meanwhile.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { PromptsideError, Room, load, runRound } from "../pkg/index.js";

before(() => load());

const card = (name, description) => ({ spec: "chara_card_v2", spec_version: "2.0", data: { name, description } });
const room = (rounds) =>
  new Room(
    {
      characters: [
        { avatar: "s.png", card: card("塞拉菲娜", "林地的守护者。") },
        { avatar: "l.png", card: card("洛恩", "老猎人。") },
        { avatar: "m.png", card: card("Mira", "A sailor.") },
      ],
      group: { members: ["s.png", "l.png", "m.png"] },
      persona: { name: "旅人" },
    },
    { random: { seed: 1 }, now: 1_700_000_000_000, offsetMinutes: 0, locale: "en-US", rounds: { pauseMs: 0, ...rounds } },
  );
const of = (events, type) => events.filter((e) => e.type === type);
const spoken = (r) => r.chat.messages.map((m) => `${m.name}: ${m.mes}`);

async function run(r, start, send, options = {}) {
  const events = [];
  for await (const event of runRound(r, start, { send, ...options })) events.push(event);
  return events;
}

test("cross-talk: who is called answers after the round, and each request says why", async () => {
  const r = room({ directed: "only", crossTalk: { enabled: true } });
  const why = [];
  const events = await run(r, { userMessage: "@洛恩 怎么走？" }, (request, { speaker, turn }) => {
    why.push([speaker, turn.reason, turn.by ?? null]);
    return speaker === "l.png" ? "问@Mira你就知道。" : "East, by the river.";
  });
  assert.deepEqual(why, [["l.png", "mentioned", "user"], ["m.png", "cross_talk", "l.png"]]);
  assert.deepEqual(of(events, "crosstalk_plan")[0].planned, ["m.png"]);
  assert.deepEqual(of(events, "round_plan")[0].planned[0].reason, { kind: "round", cause: "mentioned", by: "user" });
  assert.equal(events.at(-1).reason, "target_only");
  assert.deepEqual(spoken(r), ["旅人: @洛恩 怎么走？", "洛恩: 问@Mira你就知道。", "Mira: East, by the river."]);
});

test("a broken rule: the same turn again, and the request says what was wrong", async () => {
  const r = room({ directed: "only", validation: { forbidden: ["作为AI"] } });
  const bodies = [];
  const events = await run(r, { userMessage: "@洛恩" }, (request) => {
    bodies.push(request.body);
    return bodies.length === 1 ? "作为AI，我不能。" : "我在。";
  });
  assert.ok(bodies[1].includes("it used forbidden words (作为AI)"));
  assert.deepEqual(events.filter((e) => ["draft_reset", "message_done"].includes(e.type)).map((e) => e.attempt), ["1.1.1.1", "1.1.1.2"]);
});

test("a pause between turns, and the user's message inserted meanwhile", async () => {
  const r = room({ pauseMs: 5 });
  const round = runRound(r, { userMessage: "出发吧。" }, { send: (_, { name }) => `${name}。` });
  const events = [];
  for await (const event of round) {
    events.push(event);
    if (event.type === "request" && events.filter((e) => e.type === "request").length === 1) round.tell({ type: "user_message", text: "等等，@Mira 呢？" });
  }
  assert.deepEqual(of(events, "message_done").map((e) => e.speaker), ["s.png", "m.png", "l.png"]);
  assert.equal(of(events, "wait").length, 2);
  assert.deepEqual(spoken(r), ["旅人: 出发吧。", "塞拉菲娜: 塞拉菲娜。", "旅人: 等等，@Mira 呢？", "Mira: Mira。", "洛恩: 洛恩。"]);
});

test("orders: retry ends the running call, pause holds the room, resume goes on", async () => {
  const r = room({});
  let calls = 0;
  let aborted = false;
  const send = (request, { name }) => {
    calls += 1;
    if (calls > 1) return `${name}。`;
    setTimeout(() => round.tell({ type: "command", order: "retry" }), 5);
    request.signal.addEventListener("abort", () => { aborted = true; });
    return new Promise(() => {});
  };
  const round = runRound(r, { userMessage: "走。" }, { send });
  const events = [];
  for await (const event of round) {
    events.push(event);
    if (event.type === "message_done" && event.speaker === "s.png") {
      round.tell({ type: "command", order: "skip", member: "Mira" });
    }
    if (event.type === "request" && event.speaker === "s.png" && calls === 1) {
      round.tell({ type: "command", order: "pause" });
      setTimeout(() => round.tell({ type: "command", order: "resume" }), 30);
    }
  }
  assert.ok(aborted, "the first call was ended");
  assert.deepEqual(of(events, "message_done").map((e) => [e.speaker, e.attempt]), [["s.png", "1.1.1.2"], ["l.png", "1.1.2.1"]]);
  assert.equal(events.at(-1).type, "room_finished");
});

test("auto mode: rounds begin by themselves until the user types", async () => {
  const r = room({ who: "round_robin", auto: { enabled: true, delayMs: 5 } });
  const round = runRound(r, { userMessage: "聊吧。" }, { send: (_, { id, name }) => `${name} ${id}` });
  const speakers = [];
  for await (const event of round) {
    if (event.type === "message_done") speakers.push(event.speaker);
    if (event.type === "wait" && speakers.length === 3) setTimeout(() => round.tell({ type: "typing" }), 0);
    assert.ok(speakers.length <= 4);
  }
  assert.deepEqual(speakers.slice(0, 3), ["s.png", "l.png", "m.png"]);
  const again = await run(r, { userMessage: "完了？" }, () => "好了。");
  assert.equal(again.at(-1).type, "room_finished", "typing has ended auto mode for good");
});

test("a director: its own small request, a fallback when its answer is of no use", async () => {
  const r = room({ who: "director", director: { fallback: "list", timeoutMs: 20 } });
  const purposes = [];
  const events = await run(r, { userMessage: "谁来？" }, (request, { turn, name }) => {
    purposes.push(turn.purpose);
    return turn.purpose === "director" ? new Promise(() => {}) : `${name}来。`;
  });
  assert.deepEqual(purposes, ["director", "reply", "reply", "reply"]);
  assert.deepEqual(of(events, "director_plan").map((e) => [e.speakers, e.fallback]), [[["s.png", "l.png", "m.png"], true]]);
});

test("before and meanwhile: what a round would plan, and who waits", async () => {
  const r = room({});
  const preview = r.previewRound({ userMessage: "@Mira 走吧。" });
  assert.deepEqual(of(preview, "round_plan")[0].planned.map((p) => p.name), ["Mira", "塞拉菲娜", "洛恩"]);
  assert.deepEqual([r.chat.messages.length, r.queue], [0, []]);
  const waiting = [];
  await run(r, { userMessage: "@Mira 走吧。" }, (_, { name }) => {
    waiting.push(r.queue.map((p) => p.name));
    return `${name}。`;
  });
  assert.deepEqual(waiting, [["塞拉菲娜", "洛恩"], ["洛恩"], []]);
});

test("the tail layout: the history of the last request is had again, in the stream too", async () => {
  const r = room({ layout: "tail", control: "json" });
  const requests = [];
  const pieces = async function* (text) {
    for (const c of text) yield c;
  };
  const events = await run(r, { userMessage: "走吗？" }, (request, { name }) => {
    requests.push(JSON.parse(request.body).messages);
    return pieces(JSON.stringify({ content: `${name}：好。🐈` }));
  });
  const shown = of(events, "token").map((e) => e.text).join("");
  assert.equal(shown, of(events, "message_done").map((e) => e.text).join(""));
  assert.ok(!shown.includes("content"));
  const reused = of(events, "request").map((e) => e.report.reuse.messages);
  assert.equal(reused[0], 0);
  reused.slice(1).forEach((n, i) => assert.deepEqual(requests[i + 1].slice(0, n), requests[i].slice(0, n)));
  assert.ok(reused[2] > reused[1] && reused[1] >= 2, reused.join());
});

test("numbers that run out: the round says so and ends", async () => {
  const r = room({ who: "random", mode: "free_chat", maxRounds: 4 });
  r.invoke("configure", { random: { tape: [0.1] } });
  const events = await run(r, { userMessage: "谁？" }, (_, { id }) => `好 ${id}`);
  assert.equal(events.at(-1).type, "room_finished");
  assert.equal(of(events, "error")[0].code, "draws.exhausted");
  assert.equal(of(events, "room_finished").length, 1);
});

test("a configuration that does not fit is refused by name", () => {
  assert.throws(() => room({ mode: "chaos" }), (e) => e instanceof PromptsideError && e.code === "option.unknown" && e.path.startsWith("rounds"));
});
