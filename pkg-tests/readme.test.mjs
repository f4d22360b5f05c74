// The first code block of both READMEs works as printed, and prints what its comments say.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const names = ["README.md", "README.zh-CN.md"];
const pages = names.map((name) => readFileSync(join(root, name), "utf8"));
const blocks = pages.map((page) => [...page.matchAll(/```js\n([\s\S]*?)```/g)].map((m) => m[1]));

for (const [i, name] of names.entries()) {
  test(`${name}: the first example runs and prints what it says`, (t) => {
    const block = blocks[i][0];
    const said = [...block.matchAll(/^console\.log\(.*\);\s*\/\/ (.+)$/gm)].map((m) => m[1].trim());
    assert.equal(said.length, block.split("console.log(").length - 1, "every printed line has its output beside it");
    const folder = mkdtempSync(join(tmpdir(), "promptside-readme-"));
    t.after(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(join(root, "pkg"), join(folder, "node_modules", "promptside"), "dir");
    writeFileSync(join(folder, "example.mjs"), block);
    const printed = execFileSync(process.execPath, [join(folder, "example.mjs")], { encoding: "utf8" }).trim().split("\n");
    assert.deepEqual(printed, said);
  });
}

test("both READMEs show the same code and the same structure", () => {
  assert.deepEqual(blocks[1], blocks[0]);
  const shape = (page) => page.split("\n").filter((line) => /^(#+ |```|\|---)/.test(line)).map((line) => line.replace(/^(#+).*/, "$1"));
  assert.deepEqual(shape(pages[1]), shape(pages[0]));
});
