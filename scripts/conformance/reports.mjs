// Public bug reports reduced to a small input: `right` is what the default profile must do. The area and the keys of the
// input say which question is asked; what a report only asserts in words is checked for every report of that shape.
import { files, request, tokens } from "./reports/bytes.mjs";
import { lore, macros, regex } from "./reports/data.mjs";
import { prompt, reply, room, speakers } from "./reports/rounds.mjs";

const AREAS = { speakers, room, lore, macros, regex, prompt, tokens, reply, files, request };

export async function runReport(context, json) {
  const run = AREAS[json.area];
  if (!run) throw new Error(`no support for reports of ${json.area}`);
  return run(context, json.input, json.right);
}
