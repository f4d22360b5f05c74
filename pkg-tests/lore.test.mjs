// Lorebooks through the package: what an editor is told, in a form fit for large books, and that looking changes nothing.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Room, load, splitKeys } from "../pkg/index.js";

before(() => load());

const options = { random: { seed: 5 }, now: 1_767_622_029_045, offsetMinutes: 0, locale: "en-US", tokenizer: "codepoints" };
const entry = (uid, more) => [uid, { uid, key: [], content: "", order: 100, position: 0, selective: true, useProbability: true, probability: 100, ...more }];
const scene = (entries, more) => ({
  characters: [{ avatar: "m.png", card: { name: "Мира" } }],
  persona: { name: "凛" },
  chat: { id: "c", metadata: {}, messages: [{ name: "凛", is_user: true, mes: "В лесу живёт 龍!" }] },
  settings: { world_info: { world_info_depth: 4, world_info_recursive: true, world_info_budget: 100 } },
  preset: { chat_completion_source: "custom", openai_max_context: 4000 },
  lorebooks: { books: { W: { entries: Object.fromEntries(entries) } }, global: ["W"] },
  ...more,
});

test("every entry is explained, and ten thousand that nothing came of are a line", () => {
  const many = Array.from({ length: 10_000 }, (_, i) => entry(i, { key: [`слово${i}x`], content: `${i}` }));
  many[7] = entry(7, { key: ["龍"], content: "Драконы помнят слово9x." });
  many[3000] = entry(3000, { disable: true, content: "off" });
  many[3001] = entry(3001, { key: ["лесу"], keysecondary: ["море"], content: "нет" });
  many[3002] = entry(3002, { key: ["живёт"], content: "нет", probability: 0 });
  const room = new Room(scene(many), options);
  const found = room.inspectLore({ speaker: "m.png" });
  assert.deepEqual(found.activated, [{ book: "W", uid: 7 }, { book: "W", uid: 9 }]);
  assert.equal(found.before, "9\nДраконы помнят слово9x.");
  const reasons = Object.fromEntries(found.explained.map((e) => [e.uid, e.reason?.code ?? e.cause]));
  assert.deepEqual(Object.keys(reasons), ["7", "9", "3001", "3002"]);
  assert.deepEqual(reasons[7], { code: "key", key: 0, text: "龍" });
  assert.equal(reasons[3001], "secondary_failed");
  assert.equal(reasons[3002], "probability");
  assert.deepEqual(found.untouched, {
    no_primary_match: { W: [[0, 6], 8, [10, 2999], [3003, 9999]] },
    disabled: { W: [3000] },
  });
  assert.deepEqual(found.loops.map((l) => [l.state, l.rule, l.new]), [["initial", "a", ["W.7"]], ["recursion", "a", ["W.9"]], ["recursion", null, []]]);
  room.free();
});

test("looking spends nothing and stores nothing", () => {
  const room = new Room(scene([entry(0, { key: ["龍"], content: "{{setvar::x::1}}y", sticky: 4, probability: 50 }), entry(1, { key: ["海"], content: "Meer" })]), options);
  const before = JSON.stringify(room.snapshot());
  const first = room.inspectLore();
  assert.deepEqual(room.inspectLore(), first);
  assert.equal(JSON.stringify(room.snapshot()), before);
  // Any text can be tried.
  assert.deepEqual(room.inspectLore({ lines: ["海 и 🐉"] }).activated, [{ book: "W", uid: 1 }]);
});

test("decorators, turns and a book's own budget, in the default profile only", () => {
  const books = {
    C: { token_budget: 8, entries: [{ keys: ["龍"], content: "@@depth 2\n@@role assistant\n火", enabled: true, insertion_order: 2, extensions: {} }, { keys: ["лесу"], content: "слишком длинно", enabled: true, insertion_order: 1, extensions: {} }] },
  };
  const room = new Room(scene([], { lorebooks: { books, global: ["C"] } }), options);
  const found = room.inspectLore();
  assert.deepEqual(found.depth, [{ depth: 2, role: 2, entries: ["火"] }]);
  assert.deepEqual(found.explained[1].reason, { code: "budget", limit: 8 });
});

test("keys as an editor lists them", () => {
  assert.deepEqual(splitKeys("dragon, 龍 , /a,b/i"), ["dragon", "龍", "/a,b/i"]);
});
