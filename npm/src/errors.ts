/** The one error this package throws. `code` is stable; `path` names the field at fault, `""` for none. */
export class PromptsideError extends Error {
  override readonly name = "PromptsideError";
  readonly code: string;
  readonly path: string;

  constructor(code: string, path: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.path = path;
  }

  get [Symbol.toStringTag](): string {
    return "PromptsideError";
  }
}

/** Whether a value is this package's error, also when it came from another copy of the package or another realm. */
export function isPromptsideError(value: unknown): value is PromptsideError {
  return value instanceof Error && value.name === "PromptsideError" && "code" in value && "path" in value;
}
