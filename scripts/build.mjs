// Makes the package in pkg/: wasm through wasm-bindgen and wasm-opt, the TypeScript wrapper, vocabularies, README, licences.
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { bindgenPath, fail, root, run } from "./lib.mjs";

const pkg = join(root, "pkg");
const out = join(root, "target", "pkg");
const target = "wasm32-unknown-unknown";

// `--dev`: a quick build for trying things, several times the size.
const dev = process.argv.includes("--dev");
const profile = dev ? "wasm-dev" : "release";
run("cargo", ["build", "--profile", profile, "--lib", "--target", target, "--locked"]);
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const bindgen = bindgenPath() ?? fail("wasm-bindgen is missing: run npm run setup");
run(bindgen, [join(root, "target", target, profile, "promptside.wasm"), "--target", "web", "--no-typescript", "--out-dir", out]);

rmSync(pkg, { recursive: true, force: true });
mkdirSync(pkg, { recursive: true });
const wasm = join(pkg, "promptside.wasm");
if (dev) copyFileSync(join(out, "promptside_bg.wasm"), wasm);
else {
  const options = ["-O3", "--strip-debug", "--strip-producers", "-o", wasm];
  run(process.execPath, [join(root, "node_modules", "binaryen", "bin", "wasm-opt"), join(out, "promptside_bg.wasm"), ...options]);
}

// The generated glue finds the wasm by itself in a default branch that no one of us uses: `load` always hands it the bytes.
// Taking the branch out keeps bundlers from copying the wasm twice.
const glue = readFileSync(join(out, "promptside.js"), "utf8");
const plain = glue.replace(/new URL\('promptside_bg\.wasm', import\.meta\.url\)/, "undefined");
if (plain === glue) fail("the glue of wasm-bindgen changed: look for its `new URL` and adapt build.mjs");
writeFileSync(join(pkg, "glue.js"), plain);

run(process.execPath, [join(root, "node_modules", "typescript", "bin", "tsc"), "-p", join(root, "npm")]);

// Comments for readers of the API are in the declarations; in the code they are a quarter of the download.
for (const file of readdirSync(pkg).filter((name) => name.endsWith(".js"))) {
  const code = readFileSync(join(pkg, file), "utf8");
  writeFileSync(join(pkg, file), code.replace(/^[ \t]*\/\*\*[\s\S]*?\*\/\n/gm, ""));
}

// The compiler does not copy declarations that were written by hand.
copyFileSync(join(root, "npm", "src", "glue.d.ts"), join(pkg, "glue.d.ts"));
for (const file of ["README.md", "README.zh-CN.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"]) {
  if (existsSync(join(root, file))) copyFileSync(join(root, file), join(pkg, file));
}
const manifest = JSON.parse(readFileSync(join(root, "npm", "package.json"), "utf8"));
manifest.version = /^version = "([^"]+)"/m.exec(readFileSync(join(root, "Cargo.toml"), "utf8"))[1];
writeFileSync(join(pkg, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);

// Vocabularies: a file each, and a module that says where it is. The literal `new URL` is what bundlers look for.
const assets = join(root, "target", "tokenizers");
run("cargo", ["run", "--release", "--quiet", "--locked", "--manifest-path", join(root, "tools", "vocab", "Cargo.toml"), "--", assets]);
const tokenizers = join(pkg, "tokenizers");
mkdirSync(tokenizers, { recursive: true });
const { encodings } = JSON.parse(readFileSync(join(assets, "index.json"), "utf8"));
for (const { name, file } of encodings) {
  copyFileSync(join(assets, file), join(tokenizers, file));
  const encoding = file.slice(0, -".bin".length);
  const module = `export default { encoding: "${encoding}", source: async () => new URL("./${file}", import.meta.url) };\n`;
  writeFileSync(join(tokenizers, `${name}.js`), module);
  writeFileSync(
    join(tokenizers, `${name}.d.ts`),
    `import type { Vocabulary } from "../index.js";\ndeclare const vocabulary: Vocabulary;\nexport default vocabulary;\n`,
  );
}

for (const file of walk(pkg)) {
  if (!/\.(wasm|bin|js)$/.test(file)) continue;
  const bytes = readFileSync(file);
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }).length;
  console.log(`${file.slice(pkg.length + 1).padEnd(32)} ${kb(bytes.length)} raw ${kb(gzipSync(bytes).length)} gzip ${kb(brotli)} brotli-5`);
}

function* walk(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* walk(path);
    else yield path;
  }
}

function kb(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`.padStart(10);
}
