// Files that users bring, and files for them: `docs/files.md`.
import { callBytes, writeBytes } from "./core.js";
import { PromptsideError } from "./errors.js";
import type { FileKind, FileRead } from "./types.js";

/** Bytes of a file. */
export type FileBytes = Uint8Array | ArrayBuffer;

/** Bounds on what a file may make of itself: `file_bytes`, `inflated_bytes`, `zip_entries`, `zip_bytes` (`docs/untrusted.md`). */
export interface FileLimits {
  limits?: Record<string, number>;
}

/** How a file is read. */
export interface ReadOptions extends FileLimits {
  /** The kind that is needed; another one is the error `file.wrong-kind`. */
  want?: FileKind;
  /** Names for chats that name nobody (`User`, `Character`). */
  names?: { user?: string; character?: string };
  /** Also give the JSON as it stands in the file (`source`): what `writeFile` turns into the same file again. */
  source?: boolean;
}

/** For others: private fields (`fav`, `chat`) and addresses of servers are left out. */
export interface Sharing {
  sharing?: boolean;
}

/** What a file is and what it came in, told from its bytes. */
export function detectFile(bytes: FileBytes, options: FileLimits = {}): { kind: FileKind; container: string } {
  return callBytes("detectFile", asBytes(bytes), options);
}

/** Reads any file that users bring: cards (PNG, JSON, CHARX …), lorebooks, chats, presets, groups, personas, scripts. */
export function readFile(bytes: FileBytes, options: ReadOptions = {}): FileRead {
  return callBytes("readFile", asBytes(bytes), options);
}

/** A file that a card brings along, by its address in the card (`embeded://…`, `__asset:…`, `data:…`) or its `path` in `assets`. */
export function extractAsset(bytes: FileBytes, address: string, options: FileLimits = {}): Uint8Array | undefined {
  return writeBytes("extractAsset", asBytes(bytes), { ...options, address });
}

/**
 * Writes a card: into a PNG picture or a CHARX archive if one is given (its other contents stay as they are), else as JSON text.
 * `version` is what JSON says it is (2); a picture gets both, an archive 3. Fields of V3 are kept either way.
 */
export function writeCard(card: unknown, into?: FileBytes, options: Sharing & FileLimits & { version?: 2 | 3 } = {}): Uint8Array {
  return written("writeCard", into ? asBytes(into) : new Uint8Array(), { ...options, card });
}

/** Writes a card and its assets, by their paths in the archive, as a new CHARX archive. */
export function writeCharx(card: unknown, assets: Record<string, FileBytes> = {}, options: Sharing = {}): Uint8Array {
  const list = Object.entries(assets).map(([path, bytes]) => ({ path, bytes: asBytes(bytes) }));
  const all = new Uint8Array(list.reduce((sum, { bytes }) => sum + bytes.length, 0));
  let at = 0;
  for (const { bytes } of list) {
    all.set(bytes, at);
    at += bytes.length;
  }
  return written("writeCharx", all, { ...options, card, assets: list.map(({ path, bytes }) => ({ path, size: bytes.length })) });
}

/**
 * Writes a value of any kind as its text file: a chat as JSON lines, a lorebook of any dialect as a world file (`characterBook`: as
 * the book of a card), a card, a group, scripts and presets as JSON. `value` is what `readFile` gave, or its `source`.
 */
export function writeFile(kind: FileKind, value: unknown, options: Sharing & { characterBook?: boolean } = {}): Uint8Array {
  return written("writeFile", new Uint8Array(), { ...options, kind, value });
}

function written(method: string, bytes: Uint8Array, params: unknown): Uint8Array {
  return writeBytes(method, bytes, params) ?? new Uint8Array();
}

function asBytes(bytes: FileBytes): Uint8Array {
  if (bytes instanceof Uint8Array) return bytes;
  if (bytes instanceof ArrayBuffer) return new Uint8Array(bytes);
  throw new PromptsideError("input.not_bytes", "bytes", "give a file's bytes: a Uint8Array or an ArrayBuffer");
}
