// Files as users bring them, with what must be read from each (spec 08 §12.9).
import { readFileSync } from "node:fs";

export async function runFormats({ promptside, file }) {
  const expect = JSON.parse(readFileSync(file, "utf8"));
  const bytes = new Uint8Array(readFileSync(file.slice(0, -".expect.json".length)));
  const expected = { result: expect.result };
  const got = {};
  let read;
  try {
    read = promptside.readFile(bytes, expect.want ? { want: expect.want } : {});
    got.result = "ok";
  } catch (error) {
    if (!promptside.isPromptsideError(error)) throw error;
    got.result = "error";
    got.error = { code: error.code.replace(/^file\./, "") };
  }
  if (expect.result === "error") return { expected: { ...expected, error: expect.error }, got };
  if (!read) return { expected, got };
  for (const key of ["kind", "container", "chunk"]) {
    if (key in expect) {
      expected[key] = expect[key];
      got[key] = read[key];
    }
  }
  expected.warnings = expect.warnings;
  got.warnings = [...new Set(read.warnings.map((w) => w.code))].sort();
  for (const [pointer, value] of Object.entries(expect.expect ?? {})) {
    expected[pointer] = value;
    got[pointer] = at(read, pointer);
  }
  for (const pointer of expect.absent ?? []) {
    expected[`absent ${pointer}`] = true;
    got[`absent ${pointer}`] = at(read, pointer) === undefined;
  }
  return { expected, got };
}

/** RFC 6901. */
function at(value, pointer) {
  if (pointer === "") return value;
  for (const part of pointer.slice(1).split("/")) {
    if (value === null || typeof value !== "object") return undefined;
    value = value[part.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return value;
}
