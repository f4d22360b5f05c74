// Packages of others that tests look into, by name and version. What was fetched once is kept beside the installed packages.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, inflateRawSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const cache = join(here, "..", "node_modules", ".cache", "promptside");
const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network|NewConnectionError|name resolution|timed out/i;

/** Files of SillyTavern's own npm package, as real users have them: path -> bytes; `undefined` without a network. No code is read. */
export function contentOf(folder) {
  return npmFiles("sillytavern@1.19.0", folder);
}

/** Path -> bytes of all files of an npm package whose path begins so; `undefined` without a network. */
export function npmFiles(name, start = "") {
  const archive = fetched(`${name.replace(/[@/]/g, "_")}.tgz`, (place) => run("npm", ["pack", name, "--silent"], place));
  return archive && untar(archive, `package/${start}`);
}

/** Path -> bytes of a wheel of the Python index whose path begins so; `undefined` without a network or without pip. */
export function wheelFiles(name, version, start = "") {
  const archive = fetched(`${name}-${version}.whl`, (place) => {
    const python = ["python3", "python"].find((p) => spawnSync(p, ["-m", "pip", "--version"]).status === 0);
    const args = ["-m", "pip", "download", `${name}==${version}`, "--no-deps", "--only-binary", ":all:", "--quiet", "--disable-pip-version-check"];
    return python !== undefined && run(python, args, place);
  });
  return archive && unzip(archive, start);
}

/** Installs the packages that a folder's lock file names; again whenever it says something else. Gives why not, for want of a network. */
export function install(folder) {
  const at = join(here, folder);
  const lock = readFileSync(join(at, "package-lock.json"), "utf8");
  const mark = join(at, "node_modules", ".installed-lock.json");
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return undefined;
  if (!run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], at)) return "no network";
  writeFileSync(mark, lock);
  return undefined;
}

/** False without a network. */
function run(command, args, cwd) {
  const done = spawnSync(command, args, { cwd, encoding: "utf8", shell: process.platform === "win32" });
  if (done.status === 0) return true;
  const said = `${done.stderr}${done.stdout}`;
  if (UNREACHABLE.test(said)) return false;
  throw new Error(`${command} ${args[0]} failed: ${said}`);
}

/** The one file that an action leaves in a folder, or what it left there before. Tests run beside each other: a file appears whole. */
function fetched(name, action) {
  const kept = join(cache, name);
  if (existsSync(kept)) return readFileSync(kept);
  mkdirSync(cache, { recursive: true });
  const place = mkdtempSync(join(cache, "fetch-"));
  try {
    if (!action(place)) return undefined;
    renameSync(join(place, readdirSync(place)[0]), kept);
    return readFileSync(kept);
  } finally {
    rmSync(place, { recursive: true });
  }
}

/** Files of a .tgz whose path begins so: tar is blocks of 512 bytes, a header before each file. */
function untar(archive, start) {
  const tar = gunzipSync(archive);
  const files = new Map();
  for (let at = 0; at + 512 <= tar.length; ) {
    const field = (from, length) => tar.subarray(at + from, at + from + length).toString("latin1").replace(/\0.*$/s, "");
    const size = parseInt(field(124, 12), 8) || 0;
    const prefix = field(345, 155);
    const path = (prefix ? `${prefix}/` : "") + field(0, 100);
    if (path.startsWith(start) && size > 0) files.set(path.slice("package/".length), tar.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

/** Files of a ZIP whose path begins so, by its directory at the end. */
export function unzip(zip, start = "") {
  const files = new Map();
  const end = zip.lastIndexOf("PK\x05\x06", undefined, "latin1");
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [method, packed] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 20)];
    const [name, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    const path = zip.toString("utf8", at + 46, at + 46 + name);
    const local = zip.readUInt32LE(at + 42);
    if (path.startsWith(start) && !path.endsWith("/")) {
      const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const bytes = zip.subarray(from, from + packed);
      files.set(path, method === 0 ? bytes : inflateRawSync(bytes));
    }
    at += 46 + name + extra + comment;
  }
  return files;
}
