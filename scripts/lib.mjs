// Small helpers shared by the scripts. Node built-ins only: setup runs before anything is installed.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Runs a program, its output shown; a failure ends the script with its exit code. */
export function run(program, args, options = {}) {
  const result = spawnSync(program, args, { stdio: "inherit", cwd: root, ...options });
  if (result.error) fail(`${program}: ${result.error.message}`);
  if (result.status !== 0) {
    console.error(`\n${[program, ...args].join(" ")} failed`);
    process.exit(result.status ?? 1);
  }
}

/** What a program prints, or null when it cannot be run or fails. */
export function output(program, args, options = {}) {
  const result = spawnSync(program, args, { encoding: "utf8", cwd: root, ...options });
  return result.error || result.status !== 0 ? null : result.stdout.trim();
}

export function fail(message) {
  console.error(message);
  process.exit(1);
}

/** The version of wasm-bindgen in Cargo.lock: the command-line tool must be the same. */
export function bindgenVersion() {
  const lock = readFileSync(join(root, "Cargo.lock"), "utf8");
  const found = /name = "wasm-bindgen"\nversion = "([^"]+)"/.exec(lock);
  return found ? found[1] : fail("Cargo.lock does not name wasm-bindgen");
}

/** Where tools that we install for ourselves go: outside the checkout, so that a second clone is quick. */
export function toolsDir() {
  const base = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  return join(base, "promptside");
}

/** The wasm-bindgen program of the right version: on PATH, or the one that setup installed. */
export function bindgenPath() {
  const version = bindgenVersion();
  const exe = process.platform === "win32" ? "wasm-bindgen.exe" : "wasm-bindgen";
  const own = join(toolsDir(), `wasm-bindgen-${version}`, "bin", exe);
  if (existsSync(own)) return own;
  return output("wasm-bindgen", ["--version"])?.endsWith(` ${version}`) ? "wasm-bindgen" : null;
}

/** Chromium: `CHROMIUM`, or one of the usual places. */
export function chromiumPath() {
  const usual = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  ];
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  return usual.find((path) => existsSync(path)) ?? null;
}
