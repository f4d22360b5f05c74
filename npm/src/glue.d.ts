// What wasm-bindgen generates (glue.js): the only way into the module.
export class Handle {
  constructor(scene: string, options: string);
  call(method: string, params: string): string;
  call_floats(method: string, params: string, floats: Float32Array): string;
  memory_bytes(): Uint8Array;
  load_memory(state: string, bytes: Uint8Array): void;
  free(): void;
}
export class Vectors {
  constructor(model: string, precision: string);
  static from_bytes(model: string, items: string, bytes: Uint8Array): Vectors;
  add(items: string, floats: Float32Array): void;
  remove(ids: string): void;
  search(query: Float32Array, k: number): string;
  items(): string;
  to_bytes(): Uint8Array;
  length(): number;
  size(): number;
  free(): void;
}
export class Tokens {
  constructor(name: string);
  count(text: string): number;
  count_up_to(text: string, limit: number): number;
  count_each(bytes: Uint8Array, lengths: Uint32Array): Uint32Array;
  encode(text: string): Uint32Array;
  decode(ids: Uint32Array): Uint8Array;
  stream(): TokenStream;
  free(): void;
}
export class TokenStream {
  add(text: string): number;
  free(): void;
}
export function call(method: string, params: string): string;
export function call_bytes(method: string, bytes: Uint8Array, params: string): string;
export function write_bytes(method: string, bytes: Uint8Array, params: string): Uint8Array | undefined;
export function load_vocabulary(bytes: Uint8Array): string;
export function load_tokenizer_file(name: string, bytes: Uint8Array): void;
export function entropy(): string;
export default function init(input: { module_or_path: unknown }): Promise<unknown>;
export function initSync(input: { module: unknown }): unknown;
