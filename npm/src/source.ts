/** Where the wasm file is: beside this module. Bundlers see the literal URL and copy the file. */
export function source(): Promise<URL | Uint8Array> {
  return local(new URL("./promptside.wasm", import.meta.url));
}

/** The bytes of a file of this machine, where fetch has no `file:` addresses (Node); other addresses are left to fetch. */
export async function local(url: URL): Promise<URL | Uint8Array> {
  if (url.protocol !== "file:" || typeof document !== "undefined") return url;
  // The name is not literal, so that bundlers leave it alone.
  const fs: string = "node:fs/promises";
  const { readFile } = (await import(/* @vite-ignore */ /* webpackIgnore: true */ fs)) as { readFile(from: URL): Promise<Uint8Array> };
  return readFile(url);
}
