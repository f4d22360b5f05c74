// Files that others ship, read and written back: SillyTavern's default content and a RisuAI card. Other readers of cards are the judges
// of conversion between versions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { detectFile, extractAsset, isPromptsideError, load, readFile, writeCard, writeCharx, writeFile } from "../pkg/index.js";
import { contentOf, install, npmFiles, unzip } from "./peer.mjs";

await load();
const content = contentOf("default/content/");
const risu = npmFiles("@risuai/ccardlib@0.4.2", "testResult.json")?.get("testResult.json");
const skip = content && risu ? false : "no network";
const of = (path) => content.get(`default/content/${path}`);
const json = (bytes) => JSON.parse(Buffer.from(bytes).toString("utf8"));
const bytes = (value) => Buffer.from(JSON.stringify(value));
const codes = (read) => read.warnings.map((w) => w.code);

/** Type and bytes of each chunk. */
function chunks(png) {
  const out = [];
  for (let at = 8; at < png.length; ) {
    const size = png.readUInt32BE(at);
    out.push({ type: png.toString("latin1", at + 4, at + 8), all: png.subarray(at, at + 12 + size), data: png.subarray(at + 8, at + 8 + size) });
    at += 12 + size;
  }
  return out;
}

/** The same card with fields that nobody knows, at every level. */
function strange(source) {
  const card = structuredClone(source);
  card.x_top = { "键": ["值", null, 1.5] };
  card.data.x_data = "Ünknown 🌧️";
  card.data.extensions.x_extension = { deep: [{ a: false }] };
  card.data.character_book.x_book = 7;
  card.data.character_book.entries[0].x_entry = "запись";
  card.data.character_book.entries[0].extensions.x_inner = { "ключ": "ค่า" };
  return card;
}

/** Every way to write a card gives the card again, whether it was read or stands as in its file. */
function survives(source, picture) {
  const card = strange(source);
  const read = readFile(bytes(card), { source: true });
  assert.deepEqual(read.source, card);
  const archive = writeCharx(card, { "assets/icon/image/main.png": picture });
  for (const [name, from] of [["as in the file", read.source], ["as read", read.card]]) {
    const written = {
      json: writeCard(from),
      "json, V3": writeCard(from, undefined, { version: 3 }),
      png: writeCard(from, picture),
      charx: writeCharx(from),
      "into charx": writeCard(from, archive),
      file: writeFile("card", from),
    };
    for (const [form, file] of Object.entries(written)) {
      const where = `${name}, ${form}`;
      const again = readFile(file, { source: true });
      assert.equal(again.kind, "card", where);
      assert.equal(again.container, /json|file/.test(form) ? "json" : form.split(" ").at(-1), where);
      assert.deepEqual(codes(again).filter((code) => code !== "asset-missing"), [], where);
      assert.deepEqual({ ...again.card, spec: 0, spec_version: 0 }, { ...read.card, spec: 0, spec_version: 0 }, where);
      // As they stand: also the order of the keys.
      assert.equal(JSON.stringify(again.source.data), JSON.stringify(from === read.card ? read.card.data : normal(card.data, again.source.data)), where);
      assert.deepEqual(again.source.x_top, card.x_top, where);
      assert.equal(again.source.spec, /json$|file/.test(form) ? "chara_card_v2" : "chara_card_v3", where);
    }
  }
}

/** The data of a card with the fields that were not there; the known ones keep their places. */
const normal = (data, written) => ({ ...data, ...Object.fromEntries(Object.entries(written).filter(([key]) => !(key in data))) });

