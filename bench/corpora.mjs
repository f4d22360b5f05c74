// Texts as chats have them, in six kinds and three sizes, made of natural text: Debian's packages of sayings (English, Chinese, Russian) and
// its FAQ in Japanese, fetched once; where there is no apt-get, this repository's own documents stand in.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const root = join(fileURLToPath(import.meta.url), "..", "..");
const PACKAGES = ["fortunes-min", "fortunes-zh", "fortunes-ru", "debian-faq-ja"];

/** Characters that make about one token of o200k_base. */
const PER_TOKEN = { en: 4.4, zh: 1.05, ja: 1.45, ru: 3.8, mixed: 3, code: 3.5 };
const SIZES = { short: [20, 1000], medium: [200, 400], long: [4000, 20] };
const ACTS = {
  en: ["*smiles softly, brushing a strand of hair behind her ear*", "*leans against the railing, eyes narrowing*"],
  zh: ["*轻轻叹了口气，望向窗外*", "*她低下头，指尖绕着发梢*"],
  ja: ["*小さく微笑んで、視線をそらす*", "*剣の柄に手をかける*"],
  ru: ["*она тихо вздохнула и отвернулась к окну*", "*улыбается, поправляя прядь волос*"],
};
const EMOJI = ["😊", "👩‍👩‍👧‍👦", "🏳️‍🌈", "❤️", "👍🏽", "🇯🇵", "✨"];

let seed = 12345;
const chance = () => ((seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) >>> 8) / 16777216;
const pick = (list) => list[Math.floor(chance() * list.length)];

/** `{ "en-short": [text, …], … }` */
export function corpora() {
  const pools = natural() ?? own();
  const code = sources();
  const make = {
    ...Object.fromEntries(["en", "zh", "ja", "ru"].map((language) => [language, (length) => message(pools[language], language, length)])),
    code: (length) => {
      const file = pick(code);
      return whole(file.slice(Math.floor(chance() * Math.max(1, file.length - length))).slice(0, length));
    },
  };
  make.mixed = (length) => {
    let text = "";
    while (text.length < length) {
      const kind = chance();
      if (kind < 0.3) text += `**${make.en(60)}** `;
      else if (kind < 0.4) text += `\n- ${make.en(50)}\n- [link](https://example.org/a?b=${Math.floor(chance() * 1e6)})\n`;
      else if (kind < 0.5) text += `${pick(EMOJI)}${pick(EMOJI)} `;
      else if (kind < 0.6) text += `\n\`\`\`js\n${make.code(120)}\n\`\`\`\n`;
      else if (kind < 0.8) text += make.zh(40);
      else text += make.ru(40);
    }
    return text;
  };
  const out = {};
  for (const kind of Object.keys(PER_TOKEN)) {
    for (const [size, [tokens, count]] of Object.entries(SIZES)) {
      out[`${kind}-${size}`] = Array.from({ length: count }, () => make[kind](Math.round(tokens * PER_TOKEN[kind])));
    }
  }
  return out;
}

function message(pool, language, length) {
  let text = chance() < 0.6 ? `${pick(ACTS[language])}\n\n` : "";
  while (text.length < length) text += (chance() < 0.4 ? `"${pick(pool)}"` : pick(pool)) + (chance() < 0.3 ? "\n\n" : language === "zh" || language === "ja" ? "" : " ");
  return whole(text.slice(0, Math.max(8, Math.floor(length * (0.7 + chance() * 0.6)))).trim());
}

const whole = (text) => text.replace(/[\ud800-\udbff]$/, "").replace(/^[\udc00-\udfff]/, "");

function natural() {
  const cache = join(root, "node_modules", ".cache", "corpora");
  try {
    for (const name of PACKAGES) {
      const into = join(cache, name);
      if (existsSync(into)) continue;
      mkdirSync(cache, { recursive: true });
      execFileSync("apt-get", ["download", name], { cwd: cache, stdio: "ignore" });
      const file = readdirSync(cache).find((f) => f.startsWith(`${name}_`));
      execFileSync("dpkg", ["-x", join(cache, file), into]);
    }
  } catch {
    return undefined;
  }
  const fortunes = (name, only) => {
    const from = join(cache, name, "usr/share/games/fortunes");
    const texts = files(from).filter((f) => !/\.(dat|u8)$/.test(f) && only.test(f)).map((f) => readFileSync(f, "utf8"));
    return texts.flatMap((t) => t.split(/\n%\n/)).map(clean).filter((s) => s.length > 20 && !s.includes("\ufffd"));
  };
  const faq = gunzipSync(readFileSync(files(join(cache, "debian-faq-ja")).find((f) => /faq\.ja\.txt\.gz$/i.test(f)))).toString("utf8");
  const pools = {
    en: fortunes("fortunes-min", /./),
    zh: fortunes("fortunes-zh", /chinese|tang300|song100/).map((s) => s.replaceAll(" ", "")),
    ru: fortunes("fortunes-ru", /./),
    ja: faq.split(/\n\s*\n/).map((s) => s.replace(/\s*\n\s*/g, "")).filter((s) => /[\u3040-\u30ff]/.test(s) && s.length > 30),
  };
  return Object.values(pools).every((pool) => pool.length > 20) ? pools : undefined;
}

function own() {
  const read = (name) => readFileSync(join(root, name), "utf8").split(/\n+/).map(clean).filter((s) => s.length > 20);
  const spec = readdirSync(join(root, "docs", "spec")).flatMap((f) => read(`docs/spec/${f}`));
  const chinese = read("README.zh-CN.md");
  return { en: spec, zh: chinese, ja: chinese, ru: spec };
}

const clean = (text) => text.replace(/\x1b\[[0-9;]*m/g, "").replace(/[ \t]+\n/g, "\n").replace(/([^\n])\n(?=[^\n])/g, "$1 ").trim();

function files(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1)).flatMap((e) => {
    const path = join(folder, e.name);
    return e.isDirectory() ? files(path) : e.isFile() ? [path] : [];
  });
}

const sources = () => files(join(root, "src")).filter((f) => f.endsWith(".rs") && !/table|classes/.test(f)).map((f) => readFileSync(f, "utf8")).slice(0, 80);
