// Large files and hostile ones through the package: the right result or the right error, and how much the module's memory grows.
// `MEASURE=1` prints the figures of docs/files.md.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as zlib from "node:zlib";
import { extractAsset, isPromptsideError, load, readFile, writeCard, writeCharx } from "../pkg/index.js";

const MB = 1 << 20;

// The module's memory, seen as it is made.
let memory;
const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = async (...args) => {
  const made = await instantiate(...args);
  memory = (made.instance ?? made).exports.memory;
  return made;
};
await load();
WebAssembly.instantiate = instantiate;

/** Runs an action; the module may not grow beyond so many megabytes. Memory once taken stays: what grew before counts for nothing. */
function within(name, megabytes, action) {
  const [before, from] = [memory.buffer.byteLength, performance.now()];
  const result = action();
  const [grown, took] = [(memory.buffer.byteLength - before) / MB, performance.now() - from];
  if (process.env.MEASURE) console.log(`${name}: ${took.toFixed(0)} ms, memory +${grown.toFixed(0)} MiB`);
  assert.ok(grown <= megabytes, `${name}: memory grew by ${grown.toFixed(0)} MiB`);
  return result;
}
const refused = (name, megabytes, code, action) => within(name, megabytes, () => assert.throws(action, (e) => isPromptsideError(e) && e.code === code, name));

const { deflateRawSync, deflateSync } = zlib;

/** CRC-32, which Node has from 20.15 on. */
function crc32(bytes) {
  if (zlib.crc32) return zlib.crc32(bytes);
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; k += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** A ZIP of deflated entries; `claims`: the size that an entry says it has. */
function zip(entries) {
  const [locals, directory] = [[], []];
  let offset = 0;
  for (const { name, packed, crc, claims } of entries) {
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    const common = Buffer.alloc(26);
    [20, 0x800, 8, 0, 0x21].forEach((n, i) => common.writeUInt16LE(n, 2 * i));
    [crc, packed.length, claims].forEach((n, i) => common.writeUInt32LE(n, 10 + 4 * i));
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    common.copy(local, 4);
    locals.push(local, Buffer.from(name), packed);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(20, 4);
    common.copy(entry, 6);
    entry.writeUInt32LE(offset, 42);
    directory.push(entry, Buffer.from(name));
    offset += 30 + Buffer.byteLength(name) + packed.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  [8, 10].forEach((at) => end.writeUInt16LE(entries.length, at));
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, listed, end]);
}
const entry = (name, bytes, claims = bytes.length) => ({ name, packed: deflateRawSync(bytes, { level: 9 }), crc: crc32(bytes), claims });

function png(...chunks) {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const [head, tail] = [Buffer.alloc(4), Buffer.alloc(4)];
    head.writeUInt32BE(data.length, 0);
    tail.writeUInt32BE(crc32(body), 0);
    return Buffer.concat([head, body, tail]);
  };
  const size = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]);
  const parts = [chunk("IHDR", size), chunk("IDAT", deflateSync(Buffer.alloc(2))), ...chunks.map(([type, data]) => chunk(type, data)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...parts]);
}

/** A card of ten megabytes, as big cards are: many lorebook entries in several scripts. */
function bigCard() {
  const texts = ["The tower in the north burned for three days. ", "北边的塔烧了三天三夜，没有人敢靠近。", "Башня на севере горела три дня. ", "หอคอยทางเหนือ 🔥 "];
  const entries = Array.from({ length: 3000 }, (_, i) => ({ id: i, keys: [`tower ${i}`, `塔${i}`], content: texts[i % 4].repeat(40 + (i % 37)), extensions: { x: { i } }, enabled: true, insertion_order: i }));
  const card = { spec: "chara_card_v3", spec_version: "3.0", data: { name: "洛恩", description: "", first_mes: "", extensions: {}, group_only_greetings: [], character_book: { extensions: {}, entries } } };
  const left = 10 * MB - Buffer.byteLength(JSON.stringify(card));
  card.data.description = "An old hunter. ".repeat(Math.ceil(left / 15));
  return card;
}

