// Counting beside its peers, in one run: node bench/tokenizers.mjs [--quick]
// Prints tables and, last, one line of JSON. The peers are installed in bench/peers by themselves.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { corpora } from "./corpora.mjs";
import { inChromium } from "./tokenizers-chromium.mjs";

const root = join(fileURLToPath(import.meta.url), "..", "..");
const peersAt = join(root, "bench", "peers");
const ENCODING = "o200k_base";
const quick = process.argv.includes("--quick");

const require = createRequire(join(peersAt, "x.js"));
const peer = (path) => import(pathToFileURL(join(peersAt, "node_modules", path)).href);
/** Every tokenizer as `{count, encode}`; special-token text is text. */
const TOKENIZERS = {
  promptside: async () => {
    const { load, loadTokenizer, Tokenizer } = await import(join(root, "pkg", "index.js"));
    await load(readFileSync(join(root, "pkg", "promptside.wasm")));
    const vocabulary = (await import(join(root, "pkg", "tokenizers", `${ENCODING}.js`))).default;
    const tokenizer = new Tokenizer(await loadTokenizer(vocabulary));
    return { count: (s) => tokenizer.count(s), encode: (s) => tokenizer.encode(s), countEach: (a) => tokenizer.countEach(a), tokenizer };
  },
  "gpt-tokenizer": async () => {
    const { countTokens, encode } = await peer(`gpt-tokenizer/esm/encoding/${ENCODING}.js`);
    const plain = { disallowedSpecial: new Set() };
    return { count: (s) => countTokens(s, plain), encode: (s) => encode(s, plain) };
  },
  tiktoken: async () => {
    const tokenizer = require("tiktoken").get_encoding(ENCODING);
    return { count: (s) => tokenizer.encode_ordinary(s).length, encode: (s) => tokenizer.encode_ordinary(s) };
  },
  "ai-tokenizer": async () => {
    const { Tokenizer } = await peer("ai-tokenizer/dist/index.js");
    const tokenizer = new Tokenizer(await peer(`ai-tokenizer/dist/encoding/${ENCODING}.js`));
    return { count: (s) => tokenizer.count(s), encode: (s) => tokenizer.encode(s, [], []) };
  },
  "js-tiktoken": async () => {
    const { Tiktoken } = await peer("js-tiktoken/dist/lite.js");
    const tokenizer = new Tiktoken((await peer(`js-tiktoken/dist/ranks/${ENCODING}.js`)).default);
    return { count: (s) => tokenizer.encode(s, [], []).length, encode: (s) => tokenizer.encode(s, [], []) };
  },
};
const NAMES = Object.keys(TOKENIZERS);

/** CPU time of this process, ms: less disturbed by what else runs than the clock on the wall. */
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

if (process.argv[2] === "--child") {
  const [, , , name] = process.argv;
  globalThis.gc?.();
  const [memory, from] = [process.memoryUsage().rss, cpu()];
  const { count } = await TOKENIZERS[name]();
  count("Hello, world! 你好");
  const ms = cpu() - from;
  globalThis.gc?.();
  console.log(JSON.stringify({ ms, rss: (process.memoryUsage().rss - memory) / 1e6 }));
} else {
  await main();
}

async function main() {
  if (!existsSync(join(peersAt, "node_modules", "tiktoken"))) {
    execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: peersAt, stdio: "ignore" });
  }
  console.log(`node ${process.version}, ${ENCODING}\n`);
  const result = { cold: cold(), ...(await speed()), ...(await heavy()), sizes: sizes() };
  result.chromium = await inChromium(root, peersAt, ENCODING, quick);
  table(["Chromium, wall", "ready ms", ...Object.keys(result.chromium.promptside.first).map((k) => `${k} first pass / best MB/s`)],
    Object.entries(result.chromium).map(([name, r]) => [name, r.ready, ...Object.keys(r.first).map((k) => `${r.first[k].toFixed(1)} / ${r.best[k].toFixed(1)}`)]));
  console.log(JSON.stringify({ tokenizers: result }));
}

