// Figures for docs/benchmarks.md, measured on the built package in Node: medians of repeated runs.
//   npm run bench
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(fileURLToPath(import.meta.url), "..", "..");
const from = performance.now();
const { load, Room, loadTokenizer } = await import(join(root, "pkg", "index.js"));
await load(readFileSync(join(root, "pkg", "promptside.wasm")));
const card = (name, description) => ({ spec: "chara_card_v2", spec_version: "2.0", data: { name, description, first_mes: "" } });
const message = (i) =>
  i % 2
    ? { name: "Mira", is_user: false, original_avatar: "mira.png", mes: `*She lights lamp ${i}.* "The harbour is quiet tonight, and the sea keeps its own counsel."` }
    : { name: "旅人", is_user: true, mes: `第${i}夜，我们沿着海岸走，谁也不说话。Do you hear it?` };
const scene = (n, context) => ({
  characters: [
    { avatar: "mira.png", card: card("Mira", "Keeps the lighthouse, {{user}} knows. ".repeat(20)) },
    { avatar: "lorne.png", card: card("洛恩", "守在森林北缘的老猎人，话不多。".repeat(20)) },
  ],
  group: { id: "g", members: ["mira.png", "lorne.png"] },
  persona: { name: "旅人", description: "A traveller." },
  chat: { id: "c", metadata: { tainted: true }, messages: Array.from({ length: n }, (_, i) => message(i)) },
  preset: { chat_completion_source: "openai", openai_model: "gpt-4o", openai_max_context: context, openai_max_tokens: 300 },
});
const options = { random: { seed: 1 }, now: 0, offsetMinutes: 0, locale: "en-US" };
const ask = { speaker: "lorne.png", userMessage: "洛恩，你在吗？" };

const first = new Room(scene(2, 8000), options);
first.buildRequest(ask);
const start = performance.now() - from;
first.free();

const { default: vocabulary } = await import(join(root, "pkg", "tokenizers", "o200k_base.js"));
const loading = await timed(() => loadTokenizer(vocabulary));

console.log(`node ${process.version}\n\n| what | ms |\n|---|---|`);
console.log(`| time to first request: import, compile, small scene, request | ${start.toFixed(1)} |`);
console.log(`| vocabulary o200k_base: read, inflate, parse | ${loading.toFixed(1)} |`);

console.log("\n| messages | context | in the request | new Room | first request | next request | who speaks |\n|---|---|---|---|---|---|---|");
for (const [n, context] of [[100, 8000], [1000, 8000], [10_000, 8000], [1000, 32_000], [10_000, 32_000], [10_000, 128_000]]) {
  const json = JSON.stringify(scene(n, context));
  let room;
  const opened = await timed(() => (room = new Room(json, options)));
  let built;
  const once = await timed(() => (built = room.buildRequest(ask)));
  const times = [];
  for (let i = n; i < n + 40; i++) {
    // One new message, then the next request: what a turn costs.
    room.invoke("editChat", { append: [message(i)] });
    times.push(await timed(() => room.buildRequest(ask)));
  }
  const speaks = [];
  for (let i = 0; i < 20; i++) speaks.push(await timed(() => room.nextSpeakers({ userMessage: ask.userMessage })));
  const { budget, messages } = built.report;
  const cells = [n, context, `${messages.length} messages, ${budget.used} tokens`, opened, once, median(times), median(speaks)];
  console.log(`| ${cells.map((c) => (typeof c === "number" && !Number.isInteger(c) ? c.toFixed(1) : c)).join(" | ")} |`);
  room.free();
}

async function timed(action) {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1];
}