const card = bigCard();
const text = Buffer.from(JSON.stringify(card));

test("a card of 10 MB", () => {
  assert.ok(text.length >= 10 * MB && text.length < 10.1 * MB);
  const files = {
    JSON: text,
    PNG: png(["tEXt", Buffer.from(`ccv3\0${text.toString("base64")}`)]),
    "PNG, compressed": png(["zTXt", Buffer.concat([Buffer.from("ccv3\0\0"), deflateSync(Buffer.from(text.toString("base64")))])]),
    CHARX: zip([entry("card.json", text)]),
  };
  for (const [name, file] of Object.entries(files)) {
    const read = within(`10 MB card, ${name}`, 160, () => readFile(file));
    assert.equal(read.card.book.entries.length, 3000, name);
    assert.equal(read.card.data.description, card.data.description, name);
    assert.deepEqual(read.card.data.character_book, card.data.character_book, name);
  }
  const picture = png();
  const written = within("10 MB card, written into a PNG", 160, () => writeCard(card, picture));
  assert.deepEqual(readFile(written).card.data.character_book, card.data.character_book);
  const archive = within("10 MB card, written as CHARX", 160, () => writeCharx(card));
  assert.deepEqual(readFile(archive).card.data.character_book, card.data.character_book);
});

test("what would inflate to 200 MB", () => {
  const SIZE = 200 * MB;
  const card = Buffer.alloc(SIZE, "a");
  card.write('{"name":"x","description":"', 0);
  card.write('"}', SIZE - 2);
  const bomb = entry("card.json", card);
  const file = zip([bomb]);
  assert.ok(file.length < MB);
  refused("archive with a card of 200 MB", 140, "file.too-large", () => readFile(file));
  // The size that the archive states is not believed.
  refused("the same, said to be small", 140, "file.too-large", () => readFile(zip([{ ...bomb, claims: 1000 }])));
  refused("compressed chunk of 200 MB", 140, "file.too-large", () => readFile(png(["zTXt", Buffer.concat([Buffer.from("chara\0\0"), deflateSync(card, { level: 9 })])])));
  // A lower limit is a lower peak.
  refused("the same, 1 MiB allowed", 4, "file.too-large", () => readFile(file, { limits: { inflated_bytes: MB } }));

  // A large asset is listed without being inflated; taking it out is bounded too.
  const small = Buffer.from(JSON.stringify({ spec: "chara_card_v3", spec_version: "3.0", data: { name: "x", assets: [{ type: "icon", name: "main", uri: "embeded://a.png", ext: "png" }] } }));
  const withAsset = zip([entry("card.json", small), entry("a.png", card)]);
  const read = within("asset of 200 MB, listed", 1, () => readFile(withAsset));
  assert.deepEqual(read.assets, [{ type: "icon", name: "main", ext: "png", path: "a.png", size: SIZE }]);
  refused("asset of 200 MB, 16 MiB allowed", 40, "file.too-large", () => extractAsset(withAsset, "embeded://a.png", { limits: { zip_bytes: 16 * MB } }));
  assert.equal(within("asset of 200 MB, extracted", 600, () => extractAsset(withAsset, "embeded://a.png")).length, SIZE);

  // Many entries, a chunk that says it has two gigabytes, a file over the limit.
  const many = Array.from({ length: 10_001 }, (_, i) => entry(`${i}`, Buffer.alloc(0)));
  refused("10 001 entries", 8, "file.too-large", () => readFile(zip(many)));
  const liar = png(["tEXt", Buffer.from("chara\0e30=")]);
  liar.writeUInt32BE(0x7fffffff, liar.length - 12 - 22);
  refused("chunk of 2 GB, by its own word", 1, "file.png-truncated", () => readFile(liar));
  refused("file over the limit", 12, "file.too-large", () => readFile(text, { limits: { file_bytes: MB } }));
  // The module goes on.
  assert.equal(readFile(small).card.data.name, "x");
});
