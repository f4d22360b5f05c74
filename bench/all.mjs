// All benchmarks, one after the other: prints their tables and, last, one line of JSON; writes docs/benchmarks.md.
//   npm run bench            node bench/all.mjs [--quick] [--only size,room,…]
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(fileURLToPath(import.meta.url), "..", "..");
const quick = process.argv.includes("--quick");
const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1].split(",") : undefined;

const PARTS = [
  {
    id: "size",
    title: "Size",
    script: "scripts/size.mjs",
    before: "Bytes; brotli at level 11, vocabularies as they are served. `npm test` holds the limits in `scripts/size.mjs`.",
    after: `The aim for the module is 250 kB; it is not met. A page that never calls \`loadTokenizer\` never loads a vocabulary.`,
  },
  {
    id: "tokenizers",
    title: "Counting tokens",
    script: "bench/tokenizers.mjs",
    before: `Beside the tokenizers of npm, in the same run: CPU time, medians or the best of five rounds taken in turn. Texts are made of natural text in
messages of about 20 (short), 200 (medium) and 4,000 tokens (long). The peers remember merged pieces, so repeated rounds flatter them; what a user waits
for when a chat is opened is the first pass in Chromium.`,
  },
  {
    id: "room",
    title: "Requests",
    script: "bench/run.mjs",
    before: `A group of two, stored messages in Chinese and English, exact counts with o200k_base. *Next request*: the median of forty, one new message before
each; it holds everything between the call and the result, the body and the report parsed as JavaScript objects.`,
    after: `The cost follows what goes into the request, not what is stored: at one context size ten thousand messages cost as much as a thousand. Texts are
counted once, scripts and lorebooks compiled once, messages beyond the budget neither expanded nor copied. What remains is writing the body and explaining
every message of it.`,
  },
  {
    id: "lore",
    title: "Lorebooks",
    script: "bench/lore.mjs",
    before: `One look at the books as a request makes it, three plain keys an entry, whole words, recursion on. *Cold* is the first look of a room: entries are
read, keys compiled, every message run through the index. The last column is the best of seven looks, each with one message more; it holds everything between the
call and the result, its JSON included. In a chain each entry's text names a key of the next. The reference's figures: spec 03 P1.`,
  },
  {
    id: "macros",
    title: "Macros and scripts",
    script: "bench/macros.mjs",
    before: "The best of five. Texts without `{{` are scanned once; a megabyte of braces takes time in proportion to its length.",
  },
  {
    id: "memory",
    title: "Memory",
    script: "bench/memory.mjs",
    before: `Vectors in 100 clusters. The search is exact; *replace one* deletes an item and adds it anew; *as with f32*: how many of the first ten results
are the same.`,
  },
];

const tables = {};
let page = `# Benchmarks

Written by \`npm run bench\`. Measured on one machine with two cores, Node ${process.versions.node}; take the ratios, not the milliseconds: the same code has taken twice as long on another day.
`;
for (const { id, title, script, before, after } of PARTS) {
  if (only && !only.includes(id)) continue;
  console.log(`\n## ${title}\n`);
  const args = [join(root, script), ...(quick && id === "tokenizers" ? ["--quick"] : [])];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 26, stdio: ["ignore", "pipe", "inherit"] });
  if (status !== 0) throw new Error(`${script} ended with ${status}`);
  // The part's own line of JSON, and its heading, are not for the page.
  const text = stdout.split("\n").filter((line) => !line.startsWith("{") && !/^node v/.test(line)).join("\n").trim();
  console.log(text);
  tables[id] = parsed(text);
  page += `\n## ${title}\n\n\`node ${script}\`. ${before}\n\n${text}\n${after ? `\n${after}\n` : ""}`;
}
if (!quick && !only) writeFileSync(join(root, "docs", "benchmarks.md"), page);
console.log(`\n${JSON.stringify({ node: process.version, ...tables })}`);

/** The tables of a text: lists of rows by heading. */
function parsed(text) {
  const found = [];
  let head;
  for (const line of text.split("\n")) {
    if (!line.startsWith("|")) {
      head = undefined;
      continue;
    }
    const cells = line.split("|").slice(1, -1).map((cell) => cell.trim());
    if (!head) {
      head = cells;
      found.push([]);
    } else if (!cells.every((cell) => /^-+$/.test(cell))) {
      found.at(-1).push(Object.fromEntries(head.map((name, i) => [name, /^-?[\d.]+$/.test(cells[i]) ? Number(cells[i]) : cells[i]])));
    }
  }
  return found;
}
