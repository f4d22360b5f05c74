// The clients are installed when a test first wants them: `npm ci`, again whenever the lock file says something else.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** Why they could not be installed for want of a network; `undefined` when they are there. */
export function install() {
  const lock = readFileSync(join(here, "package-lock.json"), "utf8");
  const mark = join(here, "node_modules", ".installed-lock.json");
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return undefined;
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  const done = spawnSync("npm", args, { cwd: here, encoding: "utf8", shell: process.platform === "win32" });
  if (done.status !== 0) {
    const said = `${done.stderr}${done.stdout}`;
    if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network/i.test(said)) return "no network";
    throw new Error(`npm ci failed: ${said}`);
  }
  writeFileSync(mark, lock);
  return undefined;
}
