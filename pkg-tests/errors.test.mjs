// Bad input: a typed error that names the field, or a tolerant reading; and the room stays as it was.
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import {
  PromptsideError,
  Room,
  buildRequest,
  cleanReply,
  countTokens,
  expandMacros,
  invoke,
  isPromptsideError,
  load,
  nextSpeakers,
  readFile,
  writeCard,
} from "../pkg/index.js";

const bytes = (text) => new TextEncoder().encode(text);
const card = (name, description = "") => ({ spec: "chara_card_v2", spec_version: "2.0", data: { name, description } });
const scene = (more = {}, group = {}) => ({
  characters: [
    { avatar: "a.png", card: card("Anna", "A sailor.") },
    { avatar: "b.png", card: card("Борис", "A cook.") },
  ],
  group: { members: ["a.png", "b.png"], ...group },
  persona: { name: "旅人" },
  ...more,
});
const fixed = { random: { seed: 1 }, now: 1_700_000_000_000, offsetMinutes: 0, locale: "en-US" };
const room = (s = scene(), options = {}) => new Room(s, { ...fixed, ...options });

/** The error of an action: its code and path. */
function refused(action, code, path, message) {
  assert.throws(action, (error) => {
    assert.ok(error instanceof PromptsideError, `${error?.stack}`);
    assert.ok(isPromptsideError(error));
    assert.equal(error.code, code, error.message);
    assert.equal(error.path, path, error.message);
    assert.notEqual(error.message, "");
    if (message) assert.match(error.message, message);
    return true;
  });
}

/** Everything that a room holds; its clock goes on with each step. */
function held(r) {
  const { scene: s, options } = r.snapshot();
  return JSON.stringify([s, { ...options, now: 0 }]);
}

/** The same, and the room is as it was. */
function unchanged(r, action, code, path, message) {
  const before = held(r);
  refused(() => action(r), code, path, message);
  assert.ok(held(r) === before, "the room has changed");
}

// The first test runs before the module is loaded; the tests of a file run in order.
test("before load() every call says so", () => {
  for (const action of [
    () => new Room(scene()),
    () => readFile(new Uint8Array(3)),
    () => nextSpeakers(scene()),
    () => buildRequest(scene()),
    () => cleanReply(scene(), { text: "" }),
    () => countTokens("x"),
    () => expandMacros("x", scene()),
    () => writeCard(card("x")),
  ]) {
    refused(action, "not_loaded", "", /load\(\)/);
  }
});

test("a wrong source for load() is named, and a second attempt works", async () => {
  const page = new Response("<!doctype html>", { headers: { "content-type": "text/html" } });
  await assert.rejects(load(page), { name: "PromptsideError", code: "load.not_wasm" });
  await assert.rejects(load(bytes("<html>")), { code: "load.not_wasm" });
  await assert.rejects(load(new Response("", { status: 404 })), { code: "load.failed" });
  await assert.rejects(load(new Uint8Array([1, 2, 3])), { code: "load.failed" });
  await load();
  await load();
});

/** A PNG chunk; its checksum is not looked at by readers of cards. */
function chunk(type, data) {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, data, Buffer.alloc(4)]);
}
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const png = (...texts) =>
  Buffer.concat([
    signature,
    chunk("IHDR", Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0])),
    ...texts.map((t) => chunk("tEXt", Buffer.from(t, "latin1"))),
    chunk("IDAT", deflateSync(Buffer.from([0, 0]))),
    chunk("IEND", Buffer.alloc(0)),
  ]);

test("files that are broken", () => {
  refused(() => readFile(new Uint8Array()), "file.empty-file", "");
  refused(() => readFile(signature), "file.png-truncated", "");
  refused(() => readFile(png()), "file.no-card-data", "");
  refused(() => readFile(png("chara\0%%%")), "file.bad-base64", "chara");
  refused(() => readFile(png(`chara\0${Buffer.from('{"name":').toString("base64")}`)), "file.bad-json", "chara");
  refused(() => readFile(bytes("hello")), "file.unsupported-format", "");
  refused(() => readFile(bytes('{"a":')), "file.bad-json", "", /line 1 column 6/);
  refused(() => readFile(bytes("[".repeat(500) + "]".repeat(500))), "file.too-deep", "");
  refused(() => readFile(bytes('{"a":1}')), "file.unknown-shape", "", /a/);
  refused(() => readFile(bytes(JSON.stringify(card("x"))), { want: "lorebook" }), "file.wrong-kind", "");
  refused(() => readFile(bytes(JSON.stringify(card("x"))), { want: "banana" }), "option.unknown", "want");
  refused(() => readFile("hello"), "input.not_bytes", "bytes");
  refused(() => readFile(undefined), "input.not_bytes", "bytes");
  refused(() => writeCard(null), "scene.field", "card");
  refused(() => writeCard(card("x"), bytes("no picture")), "file.unsupported-format", "");
  // Every beginning of a good file is an error or a card, never anything else.
  const whole = png(`chara\0${Buffer.from(JSON.stringify(card("Аня"))).toString("base64")}`);
  assert.equal(readFile(whole).card.data.name, "Аня");
  for (let n = 0; n < whole.length; n++) {
    try {
      assert.equal(readFile(whole.subarray(0, n)).kind, "card");
    } catch (error) {
      assert.ok(isPromptsideError(error), `${n}: ${error}`);
      assert.match(error.code, /^file\./);
    }
  }
});

