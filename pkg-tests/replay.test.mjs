// The same rounds give the same bytes in Node as natively; `browser-conformance` asks Chromium.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as promptside from "../pkg/index.js";
import { play } from "./replay.mjs";

const file = JSON.parse(readFileSync(new URL("../tests/replay.json", import.meta.url), "utf8"));

test("rounds replay to the byte", async () => {
  await promptside.load();
  for (const one of file.cases) assert.equal(play(promptside, file, one), one.digest, one.what);
});
