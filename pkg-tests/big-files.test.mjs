// A card of ten megabytes, in each form: read and written, within so much of the module's memory (docs/files.md).
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { readFile, writeCard, writeCharx } from "../pkg/index.js";
import { MB, entry, png, within, zip } from "./watched.mjs";

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
    const read = within(`10 MB card, ${name}`, 200, () => readFile(file));
    assert.equal(read.card.book.entries.length, 3000, name);
    assert.equal(read.card.data.description, card.data.description, name);
    assert.deepEqual(read.card.data.character_book, card.data.character_book, name);
  }
  const picture = png();
  const written = within("10 MB card, written into a PNG", 200, () => writeCard(card, picture));
  assert.deepEqual(readFile(written).card.data.character_book, card.data.character_book);
  const archive = within("10 MB card, written as CHARX", 200, () => writeCharx(card));
  assert.deepEqual(readFile(archive).card.data.character_book, card.data.character_book);
});