test("a card without a name goes by its file", () => {
  const nameless = { spec: "chara_card_v2", spec_version: "2.0", data: { description: "x" } };
  assert.equal(readFile(bytes(JSON.stringify(nameless))).card.data.name, "");
  const r = room({ characters: [{ avatar: "mira.png", card: nameless }] });
  assert.equal(r.nextSpeakers().speakers[0].name, "mira");
  assert.match(r.buildRequest({ userMessage: "hi" }).request.body, /Write mira's next reply/);
});

test("unknown values of options", () => {
  const r = room();
  unchanged(r, () => r.nextSpeakers({ kind: "banana" }), "option.unknown", "kind", /normal, swipe/);
  unchanged(r, () => r.buildRequest({ kind: "banana" }), "option.unknown", "kind");
  unchanged(r, () => r.step({ type: "start", kind: "banana", userMessage: "x" }), "option.unknown", "kind");
  unchanged(r, () => r.step({ type: "banana" }), "option.unknown", "input.type");
  unchanged(r, () => r.step(), "option.unknown", "input");
  unchanged(r, () => r.cleanReply({ text: "x", speaker: "a.png", trim: "banana" }), "option.unknown", "trim", /smart/);
  unchanged(r, () => r.cleanReply({ text: 5 }), "option.unknown", "text");
  unchanged(r, () => r.cleanReply({}), "option.unknown", "text");
  unchanged(r, () => r.invoke("banana"), "option.unknown", "method");
  unchanged(r, () => r.buildRequest({ speaker: "nobody" }), "scene.unknown", "speaker", /Anna, Борис/);
  unchanged(r, () => r.buildRequest({ speaker: 5 }), "option.unknown", "speaker");
  unchanged(r, () => r.cleanReply({ text: "x", speaker: "nobody" }), "scene.unknown", "speaker");
  unchanged(r, () => r.step({ type: "start", speaker: "nobody", userMessage: "x" }), "scene.unknown", "speaker");
  unchanged(r, () => r.step({ type: "start", kind: "quiet" }), "scene.missing", "quiet");
  unchanged(r, () => r.step({ type: "start", kind: "continue" }), "speaker.gone", "chat");
  refused(() => invoke("banana"), "option.unknown", "method");
  refused(() => room(scene(), { profile: "banana" }), "option.unknown", "profile", /sillytavern/);
  refused(() => room(scene(), { switches: { banana: true } }), "option.unknown", "switches.banana");
  refused(() => room(scene(), { switches: { banana: "x" } }), "option.unknown", "switches.banana");
  refused(() => room(scene(), { limits: { banana: 1 } }), "option.unknown", "limits.banana");
  refused(() => room(scene(), { limits: { macro_depth: -1 } }), "option.unknown", "limits.macro_depth");
  refused(() => room(scene(), { tokenizer: "banana" }), "option.unknown", "tokenizer", /estimate/);
  refused(() => room(scene(), { banana: 1 }), "option.unknown", "banana");
  refused(() => room(scene(), { random: {} }), "scene.missing", "random");
  refused(() => room(scene(), { random: { entropy: "zz" } }), "option.unknown", "random.entropy");
});

test("an unknown strategy: nobody speaks, and the plan says why", () => {
  for (const activation_strategy of [99, -1, "banana"]) {
    const plan = room(scene({}, { activation_strategy })).nextSpeakers({ userMessage: "Anna" });
    assert.deepEqual(plan.speakers, []);
    assert.equal(plan.nobody, "unknown_strategy");
  }
});

test("numbers out of range", () => {
  for (const seed of [-1, 1.5, 1e300]) refused(() => room(scene(), { random: { seed } }), "option.unknown", "random.seed");
  refused(() => room(scene(), { now: 1e300 }), "option.unknown", "now");
  const huge = room(scene({ preset: { openai_max_context: 1e300, openai_max_tokens: 1e300, temperature: 1e308 } }));
  try {
    JSON.parse(huge.buildRequest({ speaker: "a.png", userMessage: "x" }).request.body);
  } catch (error) {
    assert.ok(isPromptsideError(error), String(error));
    assert.match(error.code, /^budget\./);
  }
  const odd = scene({ persona: { name: "U", position: 1e99, depth: -1e99, role: 1e99 } }, { auto_mode_delay: 1e300, generation_mode: 1e300 });
  assert.ok(JSON.parse(room(odd).buildRequest({ speaker: "a.png", userMessage: "x" }).request.body).messages.length > 0);
  unchanged(room(scene(), { random: { tape: [] } }), (r) => r.step({ type: "start", userMessage: "x" }), "draws.exhausted", "");
});

test("a budget that is too small says what does not fit and by how much", () => {
  const long = scene({
    characters: [{ avatar: "a.png", card: card("Anna", "word ".repeat(2000)) }, { avatar: "b.png", card: card("Борис") }],
    preset: { openai_max_context: 100, openai_max_tokens: 50 },
  });
  const r = room(long);
  unchanged(r, () => r.buildRequest({ speaker: "a.png", userMessage: "x" }), "budget.mandatory", "", /\d+ tokens too long: .*description \d+/);
  unchanged(r, () => r.step({ type: "start", speaker: "a.png", userMessage: "x" }), "budget.mandatory", "", /description/);
  const small = room(scene({ preset: { openai_max_context: 300, openai_max_tokens: 50 } }));
  unchanged(
    small,
    () => small.buildRequest({ speaker: "a.png", userMessage: "слово ".repeat(2000) }),
    "budget.newest_message",
    "chat[0]",
    /needs \d+ tokens and \d+ are left, \d+ too few/,
  );
  // The reference builds what fits; the report carries the fault.
  const { error } = room(long, { profile: "sillytavern" }).buildRequest({ speaker: "a.png", userMessage: "x" }).report;
  assert.equal(error.code, "budget.mandatory");
  assert.equal(error.what, "charDescription");
  assert.ok(error.short_by > 0);
});

test("groups without anybody", () => {
  const empty = room(scene({}, { members: [] }));
  unchanged(empty, (r) => r.nextSpeakers(), "group.empty", "group.members");
  unchanged(empty, (r) => r.step({ type: "start", userMessage: "x" }), "group.empty", "group.members");
  const ghosts = room(scene({}, { members: ["q.png", "r.png"] }));
  const plan = ghosts.nextSpeakers({ userMessage: "x" });
  assert.equal(plan.nobody, "missing");
  assert.deepEqual(plan.passed.map((p) => [p.id, p.reason.kind]), [["q.png", "missing"], ["r.png", "missing"]]);
  unchanged(ghosts, (r) => r.buildRequest({ userMessage: "x" }), "speaker.none", "speaker");
  const outputs = ghosts.step({ type: "start", userMessage: "x" });
  assert.equal(outputs.at(-1).type, "room_finished");
  unchanged(room({ characters: [] }), (r) => r.nextSpeakers(), "scene.unknown", "characters");
});

test("a scene that is none", () => {
  refused(() => room("{bad"), "json.syntax", "", /line 1 column 2/);
  refused(() => room("[]"), "scene.field", "");
  refused(() => room("null"), "scene.field", "");
  refused(() => room({ characters: 5 }), "scene.field", "characters");
  refused(() => room({ characters: [null] }), "scene.field", "characters[0].card");
  refused(() => room({ characters: [card("A"), 5] }), "scene.field", "characters[1].card");
  refused(() => room("[".repeat(300) + "]".repeat(300)), "json.too_deep", "");
  refused(() => nextSpeakers("{bad", {}, fixed), "json.syntax", "scene");
  refused(() => room(() => 1), "input.not_json", "");
  const r = room();
  unchanged(r, () => r.update({ characters: 5 }), "scene.field", "characters");
  unchanged(r, () => r.update("{bad"), "json.syntax", "");
  unchanged(r, () => r.update([]), "scene.field", "");
  const cycle = {};
  cycle.self = cycle;
  unchanged(r, () => r.update({ persona: cycle }), "input.not_json", "");
  unchanged(r, () => r.step({ type: "start", userMessage: 1n }), "input.not_json", "");
  // None of this harmed the module.
  assert.equal(r.nextSpeakers({ userMessage: "Anna?" }).speakers[0].name, "Anna");
});

test("options that are undefined are as good as absent", () => {
  const r = new Room(scene(), { random: undefined, now: undefined, offsetMinutes: undefined, locale: undefined, profile: undefined });
  const { options } = r.snapshot();
  assert.ok(Math.abs(options.now - Date.now()) < 60_000);
  assert.match(options.random.entropy, /^[0-9a-f]{64}$/);
});

test("lone surrogates become U+FFFD in every field", () => {
  const bad = (text) => `${text}\ud83d`;
  const s = {
    characters: [{ avatar: bad("a"), card: card(bad("Anna"), bad("описание")) }, { avatar: "b.png", card: card("B") }],
    group: { members: [bad("a"), "b.png"], name: bad("g") },
    persona: { name: bad("旅人"), description: "\udc00x" },
    chat: [{ name: bad("旅人"), is_user: true, mes: "\udfffначало" }],
  };
  const r = room(s);
  const { request, speaker } = r.buildRequest({ speaker: bad("Anna"), userMessage: bad("привет") });
  assert.equal(speaker, "a\ufffd");
  assert.ok(request.body.isWellFormed?.() ?? true);
  for (const text of ["Anna\ufffd", "описание\ufffd", "旅人\ufffd", "\ufffdx", "\ufffdначало", "привет\ufffd"]) {
    assert.ok(request.body.includes(text), text);
  }
  assert.equal(r.cleanReply({ speaker: "b.png", text: bad("да") }).text, "да\ufffd");
  assert.ok(r.invoke("warnings").length > 0, "and a warning tells");
});

test("stale and unexpected steps are ignored", () => {
  const r = room();
  const before = JSON.stringify(r.snapshot().scene);
  for (const input of [
    { type: "reply", request: "zzz", text: "x" },
    { type: "chunk", request: "zzz", text: "x" },
    { type: "wire", request: "zzz", text: "x", end: true },
    { type: "fail", request: "zzz", code: "network" },
    { type: "timeout", request: "zzz" },
    { type: "elapsed", wait: "zzz" },
  ]) {
    assert.deepEqual(r.step(input), [{ type: "ignored", reason: "stale", request: "zzz" }], input.type);
  }
  assert.deepEqual(r.step({ type: "abort" }), []);
  assert.equal(JSON.stringify(r.snapshot().scene), before);

  const first = r.step({ type: "start", speaker: "a.png", userMessage: "x" }).find((o) => o.type === "request").id;
  assert.deepEqual(r.step({ type: "start", userMessage: "y" }), [{ type: "refused", code: "room.busy" }]);
  refused(() => r.update({ persona: { name: "Z" } }), "room.busy", "");
  r.step({ type: "reply", request: first, text: "one" });
  const chat = JSON.stringify(r.chat);
  assert.equal(r.step({ type: "reply", request: first, text: "two" })[0].type, "ignored");
  assert.equal(JSON.stringify(r.chat), chat);
});

test("after free() every method says so", () => {
  const r = room();
  r.free();
  r.free();
  for (const action of [
    () => r.nextSpeakers(),
    () => r.buildRequest(),
    () => r.cleanReply({ text: "" }),
    () => r.step({ type: "abort" }),
    () => r.inspect(),
    () => r.update({}),
    () => r.chat,
    () => r.snapshot(),
    () => r.invoke("chat"),
  ]) {
    refused(action, "room.closed", "");
  }
});

test("keys that are special in JavaScript are plain keys", () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
  const s = {
    characters: names.map((n) => ({ avatar: n, card: card(n, `I am ${n}.`) })),
    group: { members: names, activation_strategy: 1 },
    persona: { name: "prototype" },
    variables: { global: JSON.parse('{"__proto__": "v", "constructor": "w"}') },
  };
  const r = room(s);
  assert.deepEqual(r.nextSpeakers({ userMessage: "x" }).speakers.map((p) => p.name), names);
  assert.match(r.buildRequest({ speaker: "__proto__", userMessage: "x" }).request.body, /I am __proto__\./);
  assert.equal(expandMacros("{{getglobalvar::__proto__}}{{getglobalvar::toString}}", s, fixed), "v");
  const raw = JSON.stringify(scene()).replace(/^\{/, '{"__proto__":{"polluted":1},"constructor":5,');
  assert.equal(new Room(raw, fixed).nextSpeakers({ userMessage: "Anna" }).speakers[0].name, "Anna");
  assert.equal({}.polluted, undefined);
  refused(() => room(scene(), JSON.parse('{"__proto__":1,"toString":1}')), "option.unknown", "__proto__");
});
