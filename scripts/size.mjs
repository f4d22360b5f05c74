// What the package costs to load: bytes of every file, raw and compressed, and the limits that CI holds.
//   node scripts/size.mjs [--gate]     (--gate: exit status 1 above a limit)
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { fail, root } from "./lib.mjs";

/** Most bytes after brotli, level 11. Raise one only with a reason in the commit. */
const LIMITS = { "promptside.wasm": 1_020_000, "all JavaScript": 16_000 };

const pkg = join(root, "pkg");
if (!existsSync(pkg)) fail("pkg/ is not built: run npm run build first");
const rows = new Map();
for (const name of files(pkg)) {
  if (!/\.(wasm|js|bin)$/.test(name)) continue;
  const bytes = readFileSync(join(pkg, name));
  const script = name.endsWith(".js") && !name.startsWith("tokenizers/");
  const row = rows.get(script ? "all JavaScript" : name) ?? { raw: 0, gzip: 0, brotli: 0 };
  row.raw += bytes.length;
  row.gzip += gzipSync(bytes, { level: 9 }).length;
  // A vocabulary is megabytes of what hardly shrinks: the fast level is within a few percent.
  row.brotli += name.endsWith(".bin") ? gzipSync(bytes).length : brotliCompressSync(bytes).length;
  rows.set(script ? "all JavaScript" : name, row);
}
console.log("| file | raw | gzip | brotli |\n|---|---|---|---|");
let over = 0;
for (const [name, { raw, gzip, brotli }] of rows) {
  console.log(`| ${name} | ${raw} | ${gzip} | ${name.endsWith(".bin") ? "" : brotli} |`);
  if (brotli > (LIMITS[name] ?? Infinity)) {
    over += 1;
    console.error(`${name}: ${brotli} bytes after brotli, the limit is ${LIMITS[name]}`);
  }
}
if (over && process.argv.includes("--gate")) process.exit(1);

function files(folder, under = "") {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => (statSync(join(folder, name)).isDirectory() ? files(join(folder, name), `${under}${name}/`) : [`${under}${name}`]));
}
