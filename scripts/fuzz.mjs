// Fuzzing on the stable toolchain: builds the targets with coverage, runs each from its corpus and the recorded cases, and keeps of the corpus
// what adds coverage: fuzz/corpus/TARGET.json, a list of inputs as base64.
//   node scripts/fuzz.mjs [TARGET …] [--seconds 60] [--jobs 2]
// A crash ends it with status 1; the input is in fuzz/artifacts/TARGET. Needs a C++ compiler.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { output, root, run } from "./lib.mjs";

const args = process.argv.slice(2);
const option = (name, missing) => (args.includes(name) ? Number(args.splice(args.indexOf(name), 2)[1]) : missing);
const seconds = option("--seconds", 60);
const jobs = option("--jobs", 2);
const fuzz = join(root, "fuzz");
const all = readdirSync(join(fuzz, "fuzz_targets")).map((file) => basename(file, ".rs"));
const targets = args.length ? args : all;

// Coverage of every edge, as cargo-fuzz asks for it; no sanitizer, since there is no unsafe code.
const flags = ["--cfg fuzzing", "-Cpasses=sancov-module"].concat(
  ["-sanitizer-coverage-level=4", "-sanitizer-coverage-inline-8bit-counters", "-sanitizer-coverage-pc-table", "-sanitizer-coverage-trace-compares"].map((flag) => `-Cllvm-args=${flag}`),
  ["-Cdebug-assertions", "-Coverflow-checks", "-Ccodegen-units=16"],
);
const host = /host: (\S+)/.exec(output("rustc", ["-vV"]))[1];
run("cargo", ["build", "--release", "--manifest-path", join(fuzz, "Cargo.toml"), "--target", host, ...targets.flatMap((name) => ["--bin", name])], {
  env: { ...process.env, RUSTFLAGS: flags.join(" "), CARGO_PROFILE_RELEASE_LTO: "off", CARGO_PROFILE_RELEASE_PANIC: "abort" },
});

const waiting = [...targets];
let failed = 0;
await Promise.all(Array.from({ length: jobs }, async () => {
  for (let name = waiting.shift(); name; name = waiting.shift()) failed += (await one(name)) ? 0 : 1;
}));
process.exitCode = failed ? 1 : 0;

/** Runs a target, then keeps of its corpus what adds coverage. */
async function one(name) {
  const [corpus, artifacts, seeds] = ["target/corpus", "artifacts", "target/seeds"].map((folder) => join(fuzz, folder, name));
  for (const folder of [corpus, artifacts, seeds]) mkdirSync(folder, { recursive: true });
  const packed = join(fuzz, "corpus", `${name}.json`);
  if (existsSync(packed)) {
    JSON.parse(readFileSync(packed, "utf8")).forEach((input, i) => writeFileSync(join(corpus, `kept-${i}`), Buffer.from(input, "base64")));
  }
  seed(name, seeds);
  const binary = join(fuzz, "target", host, "release", name);
  const bounds = ["-timeout=20", "-rss_limit_mb=2048", "-max_len=65536"];
  const last = await started(binary, [`-max_total_time=${seconds}`, `-artifact_prefix=${artifacts}/`, ...bounds, "-verbosity=1", corpus, seeds]);
  console.log(`${name}: ${last.status === 0 ? "no finding" : `status ${last.status}`}; ${last.line}`);
  if (last.status !== 0) return false;
  const small = `${corpus}.small`;
  rmSync(small, { recursive: true, force: true });
  mkdirSync(small);
  // Archives and pictures do not get shorter than this.
  await started(binary, ["-merge=1", ...bounds, `-max_len=${/zip|png/.test(name) ? 2048 : 192}`, small, corpus, seeds]);
  const inputs = readdirSync(small).sort().map((file) => readFileSync(join(small, file)).toString("base64"));
  mkdirSync(join(fuzz, "corpus"), { recursive: true });
  writeFileSync(packed, `${JSON.stringify(inputs, null, 0).replaceAll('","', '",\n"')}\n`);
  return true;
}

/** The recorded cases: files as they are, texts out of the others. */
function seed(name, into) {
  const golden = join(root, "tests", "golden");
  const put = (file, bytes) => writeFileSync(join(into, file), bytes);
  if (name === "macros" || name === "scripts") {
    for (const file of readdirSync(join(golden, name === "macros" ? "macros-random" : "regex"))) {
      if (file.startsWith("_")) continue;
      const text = readFileSync(join(golden, name === "macros" ? "macros-random" : "regex", file), "utf8");
      const fields = [...text.matchAll(/"(?:text|findRegex)":\s*("(?:[^"\\]|\\.)*")/g)].map((m) => JSON.parse(m[1]));
      fields.slice(0, 4).forEach((field, i) => put(`${file}-${i}`, name === "macros" ? `\0${field}` : field));
    }
    return;
  }
  for (const file of readdirSync(join(golden, "formats"))) {
    if (!file.endsWith(".expect.json")) put(file, readFileSync(join(golden, "formats", file)));
  }
}

function started(binary, args) {
  return new Promise((resolve) => {
    const child = spawn(binary, args, { stdio: ["ignore", "ignore", "pipe"] });
    let tail = "";
    child.stderr.on("data", (data) => (tail = (tail + data).slice(-20_000)));
    child.on("close", (status) => {
      const line = tail.trim().split("\n").findLast((l) => /cov: \d+/.test(l)) ?? tail.trim().split("\n").at(-1);
      if (status !== 0) console.error(tail.slice(-3000));
      resolve({ status, line });
    });
  });
}
