// A room's memory and the vector index through the built package, as a page uses them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load, Room, runRound, VectorIndex, isPromptsideError } from "../pkg/index.js";

await load(readFileSync(new URL("../pkg/promptside.wasm", import.meta.url)));

/** Pairs of characters, hashed: alike texts get alike vectors. Needs no service. */
function embed(text) {
  const vector = new Float32Array(512);
  const chars = [...text];
  for (let i = 0; i + 1 < chars.length; i++) {
    let hash = 7;
    for (const c of chars[i] + chars[i + 1]) hash = (Math.imul(hash, 31) + c.codePointAt(0)) >>> 0;
    vector[hash % 512] += 1;
  }
  return vector;
}

const messages = Array.from({ length: 120 }, (_, i) => ({
  name: i % 2 ? "洛恩" : "User",
  is_user: i % 2 === 0,
  mes: i === 10 ? "我的生日是三月十五日，你要记住。" : `他们沿着河岸走了第${i}里路，雪还在下，风也没有停。`,
  send_date: i,
}));
const scene = {
  characters: [{ avatar: "lorne.png", card: { data: { name: "洛恩", description: "守在森林北缘的老猎人。" } } }],
  chat: { id: "c", messages },
  preset: { openai_max_context: 1500, openai_max_tokens: 200 },
};
const options = { tokenizer: "codepoints", random: { seed: 1 }, now: 0, memory: { embed: { model: "hash", precision: "int8" } } };

function work(room) {
  let done = 0;
  for (let jobs = room.memory.pending(); jobs.length; jobs = room.memory.pending()) {
    for (const job of jobs) {
      const result = job.kind === "embed" ? { vectors: job.texts.map(embed) } : { text: "他们相识于林地。" };
      assert.equal(room.memory.store(job.id, result).status, "kept");
      done += 1;
    }
  }
  return done;
}

test("a round recalls what the history dropped, and says why", async () => {
  const room = new Room(scene, options);
  assert.ok(work(room) > 4);
  const events = [];
  const send = (request) => {
    events.push(JSON.parse(request.body));
    return "三月十五日。";
  };
  for await (const event of runRound(room, { userMessage: "你还记得我的生日是哪天吗？" }, { send })) events.push(event);
  const memory = events.find((e) => e.type === "memory").report;
  const found = memory.items.find((i) => i.id === "10:10");
  assert.equal(found?.kind, "message", JSON.stringify(memory.items));
  assert.ok(found.wordRank >= 1);
  assert.deepEqual(memory.degraded, []);
  const sent = events.find((e) => e.messages).messages.map((m) => m.content).join("\n");
  assert.equal(sent.split("三月十五日").length, 2, "once in the request");
  assert.match(sent, /\[Summary: 他们相识于林地。\]/);
  assert.equal(room.memory.summary().why, "not_yet");
  room.free();
  assert.throws(() => room.memory.export(), (e) => isPromptsideError(e) && e.code === "room.closed");
});

test("state and vectors go into another room", () => {
  const first = new Room(scene, options);
  work(first);
  first.memory.addFile({ name: "林地", text: "林地的王是一头鹿。", scope: "global" });
  const kept = first.memory.export();
  const second = new Room(scene, options);
  second.memory.import({ state: JSON.parse(JSON.stringify(kept.state)), vectors: kept.vectors });
  assert.deepEqual(second.memory.export(), kept);
  assert.equal(work(second), 1, "only the document is new");
  const snapshot = first.snapshot();
  const third = new Room(snapshot.scene, snapshot.options);
  assert.equal(third.memory.summary().text, "他们相识于林地。");
  assert.throws(() => second.memory.import({ state: kept.state, vectors: kept.vectors.slice(0, 40) }), (e) => e.code === "memory.index");
});

test("an index by itself", () => {
  const index = new VectorIndex("hash");
  const texts = ["我的生日是三月十五日", "塔在北边", "Мост на севере разрушен"];
  index.add(texts, texts.map(embed));
  assert.equal(index.search(embed("你记得我的生日吗"), 1)[0].id, texts[0]);
  const again = new VectorIndex("hash", "f32", index.export());
  assert.deepEqual(again.search(embed("Мост"), 3), index.search(embed("Мост"), 3));
  index.remove([texts[0]]);
  assert.equal(index.length, 2);
  assert.throws(() => index.search([1, 2], 1), (e) => e.code === "memory.index");
  index.free();
  index.free();
  assert.throws(() => index.length, (e) => e.code === "room.closed");
});
