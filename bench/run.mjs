// Figures for docs/benchmarks.md, measured on the built package in Node.
//   npm run bench
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(fileURLToPath(import.meta.url), "..", "..");
const from = performance.now();
const { load, Room, loadTokenizer } = await import(join(root, "pkg", "index.js"));
await load(readFileSync(join(root, "pkg", "promptside.wasm")));
const card = (name, description) => ({ spec: "chara_card_v2", spec_version: "2.0", data: { name, description, first_mes: "" } });
const scene = (n) => ({
  characters: [
    { avatar: "mira.png", card: card("Mira", "Keeps the lighthouse, {{user}} knows. ".repeat(20)) },
    { avatar: "lorne.png", card: card("洛恩", "守在森林北缘的老猎人，话不多。".repeat(20)) },
  ],
  group: { id: "g", members: ["mira.png", "lorne.png"] },
  persona: { name: "旅人", description: "A traveller." },
  chat: {
    id: "c",
    metadata: { tainted: true },
    messages: Array.from({ length: n }, (_, i) =>
      i % 2
        ? { name: "Mira", is_user: false, original_avatar: "mira.png", mes: `*She lights lamp ${i}.* "The harbour is quiet tonight, and the sea keeps its own counsel."` }
        : { name: "旅人", is_user: true, mes: `第${i}夜，我们沿着海岸走，谁也不说话。Do you hear it?` },
    ),
  },
  preset: { chat_completion_source: "openai", openai_model: "gpt-4o", openai_max_context: 128000, openai_max_tokens: 300 },
});
const options = { random: { seed: 1 }, now: 0, offsetMinutes: 0, locale: "en-US" };
const ask = { speaker: "lorne.png", userMessage: "洛恩，你在吗？" };

const first = new Room(scene(2), options);
first.buildRequest(ask);
const rows = [["time to first request: import, compile, small scene, request", performance.now() - from]];
first.free();

const { default: vocabulary } = await import(join(root, "pkg", "tokenizers", "o200k_base.js"));
rows.push(["vocabulary o200k_base: read, inflate, parse", await timed(() => loadTokenizer(vocabulary))]);

const big = scene(1000);
const json = JSON.stringify(big);
let room;
rows.push(["1,000 messages: new Room", await timed(() => (room = new Room(json, options)))]);
rows.push(["1,000 messages: first request", await timed(() => room.buildRequest(ask))]);
rows.push(["1,000 messages: second request", await timed(() => room.buildRequest(ask))]);
const { report } = room.buildRequest(ask);
rows.push(["1,000 messages: who speaks", await timed(() => room.nextSpeakers({ userMessage: ask.userMessage }))]);
room.free();

console.log(`node ${process.version}, ${report.budget.used} tokens in the request, exact: ${report.exact}\n`);
console.log("| what | ms |\n|---|---|");
for (const [what, ms] of rows) console.log(`| ${what} | ${ms.toFixed(1)} |`);

async function timed(action) {
  const start = performance.now();
  await action();
  return performance.now() - start;
}
