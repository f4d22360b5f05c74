// Figures of the lorebook for docs/benchmarks.md, measured on the built package in Node.
//   npm run build && node bench/lore.mjs
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(fileURLToPath(import.meta.url), "..", "..");
const { load, Room } = await import(join(root, "pkg", "index.js"));
await load(readFileSync(join(root, "pkg", "promptside.wasm")));

const SYLLABLES = ["ka", "lo", "mi", "дом", "ри", "лес", "山", "月", "狐", "す", "る", "แม", "수", "ven"];
/** A word that stands for a number, unlike every other. */
const word = (n) => {
  let out = "q";
  for (let rest = n + 1; rest > 0; rest = Math.floor(rest / SYLLABLES.length)) out += SYLLABLES[rest % SYLLABLES.length];
  return out;
};
const line = (n) => {
  let text = "";
  for (let i = 0; text.length < 1000; i++) text += `${["the harbour", "тихий вечер", "今夜は静か", "a lantern"][(n + i) % 4]} ${(n * 31 + i * 7) % 997} `;
  return text;
};
const settings = (depth) => ({ world_info: { world_info_depth: depth, world_info_budget: 100, world_info_recursive: true } });

function scene({ entries, messages, chain, depth }) {
  const book = {};
  for (let uid = 0; uid < entries; uid++) {
    const own = { uid, key: [word(uid * 3), word(uid * 3 + 1), word(uid * 3 + 2)], content: `Entry ${uid}.`, order: 100, position: 0, selective: true };
    // A chain: each entry names a key of the next.
    if (uid < chain) own.content = `Entry ${uid} tells of ${word((uid + 1) * 3)}.`;
    book[uid] = own;
  }
  const chat = Array.from({ length: messages }, (_, i) => ({ name: i % 2 ? "Mira" : "User", is_user: i % 2 === 0, mes: line(i) }));
  if (chain) chat[chat.length - 1].mes += ` ${word(0)} `;
  return {
    characters: [{ avatar: "mira.png", card: { name: "Mira" } }],
    chat: { id: "c", metadata: { tainted: true }, messages: chat },
    preset: { chat_completion_source: "custom", openai_max_context: 1_000_000 },
    settings: settings(depth),
    lorebooks: { books: { W: { entries: book } }, global: ["W"] },
  };
}

const options = { tokenizer: "codepoints", random: { seed: 1 }, now: 0, offsetMinutes: 0, locale: "en-US" };
const timed = (action) => {
  const start = performance.now();
  action();
  return performance.now() - start;
};

/** Cold: the first look of a room. Warm: the best of several looks, each with one message more. */
function measure(what) {
  const room = new Room(JSON.stringify(scene(what)), options);
  let found;
  const look = () => (found = room.invoke("lore", { dry: true }));
  const cold = timed(look);
  const warm = [];
  for (let i = 0; i < 7; i++) {
    room.invoke("editChat", { append: [{ name: "User", is_user: true, mes: line(1000 + i) + (what.chain ? ` ${word(0)}` : "") }] });
    warm.push(timed(look));
  }
  room.free();
  return { cold, warm: Math.min(...warm), loops: found.loops.length };
}

const rows = [];
for (const entries of [1000, 5000, 10000]) {
  for (const messages of [10, 100]) rows.push({ entries, messages, chain: 0, depth: 100 });
}
for (const chain of [10, 50]) rows.push({ entries: 5000, messages: 20, chain, depth: 20 });
rows.push({ entries: 10000, messages: 100, chain: 50, depth: 100 });

console.log(`node ${process.version}\n`);
console.log("| entries | messages of 1,000 characters | chain | loops | cold ms | with one new message ms |\n|---|---|---|---|---|---|");
for (const what of rows) {
  const { cold, warm, loops } = measure(what);
  console.log(`| ${what.entries} | ${what.messages} | ${what.chain || "-"} | ${loops} | ${cold.toFixed(1)} | ${warm.toFixed(2)} |`);
}
