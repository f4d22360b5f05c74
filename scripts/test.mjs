// All checks, in the order in which they fail fastest.
//   node scripts/test.mjs [--quick]     (--quick: no browser, nothing from npm)
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { chromiumPath, root, run } from "./lib.mjs";

const quick = process.argv.includes("--quick");
const step = (name, action) => {
  const from = performance.now();
  console.log(`\n== ${name}`);
  action();
  console.log(`-- ${name}: ${((performance.now() - from) / 1000).toFixed(1)} s`);
};

step("format", () => run("cargo", ["fmt", "--check"]));
step("lints", () => run("cargo", ["clippy", "--all-targets", "--locked", "--", "-D", "warnings"]));
step("Rust", () => run("cargo", ["test", "--locked"]));
step("package", () => run(process.execPath, [join(root, "scripts", "build.mjs")]));
step("size", () => run(process.execPath, [join(root, "scripts", "size.mjs"), "--gate"]));
step("recorded cases", () => run(process.execPath, [join(root, "scripts", "conformance.mjs"), "--ratchet"]));
step("package in Node", () => {
  const files = readdirSync(join(root, "pkg-tests")).filter((f) => f.endsWith(".test.mjs")).map((f) => join(root, "pkg-tests", f));
  run(process.execPath, ["--test", "--test-concurrency=2", ...files.filter((f) => !(quick && /browser|sillytavern|sdk|presets|real|tokenizer-json/.test(f)))], {
    env: { ...process.env, CHROMIUM: chromiumPath() ?? "" },
  });
});
