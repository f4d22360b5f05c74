// Memory end to end: a long chat, a small embedding model that runs here behind an OpenAI-compatible server, questions in other
// words than what they ask for. And the same by words alone, in Chinese.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { Room, load, runRound, withKey } from "../pkg/index.js";
import { embedder } from "./embedder/embed.mjs";
import { install } from "./peer.mjs";

await load();

const LENGTH = 200;
const FACT = 10;
const ASKED = 190;

/** 200 messages that talk about nothing in particular, with some that matter. */
function chat(lines, matter, [first, second]) {
  return Array.from({ length: LENGTH }, (_, i) => ({ name: i % 2 ? second : first, is_user: i % 2 === 0, mes: matter[i] ?? lines(i), send_date: i }));
}

const pick = (list, n) => list[n % list.length];

function english(i) {
  const who = ["The miller", "An old sailor", "The baker's wife", "Some children", "A stranger", "The innkeeper", "Two merchants"];
  const does = ["walked past", "talked about", "painted", "looked for", "laughed at", "pointed at", "sat down beside", "asked about", "forgot", "sold", "repaired"];
  const what = ["the stone bridge", "a basket of pears", "the church bell", "their new boots", "the blue door", "a wooden cart", "the garden wall", "a map of the coast", "the cheese stall", "a pair of geese", "the empty well", "a red umbrella", "the chimney"];
  return `${pick(who, i)} ${pick(does, i * 3 + 1)} ${pick(what, i * 5 + 2)}.`;
}

// What is asked for, and the question: no word in common.
const FACTS = [
  { at: FACT, fact: "My brother Tomas drowned when our ferry sank in the storm.", question: "Do you remember how I lost a sibling?" },
  { at: 34, fact: "Ines is scared of spiders and will not enter the cellar.", question: "Which insects frighten her?" },
  { at: 58, fact: "The doctor says peanuts make me ill, they close my throat.", question: "What food am I allergic to?" },
  { at: 86, fact: "We hid the gold coins under the floor of the old barn.", question: "Where is our treasure buried?" },
];
// Near the facts in topic, and not what is asked for.
const NEAR = { 21: "A storm broke two windows of the town hall.", 45: "The fishermen sold fresh mussels at the harbour.", 71: "A cousin of the mayor got married in spring.", 103: "The bank on the square closed early." };

async function serve(embed) {
  const asked = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { input, model } = JSON.parse(Buffer.concat(chunks));
    asked.push({ url: request.url, key: request.headers.authorization, input, model });
    const vectors = await embed(input);
    // In any order, as the protocol allows.
    const data = vectors.map((v, index) => ({ object: "embedding", index, embedding: [...v] })).reverse();
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ object: "list", data, model }));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { server, asked, base: `http://127.0.0.1:${server.address().port}/v1` };
}

/** Does what there is to do: embeds over the network; makes no summaries. */
async function work(room) {
  let embedded = 0;
  for (let jobs = room.memory.pending(); jobs.length > 0; jobs = room.memory.pending()) {
    for (const job of jobs) {
      assert.equal(job.kind, "embed");
      const answer = await fetch(job.request.url, withKey(job.request, "KEY"));
      assert.equal(room.memory.store(job.id, { response: await answer.json() }).status, "kept");
      embedded += job.texts.length;
    }
  }
  return embedded;
}

/** A round with a question; gives the memory's report, and what was sent. */
async function ask(room, question) {
  let memory;
  let sent;
  const send = (request) => {
    sent = JSON.parse(request.body).messages.map((m) => m.content).join("\n");
    return "...";
  };
  for await (const event of runRound(room, { userMessage: question }, { send })) if (event.type === "memory") memory = event.report;
  return { memory, sent };
}

const options = (memory) => ({ tokenizer: "codepoints", random: { seed: 1 }, now: 0, offsetMinutes: 0, locale: "en-US", memory: { summary: { enabled: false }, ...memory } });
const scene = (name, messages) => ({
  characters: [{ avatar: "ines.png", card: { data: { name, description: "" } } }],
  persona: { name: messages[0].name },
  chat: { id: "c", messages },
  // Some twenty messages fit.
  preset: { openai_max_context: 3000, openai_max_tokens: 300 },
});