test("Seraphina: a V3 card behind the pixels", { skip }, () => {
  const file = of("default_Seraphina.png");
  assert.equal(file.length, 551_901);
  assert.deepEqual(chunks(file).map((c) => c.type), ["IHDR", "IDAT", "tEXt", "tEXt", "IEND"]);
  assert.deepEqual(detectFile(file), { kind: "card", container: "png" });
  const read = readFile(file, { source: true });
  assert.equal(read.chunk, "ccv3");
  assert.deepEqual(read.warnings, []);
  assert.equal(read.card.spec, "chara_card_v3");
  assert.equal(read.card.data.name, "Seraphina");
  assert.equal(read.card.data.extensions.talkativeness, "0.5");
  assert.deepEqual(read.card.effective, { talkativeness: 0.5, fav: false, world: "Eldoria", depth_prompt: { prompt: "", depth: 4, role: "system" } });
  assert.equal(read.card.book.entries.length, 4);

  // Into its own picture: the pixels stay, the two chunks are replaced.
  const again = chunks(Buffer.from(writeCard(read.source, file)));
  assert.deepEqual(again.map((c) => c.type), ["IHDR", "IDAT", "tEXt", "tEXt", "IEND"]);
  for (const i of [0, 1, 4]) assert.deepEqual(again[i].all, chunks(file)[i].all);
  const texts = again.slice(2, 4).map((c) => c.data.toString("latin1").split("\0"));
  assert.deepEqual(texts.map(([keyword]) => keyword), ["chara", "ccv3"]);
  const [v2, v3] = texts.map(([, text]) => JSON.parse(Buffer.from(text, "base64").toString("utf8")));
  assert.deepEqual(v3, read.source);
  assert.deepEqual(v2, { ...read.source, spec: "chara_card_v2", spec_version: "2.0" });

  survives(read.source, file);
  const shared = json(writeCard({ ...read.source, fav: true, chat: "secret" }, undefined, { sharing: true }));
  assert.ok(!("fav" in shared) && !("chat" in shared) && !("fav" in shared.data.extensions));
});

test("Eldoria: a world file", { skip }, () => {
  const file = of("Eldoria.json");
  assert.deepEqual(detectFile(file), { kind: "lorebook", container: "json" });
  const { lorebook, source, warnings } = readFile(file, { source: true });
  assert.deepEqual(warnings, []);
  assert.deepEqual(source, json(file));
  assert.equal(lorebook.entries.length, 4);
  assert.equal(lorebook.entries.flatMap((e) => e.key).length, 15);
  for (const entry of Object.values(source.entries)) assert.ok(!("selectiveLogic" in entry) && entry.matchWholeWords === null);
  for (const entry of lorebook.entries) assert.deepEqual([entry.selectiveLogic, entry.matchWholeWords], [0, null]);
  // The card's own book is the same one.
  const own = readFile(of("default_Seraphina.png")).card.book;
  assert.deepEqual(own.entries.map((e) => [e.key, e.content]), lorebook.entries.map((e) => [e.key, e.content]));

  source.entries[0].x_entry = { "未知": 1 };
  source.x_book = "книга";
  const strangeBook = readFile(bytes(source)).lorebook;
  const world = readFile(writeFile("lorebook", source), { source: true });
  assert.deepEqual(world.lorebook, strangeBook);
  for (const [uid, entry] of Object.entries(source.entries)) {
    const written = world.source.entries[uid];
    // Types are put right (`role: null` is 0), nothing is lost.
    assert.deepEqual(Object.keys(entry).filter((key) => !(key in written)), []);
    assert.deepEqual([written.x_entry, written.content], [entry.x_entry, entry.content]);
  }
  assert.equal(world.source.x_book, "книга");
  assert.deepEqual(readFile(writeFile("lorebook", lorebook)).lorebook, lorebook);

  // As the book of a card, and back.
  const book = json(writeFile("lorebook", source, { characterBook: true }));
  assert.ok(Array.isArray(book.entries) && book.entries.every((e) => Array.isArray(e.keys) && e.enabled === true));
  const back = readFile(writeFile("lorebook", book), { source: true });
  assert.deepEqual(back.lorebook.entries, world.lorebook.entries);
  assert.deepEqual(back.source.entries[0].x_entry, { "未知": 1 });
});

test("settings of a fresh installation", { skip }, () => {
  const settings = json(of("settings.json"));
  // The whole is no file of a kind, and the error says what it holds.
  const refused = (e) => isPromptsideError(e) && e.code === "file.unknown-shape" && /`firstRun`.*`power_user`|`firstRun`, `username`/.test(e.message);
  assert.throws(() => readFile(of("settings.json")), refused);
  assert.throws(() => detectFile(of("settings.json")), refused);

  const { kind, preset, warnings } = readFile(bytes(settings.oai_settings));
  assert.equal(kind, "preset-chat");
  assert.deepEqual(warnings, []);
  assert.deepEqual(preset, settings.oai_settings);
  assert.equal(preset.prompts.length, 11);
  assert.deepEqual(preset.prompt_order.map((o) => o.order.length), [11]);
  const secret = { ...settings.oai_settings, proxy_password: "p", custom_url: "http://10.0.0.1" };
  assert.deepEqual(codes(readFile(bytes(secret))), ["sensitive-field", "sensitive-field"]);
  const shared = json(writeFile("preset-chat", secret, { sharing: true }));
  assert.ok(!("proxy_password" in shared) && !("custom_url" in shared) && shared.prompts.length === 11);
  for (const [part, is] of [["textgenerationwebui_settings", "preset-textgen"], ["kai_settings", "preset-textgen"]]) {
    assert.equal(readFile(bytes(settings[part])).kind, is, part);
  }
});

