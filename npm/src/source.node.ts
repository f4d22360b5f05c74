// Node's fetch has no file: URLs, so the bytes are read.
/** The bytes of the wasm file beside this module. */
export function source(): Promise<URL | Uint8Array> {
  return local(new URL("./promptside.wasm", import.meta.url));
}

/** The bytes of a file of this machine; other addresses are left to fetch. */
export async function local(url: URL): Promise<URL | Uint8Array> {
  if (url.protocol !== "file:") return url;
  // @ts-ignore: Node's types are not part of the package's build
  const { readFile } = await import("node:fs/promises");
  return readFile(url);
}
