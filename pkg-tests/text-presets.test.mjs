// The templates for text completion inside SillyTavern's package load and assemble single and group chats. What comes out is kept
// beside this file: UPDATE=1 writes it anew.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { Room, load, readFile } from "../pkg/index.js";
import { contentOf } from "./peer.mjs";

const kept = fileURLToPath(new URL("text-presets.json", import.meta.url));
const card = (name) => ({
  spec: "chara_card_v2",
  spec_version: "2.0",
  data: { name, description: `${name} 是守夜人, a friend of {{user}}.`, personality: "тихий", scenario: "雨の夜。", first_mes: "", mes_example: "<START>\n{{user}}: 你好\n{{char}}: *nods*" },
});
const chat = [
  { name: "Mira", is_user: false, original_avatar: "mira.png", mes: "*She lights the lamp.*" },
  { name: "旅人", is_user: true, mes: "下雨了。" },
  { name: "Mira", is_user: false, original_avatar: "mira.png", mes: "Я слышу. 🌧️" },
];

/** The prompt of a chat with some templates, in each profile. */
function prompts(text, group) {
  return ["sillytavern", "promptside"].map((profile) => {
    const room = new Room(
      {
        characters: [{ avatar: "mira.png", card: card("Mira") }, { avatar: "lorne.png", card: card("洛恩") }],
        ...(group && { group: { id: "g", members: ["mira.png", "lorne.png"] } }),
        chatWith: "mira.png",
        persona: { name: "旅人", description: "A traveller." },
        chat: { id: "c", messages: chat },
        text: { api: "textgen", textgen: { type: "koboldcpp" }, ...text },
      },
      { profile, random: { seed: 5 }, now: 1_700_000_000_000, offsetMinutes: 0, locale: "en-US", tokenizer: "codepoints" },
    );
    const { request, report } = room.buildRequest({ speaker: "mira.png" });
    room.free();
    assert.equal(report.error, null);
    const body = JSON.parse(request.body);
    assert.ok(body.stop.includes("\n旅人:"));
    return body.prompt;
  });
}

test("context, instruct, system and reasoning templates assemble", async (t) => {
  const files = contentOf("default/content/presets/");
  if (!files) return t.skip("no network");
  await load();
  const found = {};
  for (const [path, bytes] of files) {
    const [, kind, name] = /presets\/(context|instruct|sysprompt|reasoning)\/(.*)\.json$/.exec(path) ?? [];
    if (kind) (found[kind] ??= {})[name] = JSON.parse(bytes);
    if (kind) assert.match(readFile(bytes).kind, new RegExp(kind), path);
  }
  for (const kind of ["context", "instruct", "sysprompt", "reasoning"]) assert.ok(Object.keys(found[kind] ?? {}).length > 1, kind);

  const got = {};
  const add = (name, text) => {
    for (const group of [false, true]) {
      const all = prompts(text, group);
      for (const prompt of all) {
        assert.ok(prompt.includes("Я слышу. 🌧️") && prompt.includes("下雨了。"), name);
        assert.ok(!/\{\{(user|char|name|description)\}\}/i.test(prompt), name);
      }
      got[`${name}${group ? ", group" : ""}`] = all.map((p) => createHash("sha256").update(p).digest("hex").slice(0, 16)).join(" ");
    }
  };
  for (const [name, instruct] of Object.entries(found.instruct)) {
    const context = found.context[name] ?? found.context.Default;
    add(`instruct ${name}`, { context, instruct });
  }
  for (const [name, context] of Object.entries(found.context)) add(`context ${name}`, { context });
  for (const [name, sysprompt] of Object.entries(found.sysprompt)) add(`sysprompt ${name}`, { context: found.context.ChatML, instruct: found.instruct.ChatML, sysprompt });
  for (const [name, reasoning] of Object.entries(found.reasoning)) add(`reasoning ${name}`, { context: found.context.ChatML, instruct: found.instruct.ChatML, reasoning });

  if (process.env.UPDATE) writeFileSync(kept, `${JSON.stringify(got, null, 1)}\n`);
  assert.deepEqual(got, JSON.parse(readFileSync(kept, "utf8")));
});
