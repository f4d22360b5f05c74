// Reports of lorebooks, macros and scripts.
import { list, open, promptOrder, round, sent, textOf, within } from "./scene.mjs";

const SEEDS = 400;
const SLOTS = ["worldInfoBefore", "worldInfoAfter"];
const uids = (activated) => activated.map((a) => a.uid).sort();

export function lore(context, input, right) {
  if (right.match) return keys(context, input, right);
  if (input.prompt_order) return slots(context, input);
  if (input.settings) return scans(context, input, right);
  return own(context, input, right);
}

/** Whether a key is found in a text; `ref` is the answer of the other profile. */
function keys(context, input, right) {
  const match = (profile) =>
    input.cases.map(({ key, text }) =>
      within(context, { match_whole_words: true, ...input, entries: [{ key: [key], content: "x" }] }, {}, { profile }, (room) =>
        room.invoke("lore", { lines: [text] }).activated.length > 0,
      ),
    );
  const expected = { match: right.match };
  const got = { match: match("promptside") };
  if (right.ref) {
    expected.ref = right.ref;
    got.ref = match("sillytavern");
  }
  return { expected, got };
}

/** Scans with settings: which entries, and, where a minimum number was wanted, how far the search went. */
function scans(context, input, right) {
  const expected = [];
  const got = [];
  input.cases.forEach((settings, i) => {
    const all = { ...input.settings, ...settings };
    const scan = within(context, { ...input, settings: all, chat: [] }, {}, {}, (room) => room.invoke("lore", { lines: input.chat }));
    const start = all.world_info_depth;
    // Each further loop in search of the minimum looks one message deeper.
    const deeper = (loops) => start + scan.loops.slice(0, loops).filter((l) => l.state === "min_activations").length;
    const found = scan.explained.filter((e) => e.outcome === "activated").map((e) => [e.uid, deeper(e.round)]);
    const texts = [...input.chat].reverse();
    const depth = ({ uid, key }) => [uid, Math.max(start, texts.findIndex((t) => key.some((k) => t.includes(k))) + 1)];
    const active = right.active[i];
    const enough = active.length >= all.world_info_min_activations;
    expected.push({ active, depth: input.entries.filter((e) => active.includes(e.uid)).map(depth), enough });
    got.push({ active: uids(scan.activated), depth: found, enough: scan.loops.at(-1).state !== "min_activations" });
  });
  return { expected, got };
}

/** Entries whose slot the prompt order lacks, or has switched off. */
function slots(context, input) {
  const expected = [];
  const got = [];
  const entries = input.entries;
  const named = input.cases.map((c) => SLOTS.find((slot) => c.includes(slot))).find(Boolean) ?? SLOTS[0];
  for (const phrase of input.cases) {
    const disabled = phrase.includes("disabled");
    const order = disabled ? [...input.prompt_order, { identifier: named, enabled: false }] : input.prompt_order;
    within(context, input, { preset: { prompt_order: promptOrder(order) } }, {}, (room) => {
      const { request, inspection } = round(room, {}).find((o) => o.type === "request");
      const all = sent(request).map(textOf);
      const { report, activated } = inspection;
      const lost = entries.filter((e) => SLOTS[e.position ?? 0] === named);
      const deep = entries.filter((e) => e.position === 4);
      const omitted = report.omitted.filter((o) => o.origin.kind === "lore");
      const used = report.ledger.filter((l) => l.what === named);
      const shown = (e) => all.findIndex((text) => text.includes(e.content));
      got.push({
        active: uids(activated),
        omitted: omitted.map((o) => [o.detail?.slot, o.reason]),
        lost: lost.map(shown),
        deep: deep.map((e) => all.length - 1 - shown(e)),
        booked: used.length,
      });
      expected.push({
        active: entries.map((e) => e.uid).sort(),
        omitted: [[named, disabled ? "disabled" : "not_in_order"]],
        lost: lost.map(() => -1),
        deep: deep.map((e) => e.depth),
        booked: 0,
      });
    });
  }
  return { expected, got };
}

