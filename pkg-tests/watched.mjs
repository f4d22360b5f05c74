// The loaded module with its memory watched, and archives and pictures that no honest program writes.
import assert from "node:assert/strict";
import * as zlib from "node:zlib";
import { isPromptsideError, load } from "../pkg/index.js";

const { deflateRawSync, deflateSync } = zlib;
export const MB = 1 << 20;

// The module's memory, seen as it is made.
let memory;
const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = async (...args) => {
  const made = await instantiate(...args);
  memory = (made.instance ?? made).exports.memory;
  return made;
};
await load();
WebAssembly.instantiate = instantiate;

/** Runs an action; the module may not grow by more than so many megabytes. It never shrinks: the first large action of a file counts. `MEASURE=1` prints the figures. */
export function within(name, megabytes, action) {
  const [before, from] = [memory.buffer.byteLength, process.cpuUsage()];
  const result = action();
  const [grown, took] = [(memory.buffer.byteLength - before) / MB, process.cpuUsage(from).user / 1000];
  if (process.env.MEASURE) console.log(`${name}: ${took.toFixed(0)} ms of the processor, memory +${grown.toFixed(0)} MiB`);
  assert.ok(grown <= megabytes, `${name}: memory grew by ${grown.toFixed(0)} MiB`);
  return result;
}
export const refused = (name, megabytes, code, action) => within(name, megabytes, () => assert.throws(action, (e) => isPromptsideError(e) && e.code === code, name));

/** CRC-32, which Node has from 20.15 on. */
function crc32(bytes) {
  if (zlib.crc32) return zlib.crc32(bytes);
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; k += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** A ZIP of deflated entries; `claims`: the size that an entry says it has. */
export function zip(entries) {
  const [locals, directory] = [[], []];
  let offset = 0;
  for (const { name, packed, crc, claims } of entries) {
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    const common = Buffer.alloc(26);
    [20, 0x800, 8, 0, 0x21].forEach((n, i) => common.writeUInt16LE(n, 2 * i));
    [crc, packed.length, claims].forEach((n, i) => common.writeUInt32LE(n, 10 + 4 * i));
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    common.copy(local, 4);
    locals.push(local, Buffer.from(name), packed);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(20, 4);
    common.copy(entry, 6);
    entry.writeUInt32LE(offset, 42);
    directory.push(entry, Buffer.from(name));
    offset += 30 + Buffer.byteLength(name) + packed.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  [8, 10].forEach((at) => end.writeUInt16LE(entries.length, at));
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, listed, end]);
}
export const entry = (name, bytes, claims = bytes.length) => ({ name, packed: deflateRawSync(bytes, { level: 9 }), crc: crc32(bytes), claims });

export function png(...chunks) {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const [head, tail] = [Buffer.alloc(4), Buffer.alloc(4)];
    head.writeUInt32BE(data.length, 0);
    tail.writeUInt32BE(crc32(body), 0);
    return Buffer.concat([head, body, tail]);
  };
  const size = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]);
  const parts = [chunk("IHDR", size), chunk("IDAT", deflateSync(Buffer.alloc(2))), ...chunks.map(([type, data]) => chunk(type, data)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...parts]);
}