test("presets", { skip }, () => {
  const kinds = { openai: ["chat", 1], instruct: ["instruct", 38], context: ["context", 34], sysprompt: ["sysprompt", 13], reasoning: ["reasoning", 5], textgen: ["textgen", 6], kobold: ["textgen", 6] };
  for (const [folder, [name, count]] of Object.entries(kinds)) {
    const kind = `preset-${name}`;
    const files = [...content].filter(([path]) => path.startsWith(`default/content/presets/${folder}/`));
    assert.equal(files.length, count, folder);
    for (const [path, file] of files) {
      assert.deepEqual(detectFile(file), { kind, container: "json" }, path);
      const read = readFile(file, { source: true });
      assert.equal(read.kind, kind, path);
      assert.deepEqual(read.warnings, [], path);
      // As it stands in the file it is written again, to the order of keys, with what nobody knows.
      const source = { ...json(file), x_unknown: ["未知", { a: null }] };
      assert.equal(JSON.stringify(json(writeFile(kind, source))), JSON.stringify(source), path);
      const strangePreset = readFile(bytes(source)).preset;
      assert.deepEqual(strangePreset, { ...read.preset, x_unknown: source.x_unknown }, path);
      assert.deepEqual(readFile(writeFile(kind, strangePreset)).preset, strangePreset, path);
    }
  }
  // NovelAI's have no rule by which to know them.
  for (const [path, file] of content) {
    if (path.includes("/presets/novel/")) assert.throws(() => readFile(file), (e) => e.code === "file.unknown-shape", path);
  }
});

test("templates in one file", { skip }, () => {
  const part = (folder, name) => json(of(`presets/${folder}/${name}.json`));
  const master = { instruct: part("instruct", "ChatML"), context: part("context", "ChatML"), sysprompt: part("sysprompt", "Roleplay - Simple"), reasoning: part("reasoning", "DeepSeek"), x: 1 };
  const read = readFile(bytes(master), { source: true });
  assert.equal(read.kind, "preset-master");
  assert.deepEqual(read.sections, ["instruct", "context", "sysprompt", "reasoning"]);
  assert.deepEqual(json(writeFile("preset-master", read.source)), master);
  const shared = json(writeFile("preset-master", { ...master, instruct: { ...master.instruct, enabled: true } }, { sharing: true }));
  assert.equal(shared.instruct.enabled, undefined);
});

test("pictures without a card", { skip }, () => {
  const pictures = [...content].filter(([path]) => path.endsWith(".png") && !path.endsWith("default_Seraphina.png"));
  assert.ok(pictures.length > 25);
  for (const [path, file] of pictures) assert.throws(() => readFile(file), (e) => e.code === "file.no-card-data", path);
  // One of them takes a card.
  const [, picture] = pictures[0];
  assert.equal(readFile(writeCard({ name: "洛恩" }, picture)).card.data.name, "洛恩");
});

