// The chat-completion presets inside SillyTavern's package load, and make requests of every kind.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Room, load, readFile } from "../pkg/index.js";
import { contentOf } from "./peer.mjs";

const card = (name, extra = {}) => ({
  spec: "chara_card_v2",
  spec_version: "2.0",
  data: {
    name,
    description: `{{char}} 是守夜人, a friend of {{user}}.`,
    personality: "тихий",
    scenario: "雨の夜。",
    first_mes: "",
    mes_example: "<START>\n{{user}}: 你好\n{{char}}: *nods*",
    system_prompt: "{{original}}\nНикогда не говори за {{user}}.",
    post_history_instructions: "",
    ...extra,
  },
});
const options = (profile) => ({ profile, random: { seed: 5 }, now: 1_700_000_000_000, offsetMinutes: 0, locale: "en-US", tokenizer: "codepoints" });
const kinds = ["normal", "swipe", "regenerate", "continue", "impersonate", "quiet"];

test("the default presets load and assemble", async (t) => {
  const files = contentOf("default/content/");
  if (!files) return t.skip("no network");
  await load();

  const presets = [...files].filter(([path]) => /^default\/content\/presets\/openai\/.*\.json$/.test(path));
  assert.ok(presets.length >= 1);
  const all = presets.map(([path, bytes]) => {
    const read = readFile(bytes);
    assert.equal(read.kind, "preset-chat", path);
    assert.deepEqual(read.warnings, [], path);
    return [path, read.data ?? read.preset];
  });
  // The settings of a fresh installation hold the same kind of preset.
  const settings = JSON.parse(files.get("default/content/settings.json"));
  all.push(["settings.json", settings.oai_settings]);

  for (const [path, preset] of all) {
    for (const profile of ["sillytavern", "promptside"]) {
      for (const group of [false, true]) {
        const characters = [{ avatar: "mira.png", card: card("Mira") }, { avatar: "lorne.png", card: card("洛恩", { mes_example: "" }) }];
        const room = new Room(
          {
            characters: group ? characters : characters.slice(0, 1),
            ...(group && { group: { id: "g", members: ["mira.png", "lorne.png"] } }),
            persona: { name: "旅人", description: "A traveller 🌧️." },
            chat: {
              id: "c",
              messages: [
                { name: "Mira", is_user: false, original_avatar: "mira.png", mes: "*She lights the lamp.*" },
                { name: "旅人", is_user: true, mes: "下雨了，{{char}}。" },
                { name: "Mira", is_user: false, original_avatar: "mira.png", mes: "Я слышу." },
              ],
            },
            preset: { chat_completion_source: "openai", openai_model: "gpt-4o", ...preset, openai_max_context: 8000 },
          },
          options(profile),
        );
        for (const kind of kinds) {
          const { request, report } = room.buildRequest({ speaker: "mira.png", kind, ...(kind === "quiet" && { quiet: { prompt: "用一句话总结。" } }) });
          const where = `${path}, ${profile}, ${group ? "group" : "single"}, ${kind}`;
          const { messages } = JSON.parse(request.body);
          const text = messages.map((m) => m.content).join("\n");
          assert.equal(report.error ?? null, null, where);
          assert.ok(text.includes("Write Mira's next reply in a fictional chat"), where);
          assert.ok(text.includes("Никогда не говори за 旅人."), where);
          assert.ok(text.includes("Mira 是守夜人, a friend of 旅人."), where);
          assert.ok(text.includes("[Start a new"), where);
          assert.ok(!/\{\{\w+\}\}/.test(text), `${where}: ${text}`);
          assert.equal(report.messages.length, messages.length, where);
          assert.equal(report.budget.used + report.budget.left, report.budget.limit, where);
          if (kind === "impersonate") assert.ok(text.includes("from the point of view of 旅人"), where);
          if (kind === "quiet") assert.equal(messages.at(-1).content, "用一句话总结。", where);
          assert.equal(text.includes("Write the next reply only as Mira"), group && !["impersonate", "quiet"].includes(kind) || (group && profile === "sillytavern" && kind === "quiet"), where);
        }
        room.free();
      }
    }
  }
});
