// Node's fetch has no file: URLs, so the bytes are read.
/** The bytes of the wasm file beside this module. */
export async function source(): Promise<URL | Uint8Array> {
  // @ts-ignore: Node's types are not part of the package's build
  const { readFile } = await import("node:fs/promises");
  return readFile(new URL("./promptside.wasm", import.meta.url));
}
