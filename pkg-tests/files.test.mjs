// Files of every kind through the package: told by their bytes, read with options, written so that they read the same.
import assert from "node:assert/strict";
import { test } from "node:test";
import { detectFile, extractAsset, isPromptsideError, load, readFile, writeCard, writeCharx, writeFile } from "../pkg/index.js";

await load();
const bytes = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
const text = (written) => Buffer.from(written).toString("utf8");
const refused = (action, code, path) => assert.throws(action, (e) => isPromptsideError(e) && e.code === code && (path === undefined || e.path === path), code);

const files = {
  chat: [
    { chat_metadata: { note_prompt: "夜", x: [1] }, user_name: "unused", character_name: "unused" },
    { name: "旅人", is_user: true, is_system: false, mes: "Привет 🌧️", send_date: "2024-07-12@01h31m37s123ms", extra: {}, x_unknown: { "键": null } },
    { name: "洛恩", is_user: false, is_system: false, mes: "在。", send_date: 1_700_000_000_000, extra: { model: "m" }, swipes: ["在。", "เปล่า"], swipe_id: 0 },
  ],
  group: { id: "1700000000000", name: "渡口", members: ["a.png", "б.png"], disabled_members: [], activation_strategy: 2, chat_id: "c", chats: ["c"], x: 1, fav: true },
  personas: { personas: { "a.png": "旅人" }, persona_descriptions: { "a.png": { description: "حارس الليل", position: 4, depth: 3, role: 1, lorebook: "林地", title: "守夜人", connections: [{ type: "group", id: "1" }] } }, default_persona: "a.png" },
  regex: [{ id: "1", scriptName: "звёзды", findRegex: "/\\*+/g", replaceString: "★", trimStrings: [], placement: [2], disabled: false, markdownOnly: true, promptOnly: false, runOnEdit: false, substituteRegex: 0, minDepth: null, maxDepth: 4, x: "未知" }],
  prompts: { version: 1, type: "full", data: { prompts: [{ identifier: "main", name: "Main", content: "写。", x: 1 }], prompt_order: null } },
  "preset-chat": { chat_completion_source: "openai", prompts: [], prompt_order: [], x: "🌧️" },
  lorebook: { entries: { 3: { uid: 3, key: ["塔", "tower"], keysecondary: [], comment: "塔", content: "北边的塔在烧。", x: [true] } }, name: "林地" },
};

for (const [kind, source] of Object.entries(files)) {
  test(`${kind}: read, written, read`, () => {
    const file = kind === "chat" ? bytes(source.map((line) => JSON.stringify(line)).join("\n")) : bytes(source);
    const container = kind === "chat" ? "jsonl" : "json";
    assert.deepEqual(detectFile(file), { kind, container });
    const read = readFile(file, { source: true });
    assert.deepEqual([read.kind, read.container, read.warnings], [kind, container, []]);
    assert.deepEqual(read.source, source);
    const value = read[kind] ?? read.preset;
    for (const from of [read.source, value]) {
      const again = readFile(writeFile(kind, from));
      assert.deepEqual(again[kind] ?? again.preset, value);
      assert.deepEqual(again.warnings, []);
    }
    if (kind === "chat") assert.equal(text(writeFile(kind, source)), file.toString());
    else if (kind !== "lorebook") assert.equal(JSON.stringify(JSON.parse(text(writeFile(kind, source)))), JSON.stringify(source));
    if (kind === "group") assert.ok(!text(writeFile(kind, source, { sharing: true })).includes("fav"));
    assert.equal("source" in readFile(file), false, "only when asked for");
  });
}

test("chats that name nobody", () => {
  const file = bytes({ data_visible: [["", "你好"], ["привет", "嗯"]] });
  const names = (options) => readFile(file, options).chat.messages.map((m) => m.name);
  assert.deepEqual(names({}), ["Character", "User", "Character"]);
  assert.deepEqual(names({ names: { user: "旅人", character: "洛恩" } }), ["洛恩", "旅人", "洛恩"]);
});

test("limits, and what is no option", () => {
  const file = bytes({ name: "洛恩", description: "…" });
  refused(() => readFile(file, { limits: { file_bytes: 8 } }), "file.too-large");
  refused(() => detectFile(file, { limits: { file_bytes: 8 } }), "file.too-large");
  refused(() => readFile(file, { limits: { fil_bytes: 8 } }), "option.unknown", "limits.fil_bytes");
  refused(() => readFile(file, { limits: { file_bytes: -1 } }), "option.unknown", "limits.file_bytes");
  refused(() => writeFile("banana", {}), "option.unknown", "kind");
  refused(() => writeFile("chat", 7), "scene.field", "chat");
  refused(() => writeCard({ name: "x" }, undefined, { version: 4 }), "option.unknown", "version");
  refused(() => detectFile("text"), "input.not_bytes", "bytes");
  refused(() => detectFile(bytes('{"a":1}')), "file.unknown-shape");
});

test("assets", () => {
  const card = { spec: "chara_card_v3", spec_version: "3.0", data: { name: "洛恩", assets: [{ type: "icon", name: "main", uri: "embeded://图/main.png", ext: "png" }], extensions: { fav: true } }, chat: "secret" };
  const picture = new Uint8Array([137, 80, 78, 71, 0, 255]);
  const archive = writeCharx(card, { "图/main.png": picture, "./b/../leer.bin": new ArrayBuffer(0) });
  assert.deepEqual(detectFile(archive), { kind: "card", container: "charx" });
  assert.deepEqual(writeCharx(card, { "图/main.png": picture, "leer.bin": new Uint8Array() }), archive, "the same bytes every time");
  const { assets } = readFile(archive);
  assert.deepEqual(assets, [{ type: "icon", name: "main", ext: "png", path: "图/main.png", size: 6 }]);
  for (const address of [card.data.assets[0].uri, assets[0].path]) assert.deepEqual(extractAsset(archive, address), picture);
  assert.deepEqual(extractAsset(archive, "leer.bin"), new Uint8Array());
  assert.equal(extractAsset(archive, "embeded://none.png"), undefined);
  assert.equal(extractAsset(archive, "https://example.org/a.png"), undefined);
  assert.deepEqual(extractAsset(new Uint8Array(), "data:text/plain;base64,5aGU"), Uint8Array.from(Buffer.from("塔")));
  // Another card: assets stay. Behind a picture it is an archive too. For others, nothing private.
  const shared = writeCard({ ...card, fav: true }, Buffer.concat([Buffer.from([255, 216, 255, 224]), archive]), { sharing: true });
  const { source } = readFile(shared, { source: true });
  assert.deepEqual(extractAsset(shared, "图/main.png"), picture);
  assert.ok(!("fav" in source) && !("chat" in source) && !("fav" in source.data.extensions));
  refused(() => writeCharx(card, { "a.png": picture, "./a.png": picture }), "scene.field", "assets");
  refused(() => writeCharx(card, { "a.png": "text" }), "input.not_bytes", "bytes");
});
