// Reports of who speaks, of whole rounds, of requests in a group, and of replies.
import { avatar, list, numberIn, round, sent, textOf, within } from "./scene.mjs";

const GRID = 50;
const spoken = (message) => ({ role: message.role, content: textOf(message) });

export function speakers(context, input, right) {
  const asked = input.cases ?? [input.user_text];
  const plan = (text, random) => within(context, input, {}, { random }, (room) => room.nextSpeakers({ userMessage: text }));
  if (right.mentioned) {
    const mentioned = asked.map((text) =>
      plan(text, { seed: 1 }).speakers.filter((s) => s.reason.kind === "mentioned").map((s) => s.name),
    );
    return { expected: { mentioned: right.mentioned }, got: { mentioned } };
  }
  // Every roll is the given number; the last draw is the choice that is asked for, so it goes through [0, 1).
  const roll = numberIn(/\d\.\d+ for every/.exec(input.random ?? "")?.[0] ?? 0.9);
  const got = new Set();
  const reasons = new Set();
  const silent = new Set();
  for (const text of asked) {
    const draws = plan(text, { tape: Array(200).fill(roll) }).draws.map((d) => d.value);
    for (let i = 0; i < GRID; i++) {
      const { speakers, passed } = plan(text, { tape: [...draws.slice(0, -1), i / GRID] });
      got.add(JSON.stringify(speakers.map((s) => s.name)));
      for (const s of speakers) reasons.add(s.reason.kind);
      silent.add(JSON.stringify(passed.filter((p) => p.reason.kind === "silent").map((p) => p.id).sort()));
    }
  }
  const zero = list(input.members).filter((m) => m.talkativeness === 0).map((m) => avatar(m.name)).sort();
  return {
    expected: { speakers: [right.speakers], reasons: [right.reason], silent: [zero] },
    got: { speakers: [...got].map((s) => JSON.parse(s)), reasons: [...reasons], silent: [...silent].map((s) => JSON.parse(s)) },
  };
}

export function room(context, input, right) {
  return right.history_tail ? tail(context, input, right) : muted(context, input);
}

/** Nobody may speak: nothing is sent, what was typed is kept once, and a forced speaker still speaks. */
function muted(context, input) {
  const before = list(input.chat).length;
  const expected = { cases: [], forced: [] };
  const got = { cases: [], forced: [] };
  for (const { user_text: typed = "", auto_mode_tick: auto = false } of input.cases) {
    within(context, input, {}, {}, (chat) => {
      const outputs = round(chat, { userMessage: typed, auto });
      const plan = outputs.find((o) => o.type === "round_plan");
      got.cases.push({
        planned: plan?.planned.length,
        empty: plan?.empty,
        requests: outputs.filter((o) => o.type === "request").length,
        kept: chat.chat.messages.slice(before).map((m) => m.mes),
      });
    });
    expected.cases.push({ planned: 0, empty: "all_muted", requests: 0, kept: typed && !auto ? [typed] : [] });
  }
  const [name] = input.members ?? input.group.members;
  expected.forced = [name];
  within(context, input, {}, {}, (chat) => {
    got.forced = round(chat, { speaker: name }).filter((o) => o.type === "message_done").map((o) => o.name);
  });
  return { expected, got };
}

/** The end of the last speaker's request, with the earlier replies from this round, and with the same from a stored chat. */
function tail(context, input, right) {
  const n = right.history_tail.length;
  const last = input.plan.at(-1);
  const outputs = within(context, input, {}, {}, (chat) => {
    const done = round(chat, { speakers: input.plan.map(avatar) }, (name) => input.replies[name] ?? "OK.");
    return done.filter((o) => o.type === "request" && o.speaker === avatar(last));
  });
  const replies = input.plan.slice(0, -1).map((name) => ({ name, is_user: false, mes: input.replies[name] ?? "OK.", original_avatar: avatar(name) }));
  const stored = within(context, input, { chat: [...list(input.chat), ...replies] }, {}, (chat) => chat.buildRequest({ speaker: avatar(last) }));
  return {
    expected: { round: right.history_tail, stored: right.history_tail },
    got: { round: sent(outputs.at(-1).request).slice(-n).map(spoken), stored: sent(stored.request).slice(-n).map(spoken) },
  };
}

