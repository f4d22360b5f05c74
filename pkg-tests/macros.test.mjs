// Macros and regex scripts through the package: host macros, what editors are told, writes as a change set, scripts that are stopped.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Room, inspectText, load } from "../pkg/index.js";

before(() => load());

const card = (data) => ({ spec: "chara_card_v2", spec_version: "2.0", data: { name: "洛恩", description: "", first_mes: "", ...data } });
const options = { random: { seed: 3 }, now: 1_767_622_029_045, offsetMinutes: 0, locale: "en-US" };
const scene = (more) => ({ characters: [{ avatar: "l.png", card: card() }], persona: { name: "旅人" }, chat: [{ name: "旅人", is_user: true, mes: "喂" }], ...more });

test("macros of the host", () => {
  const room = new Room(scene({ macros: { weather: "雨", level: 7, "time::Asia/Tokyo": "23:07", "bad name": "x" } }), options);
  assert.equal(room.inspectText("{{weather}} {{Level}} {{time::Asia/Tokyo}} {{time}}").text, "雨 7 23:07 2:07 PM");
  assert.deepEqual(room.invoke("warnings").map((w) => [w.code, w.path]), [["field-dropped", "macros.bad name"]]);
  room.update({ macros: { weather: "晴" } });
  assert.equal(room.inspectText("{{weather}} {{level}}").text, "晴 {{level}}");
  assert.equal(new Room(room.snapshot().scene, options).inspectText("{{weather}}").text, "晴");
});

test("editors are told what a text would become", () => {
  const looked = inspectText("😀{{user}} {{foo::{{char}}}} {{setvar::x::1}}{{roll 1d6}}", scene(), options);
  assert.deepEqual(looked.macros.map((m) => [m.name, m.status, m.value]), [
    ["user", "expands", "旅人"],
    ["foo", "unknown", undefined],
    ["char", "expands", "洛恩"],
    ["setvar", "expands", ""],
    ["roll", "expands", looked.text.at(-1)],
  ]);
  assert.deepEqual(looked.macros[0].range, [2, 10]);
  assert.deepEqual(looked.unknown, ["foo"]);
  assert.deepEqual(looked.changes.local, { x: "1" });
  assert.ok(looked.needs.random && looked.needs.writes && !looked.needs.time);
  const room = new Room(scene(), options);
  assert.equal(room.inspectText("{{setvar::x::1}}{{user}}", { trust: "data" }).text, "{{setvar::x::1}}旅人");
  assert.deepEqual(room.inspectText("{{setglobalvar::x::1}}", { trust: "card" }).warnings.map((w) => w.code), ["macro.denied"]);
  assert.throws(() => room.inspectText("", { trust: "much" }), { code: "option.unknown", path: "trust" });
  room.inspectText("{{setvar::kept::1}}", { commit: true });
  assert.equal(room.inspectText("{{getvar::kept}}").text, "1");
});

test("a request's writes are a change set, stored when the reply is accepted", () => {
  const prompts = [{ identifier: "main", role: "system", content: "Turn {{incvar::turn}} {{setglobalvar::seen::yes}}", system_prompt: true }];
  const room = new Room(scene({ preset: { prompts } }), options);
  const [first, second] = [room.buildRequest(), room.buildRequest()];
  assert.equal(first.request.body, second.request.body);
  assert.match(first.request.body, /Turn 1 /);
  assert.deepEqual(first.changes, second.changes);
  assert.deepEqual([first.changes.local, first.changes.global], [{ turn: 1 }, { seen: "yes" }]);
  assert.equal(room.chat.metadata.variables?.turn, undefined);
  const { id } = room.step({ type: "start", userMessage: "在吗？" }).find((o) => o.type === "request");
  assert.equal(room.chat.metadata.variables?.turn, undefined);
  room.step({ type: "reply", request: id, text: "在。" });
  assert.equal(room.chat.metadata.variables.turn, 1);
  assert.match(room.buildRequest().request.body, /Turn 2 /);
});

test("the platform's regular expressions are an option", () => {
  const script = (findRegex, replaceString) => ({ scriptName: "s", findRegex, replaceString, placement: [2] });
  const global = [
    script("/(?<n>b)(a)?/g", "[$1|$2|$<n>|$0|$9]"),
    script("/(?<=洛)恩+?/u", "😀$0"),
    script("/😀+/", "<{{match}}>"),
    script("/x*/g", "-"),
    script("/(a+)+\\1$/", "never"),
    script("/\\ud83d$/", "half"),
  ];
  const texts = ["abba 洛恩恩 😀😀", "", "bbb\n洛恩{{user}}", `${"a".repeat(18)}!`];
  const run = (regexp) => {
    const room = new Room(scene({ scripts: { global } }), { ...options, regexp });
    return texts.map((text) => room.runScripts(text, { placement: 2 }));
  };
  assert.deepEqual(run("platform"), run("own"));
  const slow = (regexp) => new Room(scene({ scripts: { global: [global[4]] } }), { ...options, regexp, limits: { regex_steps: 10 } }).runScripts(texts[3], { placement: 2 }).warnings.length;
  assert.deepEqual([slow("own"), slow("platform")], [1, 0], "it has no budget");
  assert.throws(() => run("other"), { code: "option.unknown", path: "regexp" });
});

test("a script that needs too many steps leaves the text alone and is named", () => {
  const script = (scriptName, findRegex, promptOnly) => ({ scriptName, findRegex, replaceString: "X", placement: [1, 2], promptOnly });
  const long = `${"a".repeat(3000)}!`;
  const scripts = { global: [script("恶", "/(a+)+\\1$/", true), script("恶", "/(a+)+\\1$/", false), script("善", "/!/g", true)] };
  const room = new Room(scene({ scripts, chat: [{ name: "旅人", is_user: true, mes: long }] }), { ...options, limits: { regex_steps: 50000 } });
  const ran = room.runScripts(long, { placement: 1, prompt: true });
  assert.equal(ran.text, `${long.slice(0, -1)}X`);
  assert.deepEqual(ran.changed, [{ script: "善", scope: "global", matches: 1, emptied: false }]);
  const stopped = (list) => list.filter((w) => w.code === "script-stopped").map((w) => w.message);
  const message = 'the script "恶" left the text as it was: its pattern needs too many steps';
  assert.deepEqual(stopped(ran.warnings), [message]);
  assert.deepEqual(stopped(room.buildRequest().report.warnings), [message]);
  assert.deepEqual(stopped(room.buildRequest().report.warnings), [message], "each request has its own budget");
  assert.deepEqual(stopped(room.cleanReply({ text: long }).warnings), [message]);
  const { id } = room.step({ type: "start", userMessage: "" }).find((o) => o.type === "request");
  const done = room.step({ type: "reply", request: id, text: long }).find((o) => o.type === "message_done");
  assert.deepEqual(stopped(done.warnings), [message]);
});
