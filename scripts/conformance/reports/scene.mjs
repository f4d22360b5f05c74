// The short input of a report -> a scene of the public API, and what is asked of every area.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sceneOf } from "../scenario.mjs";

const STRATEGIES = ["natural", "list", "manual", "pooled"];
const MODES = ["swap", "join", "join_muted"];
const OPTIONS = { random: { seed: 1 }, tokenizer: "codepoints", now: Date.parse("2025-03-04T05:06:07.000Z"), offsetMinutes: 0, locale: "en-US" };

/** A list, of one if it is no list. */
export const list = (value) => (Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]);
const numbered = (names, value) => (typeof value === "string" ? Math.max(0, names.indexOf(value)) : (value ?? 0));
export const avatar = (name) => `${name}.png`;

/** The whole number or fraction that a phrase such as "all 0" holds. */
export function numberIn(phrase) {
  if (typeof phrase === "number") return phrase;
  const found = /\d+(?:\.\d+)?/.exec(phrase ?? "");
  return found ? Number(found[0]) : undefined;
}

/** A lorebook of short entries: `keys` or `key`, `content`, and any key of an entry. */
export function book(entries) {
  const whole = list(entries).map((entry, i) => {
    const { keys, ...rest } = entry;
    return [i, { uid: i, key: list(keys), ...rest }];
  });
  return { entries: Object.fromEntries(whole) };
}

/** A chat whose messages may be bare texts: the user's. */
function messages(chat, persona) {
  return list(chat).map((m) => {
    const message = typeof m === "string" ? { is_user: true, mes: m } : m;
    return { name: message.is_user ? persona : "", ...message };
  });
}

/** The order of the prompts as a preset holds it: names, or `{identifier, enabled}`. */
export function promptOrder(order) {
  return [{ character_id: 100001, order: order.map((o) => (typeof o === "string" ? { identifier: o, enabled: true } : o)) }];
}

/** The scene of a report. `more` adds keys of a scenario (tests/golden/README.md); presets and settings are merged. */
export function scene({ golden }, input, more = {}) {
  const defaults = JSON.parse(readFileSync(join(golden, "_defaults.json"), "utf8"));
  const grouped = input.members ?? (Array.isArray(input.group) ? input.group : input.group?.members);
  const others = input.others ?? [];
  const people = grouped ?? [...list(input.speaker ?? "Nia"), ...others];
  const all = people.map((p) => (typeof p === "string" ? { name: p } : p));
  const books = {};
  const characters = all.map(({ name, talkativeness = numberIn(input.talkativeness), character_book, ...data }) => {
    const extensions = {};
    if (talkativeness !== undefined) extensions.talkativeness = talkativeness;
    if (character_book) {
      extensions.world = `Book of ${name}`;
      books[extensions.world] = book(character_book);
    }
    return { avatar: avatar(name), card: { spec: "chara_card_v2", spec_version: "2.0", data: { name, ...data, extensions } } };
  });
  const global = [];
  const entries = input.global_book ?? input.book ?? input.entries;
  if (entries) {
    books.World = book(entries);
    global.push("World");
  }
  const given = Array.isArray(input.group) || !input.group ? {} : input.group;
  const group = grouped || others.length > 0
    ? {
        ...given,
        members: all.map((p) => avatar(p.name)),
        disabled_members: list(given.disabled_members ?? input.muted).map(avatar),
        activation_strategy: numbered(STRATEGIES, given.activation_strategy ?? input.strategy),
        generation_mode: numbered(MODES, given.generation_mode ?? input.mode),
      }
    : null;
  const persona = typeof input.persona === "object" ? input.persona : { name: input.persona ?? "Wren" };
  const lore = { ...(input.settings ?? {}), ...(more.lore ?? {}) };
  if ("match_whole_words" in input) lore.world_info_match_whole_words = input.match_whole_words;
  const preset = { ...more.preset };
  if ("names_behavior" in input) preset.names_behavior = input.names_behavior;
  if (input.prompt_order && !preset.prompt_order) preset.prompt_order = promptOrder(input.prompt_order);
  const scenario = {
    characters,
    group,
    persona,
    chat: messages(more.chat ?? input.chat, persona.name),
    preset,
    settings: { power_user: more.power_user ?? {} },
    world_info: { books, global, settings: lore },
    regex: { global: more.scripts ?? [] },
  };
  return sceneOf({ name: "report", scenario }, defaults, {});
}

/** A room for a report. */
export function open(context, input, more = {}, options = {}) {
  return new context.promptside.Room(scene(context, input, more), { ...OPTIONS, ...options });
}

/** Runs something in a room and frees it. */
export function within(context, input, more, options, run) {
  const room = open(context, input, more, options);
  try {
    return run(room);
  } finally {
    room.free();
  }
}

/** Runs a round: each request is answered by `reply(name)`, a text or pieces of one. Everything that came out, in order. */
export function round(room, start, reply = () => "OK.") {
  const outputs = [];
  const queue = room.step({ type: "start", ...start }, OPTIONS.now);
  for (let output; (output = queue.shift()); ) {
    outputs.push(output);
    if (output.type !== "request") continue;
    outputs.at(-1).inspection = room.inspect();
    const answer = reply(output.name);
    const { id: request } = output;
    if (!Array.isArray(answer)) {
      queue.push(...room.step({ type: "reply", request, text: answer }, OPTIONS.now));
      continue;
    }
    for (const text of answer) {
      const now = room.step({ type: "chunk", request, text }, OPTIONS.now);
      queue.push(...now);
      if (now.some((o) => o.type === "stop" || o.type === "message_done")) break;
    }
    queue.push(...room.step({ type: "reply", request }, OPTIONS.now));
  }
  return outputs;
}

/** The messages of a request as they reach the provider. */
export const sent = (request) => JSON.parse(request.body).messages;
export const textOf = (message) =>
  typeof message.content === "string" ? message.content : list(message.content).map((part) => part.text ?? "").join("");
