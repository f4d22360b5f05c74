// The first code block of the README works as printed, and prints what its comments say.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

for (const name of ["README.md", "README.zh-CN.md"]) {
  test(`${name}: the first example runs and prints what it says`, () => {
    const block = /```js\n([\s\S]*?)```/.exec(readFileSync(join(root, name), "utf8"))[1];
    const folder = mkdtempSync(join(tmpdir(), "promptside-readme-"));
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(join(root, "pkg"), join(folder, "node_modules", "promptside"), "dir");
    writeFileSync(join(folder, "example.mjs"), block);
    const printed = execFileSync(process.execPath, [join(folder, "example.mjs")], { encoding: "utf8" }).trim().split("\n");
    assert.equal(printed[0], "洛恩 mentioned");
    assert.match(printed[1], /^https:\/\/\S+ \d+$/);
    assert.equal(printed[2], "在。");
  });
}
