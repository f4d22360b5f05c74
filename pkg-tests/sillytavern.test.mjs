// SillyTavern's own default card, as its package carries it, holds a conversation. Only the picture is read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Room, load, readFile, runRound, writeCard } from "../pkg/index.js";
import { contentOf } from "./peer.mjs";

test("the default card holds a conversation", async (t) => {
  const files = contentOf("default/content/default_Seraphina.png");
  if (!files) return t.skip("no network");
  const [picture] = files.values();
  assert.ok(picture, "the card is in the package");

  await load();
  const read = readFile(picture);
  assert.equal(read.kind, "card");
  assert.equal(read.container, "png");
  const { data } = read.card;
  assert.equal(data.name, "Seraphina");
  assert.ok(data.first_mes.length > 100 && data.description.length > 100);
  // Written back into its picture it is the same card.
  assert.deepEqual(readFile(writeCard(read.card, picture)).card.data, data);

  const lorne = { spec: "chara_card_v2", spec_version: "2.0", data: { name: "洛恩", description: "An old hunter, гость of {{user}}.", first_mes: "*洛恩 nods to {{user}}.*" } };
  const room = new Room(
    {
      characters: [{ avatar: "default_Seraphina.png", card: read.card }, { avatar: "lorne.png", card: lorne }],
      group: { members: ["default_Seraphina.png", "lorne.png"], activation_strategy: 0 },
      persona: { name: "旅人" },
    },
    { random: { seed: 11 }, now: 1_700_000_000_000, offsetMinutes: 0, locale: "en-US" },
  );

  // Greetings of both, with names filled in.
  const greetings = room.chat.messages;
  assert.deepEqual(greetings.map((m) => m.name), ["Seraphina", "洛恩"]);
  assert.equal(greetings[1].mes, "*洛恩 nods to 旅人.*");
  assert.equal(greetings[0].mes.slice(0, 20), data.first_mes.replaceAll("{{user}}", "旅人").slice(0, 20));
  assert.ok(greetings.every((m) => !/\{\{(user|char)\}\}/i.test(m.mes)));

  const rounds = [
    { says: "Seraphina, where am I?", first: "Seraphina", reply: "Seraphina: *She smiles.* \"You are safe here.\"\n洛恩：我也在。", kept: "*She smiles.* \"You are safe here.\"" },
    { says: "洛恩，你在吗？", first: "洛恩", reply: "洛恩：在。\nSeraphina: He is.", kept: "在。" },
    { says: "Seraphina и 洛恩, спасибо!", first: "Seraphina", reply: "Пожалуйста 🌸。\n旅人: ok", kept: "Пожалуйста 🌸。" },
  ];
  for (const { says, first, reply, kept } of rounds) {
    const events = [];
    const before = room.chat.messages.length;
    const send = (request, context) => {
      const { messages } = JSON.parse(request.body);
      const all = messages.map((m) => m.content).join("\n");
      assert.equal(messages[0].role, "system");
      assert.ok(messages[0].content.includes(context.name), "the main prompt names the speaker");
      assert.ok(all.includes(context.name === "Seraphina" ? data.description.slice(0, 40).replaceAll("{{char}}", "Seraphina").replaceAll("{{user}}", "旅人") : "гость of 旅人"));
      const user = messages.findLast((m) => m.role === "user");
      assert.ok(user.content.endsWith(says), user.content);
      assert.ok(!/\{\{(user|char)\}\}/i.test(all));
      return context.name === first ? reply : `${context.name}: ...`;
    };
    for await (const event of runRound(room, { userMessage: says }, { send })) events.push(event);
    const [plan] = events.filter((e) => e.type === "round_plan");
    assert.equal(plan.planned[0].name, first);
    assert.equal(plan.planned[0].reason.kind, "mentioned");
    const done = events.filter((e) => e.type === "message_done");
    assert.deepEqual(done.map((e) => e.name), plan.planned.map((p) => p.name));
    assert.equal(done[0].text, kept);
    assert.equal(room.chat.messages[before].mes, says);
    assert.deepEqual(room.chat.messages.slice(before + 1).map((m) => m.mes), [kept, ...done.slice(1).map(() => "...")]);
  }
  room.free();
});
