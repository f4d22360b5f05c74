// The tokenizer by itself, through the package: counts, ids, texts, and a text that grows.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Tokenizer, countTokens, load, loadTokenizer } from "../pkg/index.js";
import o200k from "../pkg/tokenizers/o200k_base.js";
import cl100k from "../pkg/tokenizers/cl100k_base.js";

const TEXTS = [
  "",
  "Hello there, don't stop",
  "夜の川に舟が浮かぶ。",
  "她说：“别走。”",
  "Он не вернулся — и не надо!",
  "오늘 밤은 조용해요",
  "ราตรีสวัสดิ์ครับ",
  "مساء الخير يا صديقي",
  "👩‍👩‍👧‍👦🏳️‍🌈 ok",
  "  two\n\n\n   blanks \t ",
  "hi <|endoftext|> there",
  "half \ud83d and \udc00 pairs",
  "fn main() { let x = vec![1, 22, 333, 4444]; }\n",
];

before(() => load());

for (const [vocabulary, hello] of [[o200k, [13225, 1354]], [cl100k, [9906, 1070]]]) {
  test(`${vocabulary.encoding}: counts, ids and texts agree with each other`, async () => {
    const name = await loadTokenizer(vocabulary);
    using_(new Tokenizer(name), (tokenizer) => {
      assert.equal(tokenizer.encoding, vocabulary.encoding);
      assert.deepEqual([...tokenizer.encode("Hello there")], hello);
      for (const text of TEXTS) {
        const ids = tokenizer.encode(text);
        assert.equal(tokenizer.count(text), ids.length, JSON.stringify(text));
        assert.equal(countTokens(text, { tokenizer: name }).tokens, ids.length);
        assert.equal(tokenizer.decode(ids), text.toWellFormed());
        assert.equal(tokenizer.countUpTo(text, 1000), ids.length);
      }
      assert.deepEqual([...tokenizer.countEach(TEXTS)], TEXTS.map((text) => tokenizer.count(text)));
      assert.ok(tokenizer.countUpTo("word ".repeat(100_000), 50) > 50);
      assert.equal(tokenizer.decode([]), "");
      assert.throws(() => tokenizer.decode([1, 4_000_000_000]), { code: "option.unknown", path: "ids[1]" });
    });
  });
}

test("a text that grows counts as it would as a whole, at every step", async () => {
  const tokenizer = new Tokenizer(await loadTokenizer(o200k));
  const text = TEXTS.join(" | ").toWellFormed().repeat(3);
  for (const step of [1, 2, 3, 7, 50]) {
    const stream = tokenizer.stream();
    let so = "";
    for (let at = 0; at < text.length; at += step) {
      so += text.slice(at, at + step);
      // Half a pair at the end waits.
      assert.equal(stream.add(text.slice(at, at + step)), tokenizer.count(so.replace(/[\ud800-\udbff]$/, "")), `${step}: ${JSON.stringify(so.slice(-20))}`);
    }
    assert.equal(stream.tokens, tokenizer.count(text));
    stream.free();
  }
  tokenizer.free();
});

test("a name that is not loaded is a typed error", () => {
  assert.throws(() => new Tokenizer("p50k_base"), { code: "option.unknown", path: "tokenizer" });
});

/** `using` without the syntax, which Node 20 does not have. */
function using_(resource, action) {
  try {
    return action(resource);
  } finally {
    resource[Symbol.dispose]();
  }
}
