// Chosen patterns with what V8 finds: each rule of spec 05 §6, and both sides of each of the conditions L1-L8 of §3.3.
// Usage: node scripts/regexp-probes.mjs > tests/data/regexp-probes.jsonl
// The form of a line is that of regexp-agreement.mjs.
import { pathToFileURL } from "node:url";
import { unshown, v8 } from "./regexp-agreement.mjs";

export const probes = [
  // §6: code units and code points.
  ["^.$", "", "😀"], ["^.$", "u", "😀"], ["[😀]", "g", "a😀b"], ["[😀]", "gu", "a😀b"], ["😀+", "", "😀😀"], ["😀+", "u", "😀😀"],
  ["[^a]", "g", "a😀洛"], ["\\ud83d", "g", "😀\ue000"], ["\\ud83d", "gu", "😀\ue000"], ["\\u{1f600}|\\u{6d1b}", "gu", "洛😀"], ["", "g", "😀"], ["", "gu", "😀"],
  // Annex B.
  ["a{,2}|{|}|]", "g", "a{,2}]}"], ["\\-\\_\\/\\q", "", "-_/q"], ["\\07\\101\\8", "", "\u0007A8"], ["\\cA\\c", "", "\u0001\\c"], ["[\\c1\\cB]", "g", "\u0011\u0002c"],
  ["(?=a)*b|(?=a)+", "g", "ab"], ["\\p{L}", "g", "p{L}x"], ["\\k<n>", "", "k<n>"], ["[\\d-x]+", "", "1-x"], ["\\u{61}", "g", "u".repeat(61)], ["a{99999999999}", "", "a"],
  // Quantifiers, alternatives, groups, references.
  ["a{2,3}?", "g", "aaaaa"], ["(?:a|ab)(?:c|bcd)(d*)", "", "abcd"], ["(z)((a+)?(b+)?(c))*", "", "zaacbbbcac"], ["(?:(a)|b)*", "", "ab"], ["(a*)*", "", "b"], ["(?:a?)*?$", "", "aa"],
  ["(\\2)(\\1)", "", "aaa"], ["(?<年>\\d{4})-\\k<年>", "", "2026-2026"], ["(a)|\\1b", "g", "ab"], ["(?:(?:ab)*?c)+", "", "ababcabc"], ["a*", "g", "baaac"], ["(|a)+", "", "aa"],
  // Lookaround; lookbehind of any length, read backwards.
  ["(?<=(\\d+))(\\w+)", "", "12ab"], ["(?<=\\$)\\d+(?!\\d|€)", "g", "$12€ $34"], ["(?<!洛)恩", "g", "洛恩恩"], ["(?<=([abc]+)([abc]+))$", "", "abc"], ["(?=(a+))a*b\\1", "", "baaabac"], ["(?!(a)b)a(\\1)c", "", "ac"],
  // Classes, spaces, ends.
  ["[^]", "g", "a\n"], ["[]", "", "a"], ["\\bкот\\b|\\Bот", "g", "кот"], ["\\s", "g", "\ufeff\u00a0\u0085\u200b\u3000\u2028"], [".", "g", "\n\r\u2028\u2029\u0085"], [".", "gs", "\n\r"],
  ["^.|.$", "gm", "a\r\nb\u2028c"], ["a$", "", "a\n"], ["\\w+", "g", "é_1Ж"], ["\\p{Script=Han}+|\\p{Lu}", "gu", "洛恩ЖжA"],
  // Case.
  ["s|k|å", "gi", "ſSK\u212aÅ\u212b"], ["s|k|å", "giu", "ſSK\u212aÅ\u212b"], ["ß", "gi", "ẞß"], ["ß", "giu", "ẞß"], ["[^x]", "gi", "Xx"], ["\\W", "giu", "ſS"], ["σ", "gi", "Σς"], ["İ|ı", "gi", "iIİı"], ["[a-z]+", "gi", "ſK\u212aZ"], ["ǅ", "gi", "Ǆǆǅ"],
  // Syntax errors.
  ["(?i:a)", "", "a"], ["(?<a>x)(?<a>y)", "", "xy"], ["\\-", "u", "-"], ["{", "u", "{"], ["(?<=a)*", "", "a"], ["[b-a]", "", "a"],
  // L1-L8: where a linear engine would find something else.
  ["\\w", "g", "é"], ["k", "i", "\u212a"], ["(a)?b\\1", "", "bab"], ["(?:(a){1}|b)+", "", "ab"], ["(?:a?)*b|(?:a*)+", "g", "aac"], ["^洛$", "gm", "洛\r洛\u2029洛"], ["\\B", "giu", "aſ"], ["\\b", "giu", "ſ k\u212a"],
  // L4a: accepted and refused examples, on text with astral characters.
  ["<think>[\\s\\S]*?<\\/think>\\s*", "g", "<think>😀</think> 😀"], ["\"([^\"]+)\"", "g", "\"😀\" \"洛\""], ["\\*([^*]+)\\*", "g", "*😀*"], ["^\\s*Note:.*$", "gm", "Note: 😀\n😀"],
  ["(.)(.*)", "", "😀a"], [".{3}", "g", "😀😀"], ["[^a]+?", "g", "😀"], ["a*", "g", "😀"], ["\"(.*)(.*)\"", "", "\"😀\""],
];

/** Every probe with what V8 finds. */
export const judged = () => probes.map(([pattern, flags, shown]) => [pattern, flags, shown, v8(pattern, flags, unshown(shown))]);

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const probe of judged()) process.stdout.write(`${JSON.stringify(probe)}\n`);
}