export function prompt(context, input, right) {
  return input.type === "impersonate" ? impersonation(context, input) : examples(context, input, right);
}

/** The example lines of each member's request. */
function examples(context, input, right) {
  const chat = input.chat ?? ["."];
  const lines = (name) =>
    within(context, input, { chat }, {}, (room) => {
      const { request, report } = room.buildRequest({ speaker: avatar(name) });
      const texts = sent(request).map(textOf);
      return report.messages
        .filter((m) => m.slot === "dialogueExamples" && !m.parts.some((p) => p.origin.kind === "utility"))
        .map((m) => texts[m.i]);
    });
  const names = [input.speaker, ...input.members.map((m) => m.name).filter((name) => name !== input.speaker)];
  return {
    expected: { lines: names.map(() => [...right.lines].sort()) },
    got: { lines: names.map((name) => lines(name).sort()) },
  };
}

/** Writing for the user: one instruction, filled in, the last of the system's; the same again when asked again. */
function impersonation(context, input) {
  const { preset, persona } = { preset: {}, persona: input.persona?.name ?? input.persona };
  return within(context, input, { preset }, {}, (room) => {
    const build = () => room.buildRequest({ kind: input.type }).request.body;
    const first = build();
    const templates = room.snapshot().scene.preset;
    const opening = (template) => template.split("{{", 1)[0];
    const all = JSON.parse(first).messages.map(spoken);
    const instructions = all.filter((m) => m.content.startsWith(opening(templates.impersonation_prompt)));
    return {
      expected: { nudges: 0, instructions: 1, named: true, last: true, again: true },
      got: {
        nudges: all.filter((m) => m.content.includes(opening(templates.group_nudge_prompt))).length,
        instructions: instructions.length,
        named: instructions[0]?.content.startsWith(opening(templates.impersonation_prompt) + persona),
        last: all.filter((m) => m.role === "system").at(-1) === instructions[0],
        again: build() === first,
      },
    };
  });
}

export function reply(context, input, right) {
  return input.stops ? streams(context, input, right) : cuts(context, input, right);
}

/** Whole replies, cleaned. */
function cuts(context, input, right) {
  const texts = list(input.cases ?? input.text);
  const cleaned = within(context, input, {}, {}, (room) =>
    texts.map((text) => room.cleanReply({ text, speaker: avatar(input.speaker) })),
  );
  const one = (values) => (input.cases ? values : values[0]);
  const got = { text: one(cleaned.map((c) => c.text)) };
  if ("cut" in right) got.cut = one(cleaned.map((c) => (c.cut ? { by: c.cut.name } : null)));
  const { assert: _, ...expected } = right;
  return { expected, got };
}

/** Streams, in the given pieces, in single characters and in other splits: what was shown, and that nothing shown was taken back. */
function streams(context, input, right) {
  const power_user = { custom_stopping_strings: JSON.stringify(input.stops) };
  const run = (pieces) =>
    within(context, { ...input, chat: input.chat ?? ["."] }, { power_user, preset: { stream_openai: true } }, {}, (room) => {
      const outputs = round(room, {}, () => pieces);
      const shown = outputs.filter((o) => o.type === "token").map((o) => o.text).join("");
      return {
        shown,
        stored: outputs.find((o) => o.type === "message_done")?.text,
        stopped: outputs.some((o) => o.type === "stop" || o.type === "cut"),
        takenBack: outputs.some((o) => o.type === "draft_reset"),
      };
    });
  const expected = [];
  const got = [];
  input.cases.forEach((pieces, i) => {
    const whole = pieces.join("");
    const splits = [pieces, [whole], [...whole]];
    for (let at = 1; at < whole.length; at++) splits.push([whole.slice(0, at), whole.slice(at)]);
    for (const split of splits) {
      expected.push({ split, shown: right.shown[i], stored: right.shown[i], stopped: right.stopped[i], takenBack: false });
      got.push({ split, ...run(split) });
    }
  });
  return { expected, got };
}
