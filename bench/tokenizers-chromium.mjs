// The same in Chromium: each tokenizer in a page of its own, bundled as a frontend would bundle it.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { chromium } from "playwright-core";
import { corpora } from "./corpora.mjs";

const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".json": "application/json" };
const KINDS = ["en-medium", "zh-medium", "mixed-medium"];

/** `{name: {ready, first: {corpus: MB/s}, best: {…}}}`; wall time. */
export async function inChromium(root, peersAt, encoding, quick) {
  const texts = Object.fromEntries(Object.entries(corpora()).filter(([name]) => KINDS.includes(name)).map(([name, list]) => [name, list.slice(0, 300)]));
  const modules = {
    promptside: `
      import { load, loadTokenizer, Tokenizer } from "/pkg/index.js";
      import vocabulary from "/pkg/tokenizers/${encoding}.js";
      await load();
      const tokenizer = new Tokenizer(await loadTokenizer(vocabulary));
      export const count = (s) => tokenizer.count(s);`,
    "gpt-tokenizer": bundle(peersAt, `
      import { countTokens } from "gpt-tokenizer/encoding/${encoding}";
      const plain = { disallowedSpecial: new Set() };
      export const count = (s) => countTokens(s, plain);`),
    "js-tiktoken": bundle(peersAt, `
      import { Tiktoken } from "js-tiktoken/lite";
      import ranks from "js-tiktoken/ranks/${encoding}";
      const tokenizer = new Tiktoken(ranks);
      export const count = (s) => tokenizer.encode(s, [], []).length;`),
    "tiktoken/lite": bundle(peersAt, `
      import { init, Tiktoken } from "tiktoken/lite/init";
      import data from "tiktoken/encoders/${encoding}.json";
      await init(async (imports) => WebAssembly.instantiate(await (await fetch("/peer.wasm")).arrayBuffer(), imports));
      const tokenizer = new Tiktoken(data.bpe_ranks, data.special_tokens, data.pat_str);
      export const count = (s) => tokenizer.encode_ordinary(s).length;`),
  };
  const served = (path) => {
    if (path === "/") return `<!doctype html><link rel="icon" href="data:,">`;
    if (path === "/texts.json") return JSON.stringify(texts);
    if (path === "/peer.wasm") return readFileSync(join(peersAt, "node_modules", "tiktoken", "lite", "tiktoken_bg.wasm"));
    const name = Object.keys(modules).find((n) => path === `/${encodeURIComponent(n)}.js`);
    return name ? modules[name] : readFileSync(join(root, path));
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://site");
    try {
      const body = served(pathname);
      response.writeHead(200, { "Content-Type": TYPES[extname(pathname)] ?? (pathname === "/" ? "text/html" : "application/octet-stream") }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
  const out = {};
  try {
    for (const name of Object.keys(modules)) {
      const runs = [];
      for (let i = 0; i < (quick ? 1 : 3); i++) {
        const context = await browser.newContext();
        const page = await context.newPage();
        await page.goto(`http://127.0.0.1:${server.address().port}/`);
        runs.push(await page.evaluate(measure, `/${encodeURIComponent(name)}.js`));
        await context.close();
      }
      const best = (part) => Object.fromEntries(KINDS.map((kind) => [kind, Math.max(...runs.map((run) => run[part][kind]))]));
      out[name] = { ready: Math.min(...runs.map((run) => run.ready)), first: best("first"), best: best("best") };
    }
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
  return out;
}

function bundle(peersAt, contents) {
  const { buildSync } = createRequire(join(peersAt, "x.js"))("esbuild");
  const built = buildSync({
    stdin: { contents, resolveDir: peersAt, loader: "js" },
    bundle: true, write: false, format: "esm", minify: true, platform: "browser", target: "es2022", logLevel: "error", loader: { ".wasm": "file" }, outdir: "/",
  });
  return built.outputFiles.find((f) => f.path.endsWith(".js")).text;
}

/** Runs in the page. */
async function measure(url) {
  const texts = await (await fetch("/texts.json")).json();
  const from = performance.now();
  const { count } = await import(url);
  count("Hello, world! 你好");
  const ready = performance.now() - from;
  const [first, best] = [{}, {}];
  for (const [kind, list] of Object.entries(texts)) {
    const bytes = list.reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0);
    for (let pass = 0; pass < 4; pass++) {
      const start = performance.now();
      for (const text of list) count(text);
      const rate = bytes / 1000 / (performance.now() - start);
      if (pass === 0) first[kind] = rate;
      best[kind] = Math.max(best[kind] ?? 0, rate);
    }
  }
  return { ready, first, best };
}
