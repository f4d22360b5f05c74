// Random (pattern, flags, text) triples with what V8 finds: for tests/it/regexp_v8.rs (native) and pkg-tests/regexp.test.mjs (the package).
// Usage: node scripts/regexp-agreement.mjs COUNT [SEED [v]] > tests/data/regexp-v8.jsonl
// With v the flag v is among the flags; Node 20's is young: it repeats [^]{3} once and can crash.
// A line is [pattern, flags, text, result]: result null = syntax error, else the matches, "start-end" for each group, "_" for a group
// without a part, groups separated by commas, matches by semicolons. In texts U+E000 and U+E001 stand for lone halves D83D and DE00.
// A triple on which V8 itself is lost for seconds is left out: its answer then is not always right.
import { pathToFileURL } from "node:url";

const lost = 3000; // ms

let state = 0;
function random() { // mulberry32
  state = (state + 0x6d2b79f5) >>> 0;
  let t = state;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const below = (n) => Math.floor(random() * n);
const one = (list) => list[below(list.length)];
const chance = (p) => random() < p;
const times = (n, f) => Array.from({ length: n }, f).join("");

const letters = ["a", "a", "a", "b", "b", "c", "A", "B", "k", "s", "S", "1", "_", "-", " ", "é", "É", "ß", "ẞ", "ſ", "\u212a", "µ", "Μ", "μ", "ς", "σ", "Σ", "İ", "ı", "i", "I",
  "洛", "あ", "한", "Ж", "ж", "ก", "ع", "😀", "😀", "😁", "𐐀", "𐐨", "\n", "\r", "\u2028", "\t", "\u00a0", "\ufeff", "ǅ", "Ꭰ", "ꭰ", "θ", "ϴ", "Ω", "Ω"];
let palette = letters;
const letter = () => one(palette);
const escapes = ["\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\d", "\\w", "\\s"];
const odd = ["\\cA", "\\c", "\\c1", "\\x41", "\\x4", "\\u0061", "\\u{61}", "\\u{1f600}", "\\ud83d", "\\ude00", "\\ud83d\\ude00", "\\0", "\\01", "\\7", "\\8", "\\18", "\\377", "\\400", "\\a",
  "\\-", "\\_", "\\/", "\\.", "\\k", "\\k<n>", "\\p", "\\q", "\\t", "\\n", "\\v", "]", "}", "{", "{1", "{,2}", "{2,1}", "{1}", "a{0}", "(?:)", "()", "(?", "[", "\\", "*", ")", "(?<n>a)(?<n>b)", "(?<洛>a)\\k<洛>", "(?<𐐀>b)",
  "(?i:a)", "(?<=a)*", "(?=a)*", "(?!a)+", "^*", "\\b+", "[b-a]", "[\\d-a]", "[a-\\d]", "[\\b]", "[\\B]", "[\\c]", "[\\c1]", "[\\c_]", "[\\1]", "[\\k]", "[a-]", "[-a]", "[^]", "[]", "\\P{L}", "(?<1>a)", "x{4294967296}"];
const properties = ["L", "Lu", "Ll", "Letter", "N", "P", "S", "Script=Han", "sc=Hira", "Script=Greek", "Emoji", "Emoji_Presentation", "Alphabetic", "Lowercase", "Uppercase", "White_Space", "ASCII", "Any", "gc=Lt", "ID_Start", "Nope", "Script=Nope"];

function classItem(flags) {
  if (chance(0.15)) return one(escapes);
  if (chance(0.2)) { const [x, y] = [letter(), letter()]; return x.codePointAt(0) <= y.codePointAt(0) ? `${esc(x)}-${esc(y)}` : `${esc(y)}-${esc(x)}`; }
  if (chance(0.04)) return one(["\\b", "\\-", "-", "^", "\\]", "\\x41", "\\u0061", "\\ud83d", "\\cB", ".", "$", "a-z", "A-Z", "\\u{1f600}"]);
  if (/[uv]/.test(flags) && chance(0.1)) return `\\${one(["p", "P"])}{${one(properties)}}`;
  if (/v/.test(flags) && chance(0.25)) return one([() => set(flags), () => `\\q{${times(1 + below(3), letterEsc)}|${times(below(3), letterEsc)}}`])();
  return esc(letter());
}
const letterEsc = () => esc(letter());
const esc = (c) => (/[\^$\\.*+?()[\]{}|/-]/.test(c) ? "\\" + c : c);
function set(flags) {
  const items = () => times(below(4), () => classItem(flags));
  if (/v/.test(flags) && chance(0.4)) {
    const operand = () => one([() => set(flags), () => one(escapes), letterEsc, () => `\\p{${one(properties)}}`])();
    return `[${chance(0.2) ? "^" : ""}${[operand(), ...Array.from({ length: 1 + below(2) }, operand)].join(one(["--", "&&"]))}]`;
  }
  return `[${chance(0.3) ? "^" : ""}${items()}]`;
}
function quantifier() {
  const q = one(["*", "+", "?", "*", "+", "?", "{2}", "{1,2}", "{0,2}", "{2,}", "{0}", "{1,}", "{0,3}", "{3,5}"]);
  return q + (chance(0.3) ? "?" : "");
}
function atom(depth, flags) {
  const r = random();
  if (r < 0.4) return esc(letter());
  if (r < 0.48) return one(escapes);
  if (r < 0.54) return ".";
  if (r < 0.62) return set(flags);
  if (r < 0.65) return one(["^", "$", "\\b", "\\B"]);
  if (r < 0.69) return one(["\\1", "\\2", "\\3", "\\k<n>"]);
  if (r < 0.7 && /[uv]/.test(flags)) return `\\${one(["p", "P"])}{${one(properties)}}`;
  if (r < 0.715) return one(odd);
  if (depth <= 0) return esc(letter());
  const inner = disjunction(depth - 1, flags);
  if (r < 0.8) return `(${inner})`;
  if (r < 0.88) return `(?:${inner})`;
  if (r < 0.9) return `(?<n>${inner})`;
  if (r < 0.93) return `(?=${inner})`;
  if (r < 0.95) return `(?!${inner})`;
  if (r < 0.98) return `(?<=${inner})`;
  return `(?<!${inner})`;
}
const term = (depth, flags) => { const a = atom(depth, flags); return chance(0.4) ? a + quantifier() : a; };
const alternative = (depth, flags) => times(below(4), () => term(depth, flags));
const disjunction = (depth, flags) => Array.from({ length: chance(0.3) ? 2 + below(2) : 1 }, () => alternative(depth, flags)).join("|");

const plainFlags = ["", "g", "i", "gi", "u", "gu", "iu", "giu", "m", "gm", "s", "gs", "gims", "gimsu", "y", "gy", "guy", "g", "gu", "g"];
const setFlags = ["v", "gv", "iv", "giv", "v", "gv", "iv", "giv"];

/** A text as it is, of one in which private characters stand for lone halves. */
export const unshown = (shown) => shown.replaceAll("\ue000", "\ud83d").replaceAll("\ue001", "\ude00");

/** What V8 finds: see above. */
export function v8(pattern, flags, text) {
  let r;
  try {
    r = new RegExp(pattern, flags.replace("d", "") + "d");
  } catch (e) {
    if (!(e instanceof SyntaxError)) throw e;
    return null;
  }
  const found = flags.includes("g") ? [...text.matchAll(r)] : [r.exec(text)].filter(Boolean);
  return found.map((m) => m.indices.map((p) => (p ? p.join("-") : "_")).join(",")).join(";");
}

/** So many triples of a seed: `[pattern, flags, text, result]`. */
export function* triples(count, seed, sets = false) {
  state = seed >>> 0;
  const flagSets = sets ? [...plainFlags, ...setFlags] : plainFlags;
  for (let made = 0; made < count; ) {
    palette = chance(0.5) ? Array.from({ length: 3 + below(3) }, () => one(letters)) : letters;
    const flags = one(flagSets);
    const pattern = disjunction(1 + below(3), flags);
    if (pattern === "" || !pattern.isWellFormed()) continue;
    let shown = times(below(12), letter);
    if (chance(0.05)) {
      const at = below(shown.length + 1);
      if (!shown.slice(at).isWellFormed() || !shown.slice(0, at).isWellFormed()) continue;
      shown = shown.slice(0, at) + "\ue000" + shown.slice(at);
      if (chance(0.5)) shown += "\ue001";
    }
    const from = performance.now();
    const result = v8(pattern, flags, unshown(shown));
    if (performance.now() - from > lost) {
      console.error(`V8 is lost, left out: ${JSON.stringify([pattern, flags, shown])}`);
      continue;
    }
    made += 1;
    yield [pattern, flags, shown, result];
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [count = "3000", seed = "1", sets = "no"] = process.argv.slice(2);
  for (const triple of triples(Number(count), Number(seed), sets === "v")) process.stdout.write(`${JSON.stringify(triple)}\n`);
}
