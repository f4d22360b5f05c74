// One case file -> what was recorded and what the package gives, in the same shape.
import { readFileSync } from "node:fs";
import { runFunction } from "./functions.mjs";
import { runScenario } from "./scenario.mjs";

/** `{expected, got}` of a case; the shape of the file says how to run it. */
export async function runCase(context) {
  // What needs Node alone is loaded when it is needed, so that the rest runs in a browser.
  if (context.file.endsWith(".expect.json")) return (await import("./formats.mjs")).runFormats(context);
  const json = JSON.parse(readFileSync(context.file, "utf8"));
  if (json.scenario) return runScenario(context, json);
  if ("right" in json) return (await import("./reports.mjs")).runReport(context, json);
  if (json.fn || json.input?.fn) return runFunction(context, json);
  throw new Error("this file has none of the shapes that tests/golden/README.md describes");
}