/** From nothing to the first exact count, each in a process of its own. */
function cold() {
  const rows = {};
  for (const name of NAMES) {
    const runs = Array.from({ length: quick ? 1 : 5 }, () =>
      JSON.parse(execFileSync(process.execPath, ["--expose-gc", fileURLToPath(import.meta.url), "--child", name], { encoding: "utf8" })),
    );
    rows[name] = { ms: median(runs.map((r) => r.ms)), rss: median(runs.map((r) => r.rss)) };
  }
  table(["cold start", "CPU ms to the first count", "memory MB"], NAMES.map((name) => [name, rows[name].ms, rows[name].rss]));
  return rows;
}

/** MB/s of UTF-8, CPU time, the best of the rounds, the tokenizers in turn; what takes too long is extrapolated. */
async function speed() {
  const texts = corpora();
  const loaded = {};
  for (const name of NAMES) loaded[name] = await TOKENIZERS[name]();
  const rates = { count: {}, encode: {}, each: {} };
  for (const [corpus, list] of Object.entries(texts)) {
    const bytes = list.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const least = {};
    const run = (key, action) => {
      const from = cpu();
      let done = 0;
      for (const text of list) {
        action(text);
        done++;
        if ((done & 7) === 0 && cpu() - from > (quick ? 150 : 500)) break;
      }
      const share = list.slice(0, done).reduce((sum, text) => sum + Buffer.byteLength(text), 0) / bytes;
      least[key] = Math.min(least[key] ?? Infinity, (cpu() - from) / share);
    };
    for (let round = 0; round < (quick ? 1 : 5); round++) {
      for (const name of NAMES) {
        run(`count ${name}`, loaded[name].count);
        if (round < 2) run(`encode ${name}`, loaded[name].encode);
      }
      const from = cpu();
      loaded.promptside.countEach(list);
      least.each = Math.min(least.each ?? Infinity, cpu() - from);
    }
    for (const kind of ["count", "encode"]) {
      rates[kind][corpus] = Object.fromEntries(NAMES.map((name) => [name, bytes / 1000 / least[`${kind} ${name}`]]));
    }
    rates.each[corpus] = bytes / 1000 / least.each;
  }
  for (const kind of ["count", "encode"]) {
    const rows = Object.entries(rates[kind]).map(([corpus, row]) => [corpus, ...NAMES.map((name) => row[name])]);
    const ratio = (name) => mean(Object.values(rates[kind]).map((row) => row.promptside / row[name]));
    table([`${kind}, MB/s`, ...NAMES], [...rows, ["promptside is faster by (geometric mean)", ...NAMES.map((name) => `${ratio(name).toFixed(1)}x`)]]);
  }
  console.log("`countEach` (one call for a whole list): " + Object.entries(rates.each).map(([k, v]) => `${k} ${v.toFixed(1)}`).join(", ") + " MB/s\n");
  return { ...rates, ...streams(loaded.promptside.tokenizer, texts), differences: agreement(loaded) };
}

/** A reply of 4,000 tokens that comes in 3,200 pieces: counted as it grows, and counted anew each time. */
function streams(tokenizer, texts) {
  const ids = tokenizer.encode(texts["mixed-long"].concat(texts["en-long"]).join("\n")).slice(0, 4000);
  const text = tokenizer.decode(ids);
  const points = [...text];
  const step = points.length / 3200;
  const pieces = Array.from({ length: 3200 }, (_, i) => points.slice(Math.round(i * step), Math.round((i + 1) * step)).join(""));
  const stream = tokenizer.stream();
  let from = cpu();
  const growing = pieces.map((piece) => stream.add(piece));
  const once = cpu() - from;
  let so = "";
  from = cpu();
  const anew = pieces.map((piece) => tokenizer.count((so += piece)));
  const again = cpu() - from;
  const wrong = growing.filter((n, i) => n !== anew[i]).length;
  table(["a reply of 4,000 tokens in 3,200 pieces", "CPU ms", "wrong counts"], [["counted as it grows", once, wrong], ["counted anew each time", again, 0]]);
  return { stream: { growing: once, anew: again, wrong } };
}

