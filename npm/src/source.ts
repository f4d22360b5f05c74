/** Where the wasm file is: beside this module. Bundlers see the literal URL and copy the file. */
export async function source(): Promise<URL | Uint8Array> {
  return new URL("./promptside.wasm", import.meta.url);
}

/** Browsers fetch every address. */
export async function local(url: URL): Promise<URL | Uint8Array> {
  return url;
}