test("what was told at message 10 is recalled at 190, asked in other words", async (t) => {
  const missing = install("embedder");
  const embed = missing ? undefined : await embedder();
  if (!embed) return t.skip(missing ?? "no network, or no pip");
  const { server, asked, base } = await serve(embed);
  try {
    const matter = { ...NEAR, 189: "Mhm.", [ASKED]: FACTS[0].question, 191: "*She looks away.*" };
    for (const { at, fact } of FACTS) matter[at] = fact;
    const messages = chat(english, matter, ["Marta", "Ines"]);
    const room = new Room(scene("Ines", messages.slice(0, ASKED)), options({ embed: { provider: "custom", base, model: "all-MiniLM-L6-v2" } }));
    const words = new Room(scene("Ines", messages.slice(0, ASKED)), options({}));

    assert.equal(await work(room), ASKED);
    assert.ok(asked.every((a) => a.url === "/v1/embeddings" && a.key === "Bearer KEY" && a.model === "all-MiniLM-L6-v2" && a.input.length <= 32));
    assert.equal(await work(room), 0, "nothing is embedded twice");

    for (const { at, fact, question } of FACTS) {
      const query = room.memory.query({ speaker: "ines.png", userMessage: question });
      assert.ok(query.startsWith(question), query);
      const [vector] = await embed([query]);
      room.memory.setQuery(query, vector);
      const { memory, sent } = await ask(room, question);
      const where = `${question} ${JSON.stringify(memory)}`;
      const found = memory.items.find((item) => item.id === `${at}:${at}`);
      assert.equal(found?.kind, "message", where);
      assert.ok(found.cosine > 0.25 && found.cosine < 1, where);
      assert.equal(found.wordRank, undefined, where);
      const best = memory.items.filter((item) => item.kind === "message").sort((a, b) => b.cosine - a.cosine)[0];
      assert.equal(best, found, where);
      assert.deepEqual(memory.degraded, [], where);
      assert.equal(sent.split(fact).length, 2, "once in the request");
      // Words alone do not find it: it was the model that did.
      const without = await ask(words, question);
      assert.ok(!without.sent.includes(fact), JSON.stringify(without.memory));
    }

    // The chat goes on: only what is new is embedded; what was edited is embedded anew.
    const { length } = room.chat.messages;
    assert.equal(length, ASKED + 2 * FACTS.length);
    assert.equal(await work(room), length - ASKED);
    const edited = room.chat.messages.map((m, i) => (i === 20 ? { ...m, mes: "The lighthouse is dark tonight." } : m));
    room.update({ chat: { id: "c", messages: edited } });
    assert.equal(await work(room), 1);
    room.free();
    words.free();
  } finally {
    server.close();
  }
});

function chinese(i) {
  const who = ["磨坊主", "老水手", "几个孩子", "面包师的妻子", "陌生人", "客栈老板", "两个商人"];
  const does = ["路过", "谈起", "寻找", "嘲笑", "指着", "坐在旁边看", "打听", "忘了", "卖掉", "修好"];
  const what = ["石桥", "一篮梨", "教堂的钟", "新靴子", "蓝色的门", "木车", "花园的墙", "海岸的地图", "奶酪摊", "两只鹅", "空井"];
  return `${pick(who, i)}${pick(does, i * 3 + 1)}${pick(what, i * 5 + 2)}，${pick(["天色渐暗", "风停了", "炉火正旺"], i)}。`;
}

test("in Chinese, by words alone", async () => {
  const fact = "我妹妹小雨对花生过敏，吃一口就喘不过气。";
  const matter = {
    [FACT]: fact,
    // One of the words each, in another sense or beside the point.
    27: "外面下起了小雨，街上没有人。",
    52: "商人带来一袋花生，卖得很便宜。",
    90: "医生说他对花粉过敏。",
    189: "*她把锅放到炉子上。*",
    [ASKED]: "晚饭我打算做花生酥，小雨能不能尝一点？",
  };
  const messages = chat(chinese, matter, ["旅人", "洛恩"]);
  const room = new Room(scene("洛恩", messages.slice(0, ASKED)), options({}));
  const { memory, sent } = await ask(room, messages[ASKED].mes);
  const found = memory.items.find((item) => item.id === `${FACT}:${FACT}`);
  assert.equal(found?.wordRank, 1, JSON.stringify(memory));
  assert.equal(found.cosine, undefined);
  assert.equal(sent.split(fact).length, 2, "once in the request");
  room.free();
});