/** Counts that differ from tiktoken's on random strings of all scripts. */
function agreement(loaded) {
  let seed = 99;
  const next = (n) => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) >>> 4) % n;
  const ranges = [[0x20, 0x7f], [0x9, 0xe], [0x80, 0x250], [0x370, 0x590], [0x590, 0x700], [0x900, 0xd80], [0xe00, 0xe80], [0x1100, 0x1200], [0x2000, 0x2070], [0x3000, 0x3100], [0x4e00, 0x9fff], [0xac00, 0xd7a4], [0xfe00, 0x10000], [0x1f300, 0x1fb00], [0x20000, 0x20400]];
  const string = () => {
    let out = "";
    for (let runs = 1 + next(5); runs > 0; runs--) {
      const [low, high] = ranges[next(ranges.length)];
      for (let n = 1 + next(6); n > 0; n--) out += String.fromCodePoint(low + next(high - low));
    }
    return out;
  };
  const total = quick ? 2000 : 50_000;
  let differ = 0;
  for (let i = 0; i < total; i++) {
    const text = string();
    if (loaded.promptside.count(text) !== loaded.tiktoken.count(text)) differ++;
  }
  console.log(`${total} random strings: ${differ} counts differ from tiktoken's\n`);
  return { total, differ };
}

/** A megabyte of what is hard, each once, with a way out for the slow. */
async function heavy() {
  const MB = 1 << 20;
  const inputs = {
    "one letter": "a".repeat(MB),
    blanks: " ".repeat(MB),
    "one Chinese character": "龍".repeat(MB / 3),
    "base64, no break": Buffer.from(Array.from({ length: (MB * 3) / 4 }, (_, i) => (Math.imul(i, 2654435761) >>> 13) & 255)).toString("base64"),
    emoji: "👩‍👩‍👧‍👦".repeat(MB / 25),
  };
  const { count } = await TOKENIZERS.promptside();
  const rows = Object.entries(inputs).map(([name, text]) => {
    const from = cpu();
    const tokens = count(text);
    return [name, tokens, cpu() - from];
  });
  table(["1 MB of", "tokens", "CPU ms"], rows);
  return { heavy: Object.fromEntries(rows.map(([name, , ms]) => [name, ms])) };
}

/** What a page loads for one encoding: code and vocabulary. */
function sizes() {
  const read = (...path) => readFileSync(join(...path));
  const of = (name) => join(peersAt, "node_modules", name);
  const hashed = readdirSync(of("ai-tokenizer/dist/encoding")).find((file) => file.startsWith(`${ENCODING}-`) && file.endsWith(".js"));
  const asset = join(root, "pkg", "tokenizers", `${ENCODING}.bin`);
  const parts = {
    "promptside, vocabulary (as served)": [[readFileSync(asset), true]],
    "gpt-tokenizer, ranks": [[read(of(`gpt-tokenizer/esm/bpeRanks/${ENCODING}.js`))]],
    "js-tiktoken, ranks": [[read(of(`js-tiktoken/dist/ranks/${ENCODING}.js`))]],
    "ai-tokenizer, ranks": [[read(of("ai-tokenizer/dist/encoding"), hashed)]],
    "tiktoken, wasm with all vocabularies": [[read(of("tiktoken/tiktoken_bg.wasm"))]],
  };
  const rows = Object.entries(parts).map(([name, list]) => {
    const raw = list.reduce((sum, [bytes]) => sum + bytes.length, 0);
    const gzip = list.reduce((sum, [bytes, packed]) => sum + (packed ? bytes.length : gzipSync(bytes, { level: 9 }).length), 0);
    const brotli = list.reduce((sum, [bytes, packed]) => sum + (packed ? bytes.length : brotliCompressSync(bytes).length), 0);
    return [name, raw, gzip, brotli];
  });
  table(["download, bytes", "raw", "gzip", "brotli"], rows);
  return Object.fromEntries(rows.map(([name, raw, gzip, brotli]) => [name, { raw, gzip, brotli }]));
}

function table(head, rows) {
  const cell = (value) => (typeof value === "number" && !Number.isInteger(value) ? value.toFixed(1) : String(value));
  console.log([head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n") + "\n");
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1];
}

function mean(ratios) {
  return Math.exp(ratios.reduce((sum, r) => sum + Math.log(r), 0) / ratios.length);
}
