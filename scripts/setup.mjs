// Installs what the build and the tests need and is not there yet. A second run only looks.
//   node scripts/setup.mjs [--browser]
import { copyFileSync, existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { bindgenPath, bindgenVersion, chromiumPath, fail, output, root, run, toolsDir } from "./lib.mjs";

const [major] = process.versions.node.split(".");
if (Number(major) < 20) fail(`Node 20 or newer is needed; this is ${process.versions.node}`);
if (!output("cargo", ["--version"])) fail("Rust is needed: install rustup from https://rustup.rs, then run this again");

// The playground depends on the package in pkg/, which may not be built yet: npm needs to see its name.
if (!existsSync(join(root, "pkg", "package.json"))) {
  mkdirSync(join(root, "pkg"), { recursive: true });
  copyFileSync(join(root, "npm", "package.json"), join(root, "pkg", "package.json"));
}

// npm packages of the root and of the playground, when the lock file is newer than what is installed.
for (const folder of [".", "www"]) {
  const lock = join(root, folder, "package-lock.json");
  const done = join(root, folder, "node_modules", ".package-lock.json");
  if (!existsSync(lock)) continue;
  if (!existsSync(done) || statSync(done).mtimeMs < statSync(lock).mtimeMs) {
    run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: join(root, folder), shell: process.platform === "win32" });
  }
}

const target = "wasm32-unknown-unknown";
if (output("rustup", ["--version"]) && !output("rustup", ["target", "list", "--installed"])?.includes(target)) {
  run("rustup", ["target", "add", target]);
}

if (!bindgenPath()) {
  const version = bindgenVersion();
  console.log(`installing wasm-bindgen-cli ${version} (once, some minutes)`);
  const args = ["install", "wasm-bindgen-cli", "--version", `=${version}`, "--root", join(toolsDir(), `wasm-bindgen-${version}`)];
  // Its own lock file may name a version that a mirror lacks; then cargo resolves anew.
  if (output("cargo", [...args, "--locked"]) === null) run("cargo", args);
}

if (process.argv.includes("--browser") && !chromiumPath()) {
  if (process.platform === "linux" && process.getuid?.() === 0 && output("apt-get", ["--version"])) {
    run("apt-get", ["update", "-qq"]);
    run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium"], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
  } else {
    fail("The browser tests need Chromium: install it (Debian: apt-get install chromium) or set CHROMIUM to its path");
  }
}
