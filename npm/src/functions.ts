// One-off calls, without a room.
import { call, text } from "./core.js";
import { PromptsideError } from "./errors.js";
import { filled } from "./room.js";
import type { BuildOptions, Built, Cleaned, CleanOptions, InspectOptions, InspectedText, Plan, RoomOptions, SceneInput, SpeakerOptions } from "./types.js";

function once<T>(method: string, scene: SceneInput | string, params: unknown, options: RoomOptions): T {
  return call(method, { scene: parsed(scene), options: { open: false, ...filled(options) }, params });
}

function parsed(scene: SceneInput | string): unknown {
  if (typeof scene !== "string") return scene;
  try {
    return JSON.parse(scene);
  } catch (cause) {
    throw new PromptsideError("json.syntax", "scene", `the scene is not JSON: ${String(cause)}`, { cause });
  }
}

/** Who would speak, and why. */
export function nextSpeakers(scene: SceneInput | string, params: SpeakerOptions = {}, options: RoomOptions = {}): Plan {
  return once("nextSpeakers", scene, params, options);
}

/** The request for a speaker, with its report. */
export function buildRequest(scene: SceneInput | string, params: BuildOptions = {}, options: RoomOptions = {}): Built {
  return once("buildRequest", scene, params, options);
}

/** A reply, cleaned. */
export function cleanReply(scene: SceneInput | string, params: CleanOptions, options: RoomOptions = {}): Cleaned {
  return once("cleanReply", scene, params, options);
}

/** A text with its macros expanded. */
export function expandMacros(source: string, scene: SceneInput | string, options: RoomOptions & { speaker?: string } = {}): string {
  const { speaker, ...rest } = options;
  const texts: string[] = once("expand", scene, { texts: [source], ...(speaker === undefined ? {} : { speaker }) }, rest);
  return texts[0] ?? "";
}

/** The same, with what each macro inserts, which are unknown (`unknown`), and what it would write. */
export function inspectText(source: string, scene: SceneInput | string, options: RoomOptions & Omit<InspectOptions, "text"> = {}): InspectedText {
  const { speaker, trust, commit: _, ...rest } = options;
  return once("inspectText", scene, { text: source, speaker, trust }, rest);
}

/** The lorebook keys of a comma-separated text, as editors show a list of them: commas inside `/expressions/` do not separate. */
export function splitKeys(text: string): string[] {
  return call("splitKeys", { text });
}

/** Any function of the module by its name. For tests and tools; the functions above are the way in. */
export function invoke<T>(method: string, params: unknown = {}): T {
  return call(method, text(params));
}
