// Files that would fill the memory: the right error, or what was asked for, within so much of the module's (docs/files.md).
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { extractAsset, readFile } from "../pkg/index.js";
import { MB, entry, png, refused, within, zip } from "./watched.mjs";

test("what would inflate to 200 MB", () => {
  const SIZE = 200 * MB;
  const card = Buffer.alloc(SIZE, "a");
  card.write('{"name":"x","description":"', 0);
  card.write('"}', SIZE - 2);
  const bomb = entry("card.json", card);
  const file = zip([bomb]);
  assert.ok(file.length < MB);
  // A lower limit is a lower peak.
  refused("archive with a card of 200 MB, 1 MiB allowed", 6, "file.too-large", () => readFile(file, { limits: { inflated_bytes: MB } }));
  refused("the same, 64 MiB allowed", 210, "file.too-large", () => readFile(file));
  // The size that the archive states is not believed.
  refused("the same, said to be small", 10, "file.too-large", () => readFile(zip([{ ...bomb, claims: 1000 }])));
  refused("compressed chunk of 200 MB", 10, "file.too-large", () => readFile(png(["zTXt", Buffer.concat([Buffer.from("chara\0\0"), deflateSync(card, { level: 9 })])])));

  // A large asset is listed without being inflated; taking it out is bounded too.
  const small = Buffer.from(JSON.stringify({ spec: "chara_card_v3", spec_version: "3.0", data: { name: "x", assets: [{ type: "icon", name: "main", uri: "embeded://a.png", ext: "png" }] } }));
  const withAsset = zip([entry("card.json", small), { ...bomb, name: "a.png" }]);
  const read = within("asset of 200 MB, listed", 1, () => readFile(withAsset));
  assert.deepEqual(read.assets, [{ type: "icon", name: "main", ext: "png", path: "a.png", size: SIZE }]);
  refused("asset of 200 MB, 16 MiB allowed", 10, "file.too-large", () => extractAsset(withAsset, "embeded://a.png", { limits: { zip_bytes: 16 * MB } }));
  assert.equal(within("asset of 200 MB, extracted", 620, () => extractAsset(withAsset, "embeded://a.png")).length, SIZE);
  // The module goes on.
  assert.equal(readFile(small).card.data.name, "x");
});

test("sizes that a file only claims", () => {
  const many = Array.from({ length: 10_001 }, (_, i) => entry(`${i}`, Buffer.alloc(0)));
  refused("10 001 entries", 8, "file.too-large", () => readFile(zip(many)));
  const liar = png(["tEXt", Buffer.from("chara\0e30=")]);
  liar.writeUInt32BE(0x7fffffff, liar.length - 12 - 22);
  refused("chunk of 2 GB, by its own word", 1, "file.png-truncated", () => readFile(liar));
  refused("file over the limit", 12, "file.too-large", () => readFile(Buffer.alloc(10 * MB, " "), { limits: { file_bytes: MB } }));
});
