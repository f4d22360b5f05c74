// Figures of the vector index for docs/benchmarks.md, measured on the built package in Node.
//   node bench/memory.mjs [COUNT]
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(fileURLToPath(import.meta.url), "..", "..");
const { load, VectorIndex, invoke } = await import(join(root, "pkg", "index.js"));
await load(readFileSync(join(root, "pkg", "promptside.wasm")));
const count = Number(process.argv[2] ?? 10_000);

// Clustered vectors, as embeddings are; the same numbers at every run.
let seed = 7;
const noise = () => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 31) - 1;
const ids = Array.from({ length: count }, (_, i) => `m${i}`);
console.log(`node ${process.version}, ${count} vectors\n`);
console.log("| dimensions | numbers | memory | build | search, top 10 (median of 40) | replace one | export | top 10 as with f32 |\n|---|---|---|---|---|---|---|---|");
for (const dims of [384, 1536]) {
  const centres = Array.from({ length: 100 }, () => Float32Array.from({ length: dims }, noise));
  const near = (i) => centres[i % 100].map((x) => x + 0.6 * noise());
  const all = new Float32Array(count * dims);
  for (let i = 0; i < count; i++) all.set(near(i), i * dims);
  const queries = Array.from({ length: 40 }, (_, i) => near(i));
  let truth;
  for (const precision of ["f32", "int8"]) {
    const index = new VectorIndex("bench", precision);
    const build = time(() => index.add(ids, all));
    queries.slice(0, 5).forEach((q) => index.search(q, 10));
    const found = [];
    const search = median(queries.map((q) => time(() => found.push(index.search(q, 10).map((h) => h.id)))));
    truth ??= found;
    const same = found.reduce((n, ids, i) => n + ids.filter((id) => truth[i].includes(id)).length, 0) / (10 * found.length);
    const replace = median(
      queries.map((q, i) =>
        time(() => {
          index.remove([`m${i}`]);
          index.add([`m${i}`], [q]);
        }),
      ),
    );
    let exported;
    const out = time(() => (exported = index.export()));
    const size = `${(index.size / 1e6).toFixed(1)} MB`;
    console.log(`| ${dims} | ${precision} | ${size} | ${ms(build)} | ${ms(search)} | ${ms(replace)} | ${ms(out)} (${(exported.bytes.length / 1e6).toFixed(1)} MB) | ${(100 * same).toFixed(1)} % |`);
    index.free();
  }
}
const docs = Array.from({ length: count }, (_, i) => `第${i}夜，他们沿着河岸走进森林，谁也不说话。The harbour was quiet on night ${i}.`);
docs[count >> 1] = "我的生日是三月十五日。";
const words = time(() => {
  const { hits } = invoke("memory.bm25", { docs, query: "你还记得我的生日吗" });
  if (hits[0]?.id !== count >> 1) throw new Error("not found");
});
console.log(`\nwords (BM25): ${count} messages of 50 characters, indexed and searched: ${ms(words)}`);

function time(action) {
  const from = performance.now();
  action();
  return performance.now() - from;
}
function median(list) {
  return list.sort((a, b) => a - b)[list.length >> 1];
}
function ms(n) {
  return `${n < 10 ? n.toFixed(1) : Math.round(n)} ms`;
}