/** Whose books count while who speaks. */
function own(context, input, right) {
  const contents = [...list(input.global_book), ...input.members.flatMap((m) => list(m.character_book))].map((e) => e.content);
  const active = input.cases.map((phrase) => {
    const names = input.members.map((m) => m.name).filter((name) => phrase.includes(name));
    names.sort((a, b) => phrase.indexOf(a) - phrase.indexOf(b));
    const requests = within(context, input, {}, {}, (room) =>
      round(room, { speakers: names.map((name) => `${name}.png`) }).filter((o) => o.type === "request"),
    );
    const seen = requests.map((r) => {
      const text = sent(r.request).map(textOf).join("\n");
      return [r.name, contents.filter((c) => text.includes(c)).sort()];
    });
    return seen.length === 1 ? seen[0][1] : Object.fromEntries(seen);
  });
  const sorted = (value) =>
    Array.isArray(value) ? [...value].sort() : Object.fromEntries(Object.entries(value).map(([name, set]) => [name, [...set].sort()]));
  return { expected: { active: right.active.map(sorted) }, got: { active } };
}

export function macros(context, input, right) {
  const texts = list(input.cases ?? input.text);
  const expand = (profile, seed) =>
    within(context, input, {}, { profile, random: { seed } }, (room) => room.invoke("expand", { texts }));
  if (right.output) {
    const expected = { promptside: list(right.output) };
    const got = { promptside: expand("promptside", 1) };
    if (right.sillytavern) {
      expected.sillytavern = list(right.sillytavern);
      got.sillytavern = expand("sillytavern", 1);
    }
    return { expected, got };
  }
  // What randomness decides: every answer must be allowed, and each allowed one must come.
  const outputs = Array.from({ length: SEEDS }, (_, seed) => expand("promptside", seed)[0]);
  if (right.matches) {
    const pattern = new RegExp(right.matches);
    return { expected: { other: [] }, got: { other: outputs.filter((o) => !pattern.test(o)) } };
  }
  return { expected: { seen: [...right.one_of].sort() }, got: { seen: [...new Set(outputs)].sort() } };
}

export function regex(context, input, right) {
  return input.script ? depths(context, input, right) : bounded(context, input, right);
}

const script = (more) => ({ id: "report", scriptName: "report", trimStrings: [], placement: [2], disabled: false, substituteRegex: 0, minDepth: null, maxDepth: null, ...more });

/** Keys and scripts that take many steps. */
function bounded(context, input, right) {
  const expected = {};
  const got = {};
  if (right.active) {
    expected.active = right.active;
    got.active = within(context, { ...input, chat: [] }, {}, {}, (room) => uids(room.invoke("lore", { lines: input.chat }).activated));
  }
  if (right.script_output) {
    expected.script_output = right.script_output;
    got.script_output = input.scripts.map(({ find, replace, text }) => {
      const scripts = [script({ findRegex: find, replaceString: replace })];
      return within(context, {}, { scripts }, {}, (room) => room.invoke("regex", { text, placement: 2 }));
    });
  }
  return { expected, got };
}

/** A script with bounds of depth, on a reply as it arrives and on messages of the history. */
function depths(context, input, right) {
  const at = (more, text, phrase) => {
    const scripts = [script({ ...input.script, ...more })];
    const depth = /depth (\d+)/.exec(phrase)?.[1];
    if (depth === undefined) {
      const room = open(context, { chat: ["."] }, { scripts });
      const done = round(room, {}, () => text).find((o) => o.type === "message_done");
      room.free();
      // The end of a reply is trimmed after the scripts: compare what they left.
      return text.startsWith(done.text) && done.text === text.trimEnd() ? text : done.text;
    }
    const prompt = more.promptOnly ?? false;
    return within(context, {}, { scripts }, {}, (room) => room.invoke("regex", { text, placement: input.script.placement[0], prompt, depth: Number(depth) }));
  };
  const run = (more) => input.cases.map((c) => at(more, c.text, c.at));
  const got = { plain: run({}), prompt: run({ promptOnly: true }) };
  return { expected: { plain: right.output, prompt: right.output }, got };
}