test("a RisuAI card", { skip }, () => {
  assert.deepEqual(detectFile(risu), { kind: "card", container: "json" });
  const { card, source, warnings } = readFile(risu, { source: true });
  assert.deepEqual(warnings, []);
  assert.deepEqual(source, json(risu));
  assert.deepEqual([card.spec, card.spec_version], ["chara_card_v3", "3.0"]);
  assert.equal(card.book.entries.length, 66);
  assert.equal(card.book.entries.filter((e) => e.constant).length, 4);
  assert.equal(card.book.entries.filter((e) => /[^\0-\x7f]/.test(e.content)).length, 8);
  assert.equal(card.data.alternate_greetings.length, 3);
  assert.ok(card.data.post_history_instructions.length > 500);
  assert.ok(card.data.extensions.risuai.customScripts.length > 0);
  assert.equal(card.data.assets.length, 51);
  assert.deepEqual([...new Set(card.data.assets.map((a) => a.uri.replace(/\d+$/, "N")))], ["ccdefault:", "__asset:N"]);
  survives(source, of("default_Seraphina.png"));

  // In an archive, with its assets: 49 come along, one is missing.
  const addresses = card.data.assets.map((a) => a.uri).filter((uri) => uri.startsWith("__asset:"));
  assert.equal(addresses.length, 50);
  const own = (uri) => Buffer.from(`bytes of ${uri} \0 图`);
  const archive = writeCharx(source, Object.fromEntries(addresses.slice(1).map((uri) => [uri.slice("__asset:".length), own(uri)])));
  const read = readFile(archive, { source: true });
  assert.equal(read.container, "charx");
  assert.deepEqual(codes(read), ["asset-missing"]);
  assert.deepEqual(read.source, source);
  assert.equal(read.assets.length, 51);
  assert.deepEqual(read.assets.map((a) => a.size), [null, null, ...addresses.slice(1).map((uri) => own(uri).length)]);
  for (const uri of addresses.slice(1)) assert.deepEqual(Buffer.from(extractAsset(archive, uri)), own(uri), uri);
  assert.equal(extractAsset(archive, addresses[0]), undefined);
  assert.throws(() => writeCharx(source, { "../card.json": own("x") }), (e) => e.code === "scene.field");
  // Another reader of archives finds the same; a changed card leaves the rest alone.
  const entries = unzip(Buffer.from(archive));
  assert.deepEqual(json(entries.get("card.json")), source);
  const renamed = structuredClone(source);
  renamed.data.name = "Чужая";
  const changed = unzip(Buffer.from(writeCard(renamed, archive)));
  assert.deepEqual([...changed.keys()].sort(), [...entries.keys()].sort());
  assert.equal(json(changed.get("card.json")).data.name, "Чужая");
  for (const [path, data] of entries) if (path !== "card.json") assert.deepEqual(changed.get(path), data, path);
});

test("other readers agree on V1, V2 and V3", { skip }, async () => {
  assert.equal(install("cards"), undefined);
  const { CCardLib } = await import("./cards/node_modules/@risuai/ccardlib/dist/index.js");
  const utils = (await import("./cards/node_modules/character-card-utils/lib/index.js")).default;
  const v1 = { name: "洛恩", description: "An old hunter of {{user}}.", personality: "тихий", scenario: "雨の夜。", first_mes: "*nods* 🌧️", mes_example: "<START>\n{{user}}: hi" };
  const versions = { v1, v2: json(writeCard(v1)), v3: json(writeCard(v1, undefined, { version: 3 })) };
  for (const [version, card] of Object.entries(versions)) assert.equal(CCardLib.character.check(card), version);
  // What they make of the same V1 card is what we make of it, as far as their versions of the format go.
  assert.deepEqual(pickOf(versions.v2.data, utils.v1ToV2(v1).data), utils.v1ToV2(v1).data);
  const theirs = { v2: CCardLib.character.convert(v1, { to: "v2" }), v3: CCardLib.character.convert(v1, { to: "v3" }) };
  // CCardLib fills optional fields, and names an unknown creator.
  const INVENTED = ["character_book", "assets", "nickname", "creator_notes_multilingual", "source", "creation_date", "modification_date", "creator", "character_version"];
  for (const { data } of Object.values(theirs)) for (const key of INVENTED) delete data[key];
  for (const version of ["v2", "v3"]) assert.deepEqual(pickOf(versions[version].data, theirs[version].data), theirs[version].data, version);
  assert.deepEqual(CCardLib.character.convert(versions.v3, { to: "v1" }), v1);
  // And we read theirs as we read our own.
  for (const version of ["v2", "v3"]) assert.deepEqual(readFile(bytes(theirs[version])).card, readFile(bytes(versions[version])).card, version);

  // Real cards as we write them pass their checks, the strict ones too.
  for (const file of [of("default_Seraphina.png"), risu]) {
    const { source, card } = readFile(file, { source: true });
    // SillyTavern leaves this out of its books, which stay as they are.
    source.data.character_book.extensions ??= {};
    // Without the copies for readers of V1, which CCardLib takes for V1.
    const [v2, v3] = [2, 3].map((version) => pickOf(json(writeCard(source, undefined, { version })), { spec: 0, spec_version: 0, data: 0 }));
    assert.equal(CCardLib.character.check(v2), "v2", card.data.name);
    assert.equal(CCardLib.character.check(v3), "v3", card.data.name);
    assert.ok(utils.v2.safeParse(v2).success, JSON.stringify(utils.v2.safeParse(v2).error?.issues));
    // Their V1 of our V3 has our texts.
    const texts = CCardLib.character.convert(v3, { to: "v1" });
    assert.deepEqual(texts, pickOf(card.data, v1));
  }
});

/** The fields of one object that another has. */
function pickOf(object, fields) {
  return Object.fromEntries(Object.keys(fields).map((key) => [key, object[key]]));
}
