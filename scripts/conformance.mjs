// Runs recorded cases through the built package's public JavaScript API.
//   npm run conformance -- PATH... [--json FILE] [--ratchet | --ratchet-update]
// PATH: folders or files in the format of tests/golden/README.md (default: tests/golden). Exit status 1 if any case failed.
// --ratchet: exit status 1 only if an area passes fewer cases than conformance/ratchet.json says; --ratchet-update rewrites that file.
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { fail, root } from "./lib.mjs";
import { differences } from "./conformance/compare.mjs";
import { runCase } from "./conformance/run.mjs";

const args = process.argv.slice(2);
let jsonFile = null;
const at = args.indexOf("--json");
if (at >= 0) [, jsonFile] = args.splice(at, 2);
const paths = args.filter((a) => !a.startsWith("--"));

const entry = join(root, "pkg", "index.js");
if (!existsSync(entry)) fail("pkg/ is not built: run npm run build first");
const promptside = await import(pathToFileURL(entry).href);
await promptside.load();
// Cases with `tokenizer: "real"` count with the vocabularies of the package.
for (const name of ["o200k_base", "cl100k_base"]) {
  const module = await import(pathToFileURL(join(root, "pkg", "tokenizers", `${name}.js`)).href);
  await promptside.loadTokenizer(module.default);
}

const files = [...new Set((paths.length ? paths : [join(root, "tests", "golden")]).flatMap((p) => cases(resolve(p))))].sort();
if (files.length === 0) fail("no case files found");
const areas = new Map();
const failures = [];
const started = performance.now();
for (const file of files) {
  const area = basename(dirname(file));
  const tally = areas.get(area) ?? { passed: 0, total: 0 };
  areas.set(area, tally);
  tally.total += 1;
  let found;
  try {
    const context = { promptside, file, area, golden: goldenRoot(file) };
    const { expected, got } = await runCase(context);
    found = differences(expected, got, 5);
  } catch (error) {
    found = [{ pointer: "", expected: "a result", got: error?.code ? `${error.code} at ${error.path}: ${error.message}` : String(error?.stack ?? error) }];
  }
  if (found.length === 0) {
    tally.passed += 1;
    continue;
  }
  failures.push({ area, case: basename(file), differences: found });
  console.log(`FAIL ${area}/${basename(file)}`);
  for (const d of found) console.log(`  ${d.pointer || "/"}\n    expected ${short(d.expected)}\n    got      ${short(d.got)}`);
}

let passed = 0;
for (const [area, tally] of [...areas].sort()) {
  console.log(`${area}: ${tally.passed}/${tally.total}`);
  passed += tally.passed;
}
if (jsonFile) writeFileSync(jsonFile, `${JSON.stringify({ areas: Object.fromEntries(areas), failures }, null, 1)}\n`);
console.error(`(${((performance.now() - started) / 1000).toFixed(1)} s)`);
console.log(`${passed} passed, ${files.length - passed} failed`);
process.exitCode = passed === files.length ? 0 : 1;
const ratchet = join(root, "scripts", "conformance", "ratchet.json");
if (args.includes("--ratchet-update")) {
  const counts = Object.fromEntries([...areas].sort().map(([area, tally]) => [area, tally.passed]));
  writeFileSync(ratchet, `${JSON.stringify(counts, null, 2)}\n`);
} else if (args.includes("--ratchet")) {
  const fewer = Object.entries(JSON.parse(readFileSync(ratchet, "utf8"))).filter(([area, n]) => (areas.get(area)?.passed ?? 0) < n);
  for (const [area, n] of fewer) console.error(`${area}: ${n} cases passed before`);
  process.exitCode = fewer.length ? 1 : 0;
}

/** Case files at or below a path. Files of the `formats` area are those with an expectation beside them. */
function cases(path) {
  if (!existsSync(path)) fail(`no such file or folder: ${path}`);
  if (statSync(path).isDirectory()) return readdirSync(path).flatMap((name) => cases(join(path, name)));
  const name = basename(path);
  if (name.startsWith("_") || name.endsWith(".md")) return [];
  if (name.endsWith(".expect.json")) return existsSync(path.slice(0, -".expect.json".length)) ? [path] : [];
  if (existsSync(`${path}.expect.json`)) return [`${path}.expect.json`];
  return name.endsWith(".json") ? [path] : [];
}

/** The folder with `_defaults.json` that belongs to a case: above it, or our own copy. */
function goldenRoot(file) {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "_defaults.json"))) return folder;
    if (dirname(folder) === folder) return join(root, "tests", "golden");
  }
}

function short(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text === undefined ? "nothing" : text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
