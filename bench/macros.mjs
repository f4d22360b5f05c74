// Macros and regex scripts: figures for docs/benchmarks.md, measured on the built package in Node.
//   node bench/macros.mjs
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(fileURLToPath(import.meta.url), "..", "..");
const { load, Room } = await import(join(root, "pkg", "index.js"));
await load(readFileSync(join(root, "pkg", "promptside.wasm")));

const options = { random: { seed: 1 }, now: 0, offsetMinutes: 0, locale: "en-US" };
const card = (name, description) => ({ spec: "chara_card_v2", spec_version: "2.0", data: { name, description, first_mes: "" } });
const scene = { characters: [{ avatar: "l.png", card: card("洛恩", "守在森林北缘的老猎人。".repeat(40)) }], persona: { name: "旅人" }, chat: [{ name: "旅人", is_user: true, mes: "喂" }] };
const room = new Room(scene, options);
const expand = (texts) => room.invoke("expand", { texts });

const words = `*She lights the lamp.* "The harbour is quiet tonight, and the sea keeps its own counsel." 他点起灯，海面一片漆黑。`;
const plain = Array.from({ length: 1000 }, (_, i) => `${i} ${words.repeat(3)}`);
const marked = plain.map((text) => `{{char}} looks at {{user}}. ${text} {{// note}}`);
const entry = (i) => `{{if {{getvar::mood}} }}{{char}} is {{getvar::mood}}.{{else}}Rule ${i}: {{random::stay::go::wait}} with {{user}}, {{.n++}} of {{roll 2d6}}.{{/if}}\n{{setvar::last::${i}}}`;
const preset = Array.from({ length: 160 }, (_, i) => entry(i)).join("\n");

const rows = [];
rows.push(["1,000 messages without macros", size(plain), best(() => expand(plain))]);
rows.push(["1,000 messages with three macros each", size(marked), best(() => expand(marked))]);
rows.push([`a preset with ${preset.match(/\{\{/g).length} macros`, preset.length, best(() => expand([preset]))]);
console.log(`node ${process.version}\n\n| what | characters | ms |\n|---|---|---|`);
for (const [what, length, ms] of rows) console.log(`| ${what} | ${length} | ${ms.toFixed(1)} |`);

console.log("\n| one text of nothing but | 256 KiB, ms | 512 KiB | 1 MiB |\n|---|---|---|---|");
for (const piece of ["{", "{{", "}}", "{{a ", "{{user}} ", "{{if 1}}", "{{/if}}", "{{.a = ", "{{reverse::", "<user>"]) {
  const times = [18, 19, 20].map((bits) => best(() => expand([piece.repeat((1 << bits) / piece.length)])));
  console.log(`| \`${piece}\` | ${times.map((ms) => ms.toFixed(1)).join(" | ")} |`);
}

// A long chat and many scripts, as users of regex scripts have them.
const script = (i, findRegex, replaceString) => ({ scriptName: `s${i}`, findRegex, replaceString, placement: [1, 2], promptOnly: true });
const finds = [["/<think>[\\s\\S]*?<\\/think>\\s*/gi", ""], ["/\"([^\"]+)\"/g", "“$1”"], ["/\\*([^*]+)\\*/g", "_$1_"], ["/^\\s*Note:.*$/gm", ""], ["/(?<=。)\\s+/g", ""], ["/\\[xp:(\\w+):(\\d+)\\]/g", "$1"]];
const global = Array.from({ length: 30 }, (_, i) => script(i, ...finds[i % finds.length]));
const chat = plain.slice(0, 300).map((mes, i) => (i % 2 ? { name: "洛恩", mes } : { name: "旅人", is_user: true, mes }));
const preset2 = { openai_max_context: 200000, openai_max_tokens: 300 };
const [without, withScripts] = [[], global].map((list) => {
  const r = new Room({ ...scene, chat, preset: preset2, scripts: { global: list } }, { ...options, tokenizer: "estimate" });
  const ms = best(() => r.buildRequest());
  r.free();
  return ms;
});
console.log(`\n| a request of 300 messages | ms |\n|---|---|\n| without scripts | ${without.toFixed(1)} |\n| with 30 regex scripts | ${withScripts.toFixed(1)} |`);

function size(texts) {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** The quickest of five. */
function best(action) {
  let least = Infinity;
  for (let i = 0; i < 5; i++) {
    const from = performance.now();
    action();
    least = Math.min(least, performance.now() - from);
  }
  return least;
}
