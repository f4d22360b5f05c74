// What wasm-bindgen generates (glue.js): the only way into the module.
export class Handle {
  constructor(scene: string, options: string);
  call(method: string, params: string): string;
  free(): void;
}
export function call(method: string, params: string): string;
export function call_bytes(method: string, bytes: Uint8Array, params: string): string;
export function write_bytes(method: string, bytes: Uint8Array, params: string): Uint8Array;
export function load_vocabulary(bytes: Uint8Array): string;
export function entropy(): string;
export default function init(input: { module_or_path: unknown }): Promise<unknown>;
export function initSync(input: { module: unknown }): unknown;
