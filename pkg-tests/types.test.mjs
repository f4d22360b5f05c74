// A strict TypeScript program over the whole public API compiles with the package's types, however modules are resolved.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const resolutions = { bundler: ["esnext", "bundler"], node16: ["node16", "node16"], nodenext: ["nodenext", "nodenext"] };

for (const [name, [module, moduleResolution]] of Object.entries(resolutions)) {
  test(`types under moduleResolution ${name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), "promptside-types-"));
    try {
      mkdirSync(join(folder, "node_modules"));
      symlinkSync(join(root, "pkg"), join(folder, "node_modules", "promptside"), "dir");
      copyFileSync(join(here, "types", "use.ts"), join(folder, "use.ts"));
      writeFileSync(join(folder, "package.json"), '{"type":"module"}');
      const compilerOptions = {
        module, moduleResolution, target: "es2022", lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable", "esnext.disposable"],
        types: [], strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, noPropertyAccessFromIndexSignature: true,
        skipLibCheck: false, noEmit: true,
      };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["use.ts"] }));
      const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
      const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
      assert.equal(status, 0, stdout + stderr);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}
