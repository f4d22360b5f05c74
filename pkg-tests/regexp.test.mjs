// The package's regular expressions in this engine against the engine's own: chosen patterns, and random triples.
//   TRIPLES=100000 SEED=1 node --test pkg-tests/regexp.test.mjs     (default: 5000 of seed 1)
import assert from "node:assert/strict";
import { test } from "node:test";
import { invoke, load } from "../pkg/index.js";
import { triples, unshown } from "../scripts/regexp-agreement.mjs";
import { judged } from "../scripts/regexp-probes.mjs";

/** What the package finds, in the form of the triples; null for a syntax error. */
function found(pattern, flags, text) {
  const matches = invoke("regexp.matches", { pattern, flags, text });
  if (matches.error) return matches.error.includes("steps") ? matches.error : null;
  return matches.map((groups) => groups.map((range) => (range ? range.join("-") : "_")).join(",")).join(";");
}

function compare(list) {
  let total = 0;
  let errors = 0;
  const wrong = [];
  for (const [pattern, flags, shown, right] of list) {
    const text = unshown(shown);
    if (!text.isWellFormed()) continue; // lone halves do not cross the boundary
    total += 1;
    errors += right === null;
    const ours = found(pattern, flags, text);
    if (ours !== right) wrong.push({ pattern, flags, text, right, ours });
  }
  assert.deepEqual(wrong.slice(0, 20), [], `${wrong.length} of ${total} differ`);
  return { total, errors };
}

test("chosen patterns", async () => {
  await load();
  assert.ok(compare(judged()).total >= 68);
});

test("random triples", async (t) => {
  await load();
  const [count, seed] = [Number(process.env.TRIPLES ?? 5000), Number(process.env.SEED ?? 1)];
  const { total, errors } = compare(triples(count, seed));
  assert.ok(total > count * 0.9 && errors < total / 2);
  t.diagnostic(`${total} triples, ${errors} of them syntax errors in both, 0 differ`);
});
