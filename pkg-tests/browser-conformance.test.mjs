// Recorded cases through the built package in Chromium: the same cases pass as in Node, and every result is the same to the byte.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const golden = join(root, "tests", "golden");
const areas = readdirSync(golden).filter((name) => /^(scheduler|messages|cleanup)/.test(name)).sort();
const casesOf = (area) => readdirSync(join(golden, area)).filter((name) => name.endsWith(".json") && !name.startsWith("_")).sort();
const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".json": "application/json", ".wasm": "application/wasm" };

// What the runner of cases takes from Node, for a page: files that were fetched beforehand, and joined paths.
const SHIMS = {
  "/shim/fs.js": `
    const files = await (await fetch("/files.json")).json();
    export function readFileSync(path) {
      if (!(path in files)) throw new Error("no such file: " + path);
      return files[path];
    }`,
  "/shim/path.js": `export const join = (...parts) => parts.join("/");`,
  "/": `<!doctype html><link rel="icon" href="data:,">
    <script type="importmap">{"imports": {"node:fs": "/shim/fs.js", "node:path": "/shim/path.js"}}</script>`,
};

let server;
let browser;
let page;
let inNode;

before(async () => {
  server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://site").pathname);
    const type = TYPES[extname(path)] ?? "text/html; charset=utf-8";
    try {
      const body = path === "/files.json" ? filesJson() : (SHIMS[path] ?? served(path));
      response.writeHead(200, { "Content-Type": type }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
  page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);

  const load = (...path) => import(pathToFileURL(join(root, ...path)).href);
  const promptside = await load("pkg", "index.js");
  await promptside.load();
  const { runCase } = await load("scripts", "conformance", "run.mjs");
  const { differences } = await load("scripts", "conformance", "compare.mjs");
  inNode = { promptside, runCase, differences };
});

after(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
});

for (const area of areas) {
  test(`${area}: Chromium gives what Node gives`, async (t) => {
    const names = casesOf(area);
    assert.ok(names.length > 0);
    const there = await page.evaluate(inPage, { area, names });
    let passed = 0;
    for (const [i, name] of names.entries()) {
      const here = await outcome(inNode, { area, file: join(golden, area, name), golden });
      assert.equal(there[i].passed, here.passed, `${area}/${name}: Node ${here.passed}, Chromium ${there[i].passed}: ${there[i].got.slice(0, 500)}`);
      assert.equal(there[i].got, here.got, `${area}/${name}`);
      passed += here.passed ? 1 : 0;
    }
    assert.ok(passed > 0, "no case passes in either");
    t.diagnostic(`${passed} of ${names.length} cases as recorded, in both`);
  });
}

test("rounds replay to the byte", async () => {
  const file = JSON.parse(readFileSync(join(root, "tests", "replay.json"), "utf8"));
  const there = await page.evaluate(async (file) => {
    const promptside = await import("/pkg/index.js");
    await promptside.load();
    const { play } = await import("/pkg-tests/replay.mjs");
    return file.cases.map((one) => play(promptside, file, one));
  }, file);
  assert.deepEqual(there, file.cases.map((one) => one.digest));
});

/** Runs one case; an error counts as an outcome too. */
async function outcome({ promptside, runCase, differences }, { area, file, golden }) {
  try {
    const { expected, got } = await runCase({ promptside, area, file, golden });
    return { passed: differences(expected, got, 1).length === 0, got: JSON.stringify(got) };
  } catch (error) {
    return { passed: false, got: `${error.code ?? error.name}: ${error.message}` };
  }
}

/** The same, in the page. Self-contained: its text is sent there. */
async function inPage({ area, names }) {
  const promptside = await import("/pkg/index.js");
  await promptside.load();
  const { runCase } = await import("/scripts/conformance/run.mjs");
  const { differences } = await import("/scripts/conformance/compare.mjs");
  const outcomes = [];
  for (const name of names) {
    try {
      const { expected, got } = await runCase({ promptside, area, file: `/tests/golden/${area}/${name}`, golden: "/tests/golden" });
      outcomes.push({ passed: differences(expected, got, 1).length === 0, got: JSON.stringify(got) });
    } catch (error) {
      outcomes.push({ passed: false, got: `${error.code ?? error.name}: ${error.message}` });
    }
  }
  return outcomes;
}

/** The package and the runner of cases. */
function served(path) {
  if (!/^\/(pkg|scripts\/conformance)\/|^\/pkg-tests\/replay\.mjs$/.test(path)) throw new Error(path);
  return readFileSync(join(root, path));
}

function filesJson() {
  const files = {};
  const add = (...path) => (files[`/tests/golden/${path.join("/")}`] = readFileSync(join(golden, ...path), "utf8"));
  for (const name of readdirSync(golden)) if (name.endsWith(".json")) add(name);
  for (const area of areas) for (const name of casesOf(area)) add(area, name);
  return JSON.stringify(files);
}
