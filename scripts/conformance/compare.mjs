// Two JSON values -> where they differ, as JSON pointers.

/** Up to `limit` differences between what was recorded and what came out. */
export function differences(expected, got, limit = 5) {
  const found = [];
  walk("", expected, got, found, limit);
  return found;
}

function walk(pointer, expected, got, found, limit) {
  if (found.length >= limit || Object.is(expected, got)) return;
  if (Array.isArray(expected) && Array.isArray(got)) {
    const n = Math.max(expected.length, got.length);
    for (let i = 0; i < n && found.length < limit; i++) walk(`${pointer}/${i}`, expected[i], got[i], found, limit);
    return;
  }
  if (isObject(expected) && isObject(got)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(got)])) {
      walk(`${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, expected[key], got[key], found, limit);
    }
    return;
  }
  if (typeof expected === "number" && typeof got === "number" && expected === got) return;
  found.push({ pointer, expected, got });
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
