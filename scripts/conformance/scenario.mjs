// Cases recorded from a live run: a scenario, steps, and what was sent and stored.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const NOTE_DEFAULTS = { note_prompt: "", note_interval: 1, note_position: 1, note_depth: 4, note_role: 0 };
/** What a recording leaves out of a payload: addresses and keys of the machine it was made on. */
const HOST_KEYS = new Set(["custom_url", "custom_include_headers", "reverse_proxy", "proxy_password"]);
const APP = { referer: "https://sillytavern.app", title: "SillyTavern" };

export async function runScenario(context, json) {
  const run = new Run(context, json);
  const got = { steps: [] };
  const expected = { steps: [] };
  if (json.expected.opened_chat) {
    expected.opened_chat = json.expected.opened_chat;
    got.opened_chat = run.room.chat.messages;
  }
  if (json.expected.opened_draws) {
    expected.opened_draws = json.expected.opened_draws;
    got.opened_draws = run.opened;
  }
  json.scenario.steps.forEach((step, i) => {
    const recorded = json.expected.steps[i] ?? {};
    const result = run.step(step, recorded);
    expected.steps.push(comparable(recorded, step, Boolean(json.scenario.api)));
    got.steps.push({ do: step.do, ...result });
  });
  expected.chat = json.expected.chat;
  expected.chat_metadata = json.expected.chat_metadata;
  const { messages, metadata } = run.room.chat;
  got.chat = messages;
  got.chat_metadata = { ...NOTE_DEFAULTS, ...metadata, ...run.note };
  if (json.expected.variables) {
    expected.variables = json.expected.variables;
    got.variables = run.room.snapshot().scene.variables.global;
  }
  run.room.free();
  return { expected, got };
}

/** What of a recorded step is ours to reproduce. */
function comparable(recorded, step, text) {
  const { notices, error, http, ...rest } = recorded;
  // Only that there was an error or notice is compared, not the reference's wording (tests/golden/README.md). In text completion some
  // failures come without a notice, others with several.
  if (notices && !(text && error)) rest.notices = notices.length;
  if (error) rest.error = true;
  if (step.do === "post") delete rest.result; // the scripted provider's answer
  if (rest.requests) {
    rest.requests = rest.requests.map(({ frontend, reply, http: _, ...request }) => {
      const out = { ...request };
      if (step.do === "post") return { upstream: request.upstream };
      out.frontend = frontend;
      if (out.upstream?.body === "=frontend") out.upstream = { ...out.upstream, body: frontend };
      return out;
    });
  }
  return rest;
}

class Run {
  constructor({ promptside, golden }, json) {
    this.promptside = promptside;
    const defaults = JSON.parse(readFileSync(join(golden, "_defaults.json"), "utf8"));
    const text = json.scenario.api ? JSON.parse(readFileSync(join(golden, "_defaults-text.json"), "utf8")) : {};
    this.scenario = json.scenario;
    this.scene = sceneOf(json, defaults, text);
    this.options = {
      profile: "sillytavern",
      tokenizer: tokenizerOf(json.scenario, this.scene),
      now: Date.parse(json.scenario.date ?? "2025-03-04T05:06:07.000Z"),
      offsetMinutes: 0,
      locale: "en-US",
      random: json.scenario.random ? { tape: json.scenario.random } : { seed: 1 },
      provider: { "app.url": APP.referer, "app.title": APP.title },
    };
    this.room = new promptside.Room(this.scene, this.options);
    this.opened = this.room.invoke("takeDraws");
    // A scenario's variables are set in the open chat, whatever its first message wrote.
    const { local, global } = json.scenario.variables ?? {};
    if (local || global) this.room.update({ ...(local ? { chatMetadata: { variables: local } } : {}), ...(global ? { variables: { global } } : {}) });
  }

  step(step, recorded) {
    if (step.date) this.configure({ now: Date.parse(step.date) });
    this.configure({ random: { tape: step.random ?? [] } });
    const before = this.room.chat.messages;
    const result = this[step.do] ? this[step.do](step, recorded) : { error: `no support for step ${step.do}` };
    const draws = this.room.invoke("takeDraws");
    if (draws.length || recorded.draws) result.draws = draws;
    // The recording compares messages as text: one whose keys only changed their order is listed, too.
    const listed = recorded.chat_changes?.messages.map((m) => m.index) ?? [];
    const changes = chatChanges(before, this.room.chat.messages, listed);
    if (changes || recorded.chat_changes) result.chat_changes = changes ?? { length: before.length, messages: [] };
    return result;
  }

  configure(options) {
    Object.assign(this.options, options);
    this.room.invoke("configure", options);
  }

  /** A start of a round; answers every request with the next scripted reply. */
  round(start, step, recorded) {
    const replies = [...(step.replies ?? [])];
    const result = {};
    const requests = [];
    let outputs;
    const now = this.options.now;
    const queue = [];
    try {
      outputs = this.room.step({ type: "start", ...start }, now);
      queue.push(...outputs);
    } catch (error) {
      result.error = true;
      return result;
    }
    for (let output = queue.shift(); output; output = queue.shift()) {
      if (output.type === "round_plan" && this.scenario.group && output.planned.length) {
        if (start.kind !== "quiet" || recorded.speakers) result.speakers = output.planned.map((p) => p.name);
      }
      if (output.type === "result") result.result = output.text;
      if (output.type === "error") {
        // The page shows the failure.
        result.error = true;
        if (!this.scenario.api) result.notices = (result.notices ?? 0) + 1;
      }
      if (output.type !== "request") continue;
      const inspection = this.room.inspect();
      const wanted = recorded.requests?.[requests.length] ?? {};
      requests.push(requestOf(output, inspection, wanted));
      if (this.notice(inspection.report)) result.notices = (result.notices ?? 0) + 1;
      queue.push(...this.answer(output, replies.shift() ?? "OK.", now));
    }
    if (requests.length || recorded.requests) result.requests = requests;
    return result;
  }

  /** Whether the page says something about a request: that texts did not fit, or (once) that a story string leaves fields out. */
  notice(report) {
    if (!this.scenario.api) return Boolean(report.error);
    const unused = report.warnings.filter((w) => w.code === "template.field_unused").map((w) => w.message);
    const said = JSON.stringify([unused, this.scene.settings.power_user.context, this.scene.text.context]);
    const isNew = unused.length > 0 && said !== this.said;
    if (isNew) this.said = said;
    return isNew;
  }

  /** What the provider says to one request. */
  answer(output, reply, now) {
    const request = output.id;
    const r = typeof reply === "string" ? { content: reply } : reply;
    if (r.status && r.status >= 400) {
      return this.room.step({ type: "fail", request, code: `http_${r.status}`, message: "" }, now);
    }
    const source = this.scenario.api ? "text" : this.scene.preset.chat_completion_source;
    // Google's answers without text are an error; OpenAI's never carry their reasoning (spec 06 §6).
    if (r.content === "" && /^(makersuite|vertexai)$/.test(source)) {
      return this.room.step({ type: "fail", request, code: "empty", message: "" }, now);
    }
    const answer = {
      ...(r.reasoning !== undefined && source !== "openai" ? { reasoning: r.reasoning } : {}),
      ...(r.alternatives ? { alternatives: r.alternatives } : {}),
      ...(r.finish_reason ? { finish: r.finish_reason } : {}),
    };
    const outputs = [];
    for (const text of r.chunks ?? []) outputs.push(...this.room.step({ type: "chunk", request, text }, now));
    outputs.push(
      ...this.room.step({ type: "reply", request, ...answer, ...(r.chunks ? {} : { text: r.content ?? "" }) }, now),
    );
    return outputs;
  }

  user_message(step, recorded) {
    return this.round({ userMessage: step.text }, step, recorded);
  }

  auto_mode(step, recorded) {
    return this.round({ auto: true }, step, recorded);
  }

  generate(step, recorded) {
    const kind = step.type ?? "normal";
    const start = { kind };
    if (step.text) start.userMessage = step.text;
    if (step.member) start.speaker = step.member;
    if (kind === "quiet") {
      start.quiet = {
        prompt: step.prompt ?? "",
        toLoud: step.to_loud ?? false,
        skipLore: step.skip_wian ?? false,
        name: step.quiet_name ?? "",
        ...(step.response_length ? { responseLength: step.response_length } : {}),
      };
    }
    return this.round(start, step, recorded);
  }

  activate(step, recorded) {
    const start = {
      ...(step.input ? { userMessage: step.input } : {}),
      ...(step.type ? { kind: step.type } : {}),
      ...(step.member ? { speaker: step.member } : {}),
      ...(step.auto ? { auto: true } : {}),
    };
    let plan;
    // A turn marks the chat as used before it chooses who speaks.
    if (this.scene.group?.members?.length) this.room.update({ chatMetadata: { tainted: true } });
    try {
      plan = this.room.nextSpeakers({ ...start, spend: true });
    } catch (error) {
      if (recorded.speakers) throw error;
      plan = { speakers: [] };
    }
    if (plan.speakers.length) return { speakers: plan.speakers.map((p) => p.name) };
    this.configure({ random: { tape: step.random ?? [] } });
    this.room.invoke("takeDraws");
    if (start.kind === "quiet") start.quiet = { prompt: "" };
    this.room.step({ type: "start", ...start }, this.options.now);
    return recorded.speakers ? { speakers: [] } : {};
  }

  clean(step) {
    const { text } = this.room.cleanReply({
      text: step.text,
      ...(step.member ? { speaker: step.member } : {}),
      impersonate: step.impersonate ?? false,
      continue: step.continue ?? false,
      keepIncomplete: step.display_incomplete ?? false,
      ...(step.stopping_strings ? { stop: step.stopping_strings } : {}),
      trimNames: step.trim_names ?? true,
      trimWrongNames: step.trim_wrong_names ?? true,
      includeBias: step.include_user_bias ?? true,
    });
    return { result: text };
  }

  stopping_strings(step) {
    return {
      result: this.room.invoke("stops", {
        ...(step.member ? { speaker: step.member } : {}),
        impersonate: step.impersonate ?? false,
        continue: step.continue ?? false,
      }),
    };
  }

  macro(step) {
    return { result: this.room.invoke("expand", { texts: step.text, ...(step.member ? { speaker: step.member } : {}), commit: true }) };
  }

  regex(step) {
    const { do: _, random, member, ...rest } = step;
    return { result: this.room.invoke("regex", { ...rest, ...(member ? { speaker: member } : {}) }) };
  }

  worldinfo(step, recorded) {
    const { activated, explained: _, untouched: _____, loops: __, budget: ___, overflow: ____, warnings: ______, ...result } = this.room.invoke("lore", {
      ...(step.lines ? { lines: step.lines } : {}),
      ...(step.max_context ? { maxContext: step.max_context } : {}),
      ...(step.trigger ? { trigger: step.trigger } : {}),
      ...(step.member ? { speaker: step.member } : {}),
      dry: step.dry ?? false,
    });
    // The reference tells of active entries in a real run only.
    const told = step.dry ? [] : activated;
    return { result, ...(told.length || recorded.activated ? { activated: told } : {}) };
  }

  count(step) {
    return { result: this.room.invoke("count", { texts: step.texts }) };
  }

  post(step) {
    let request;
    try {
      request = this.room.invoke("convert", { payload: step.body });
    } catch {
      return { requests: [{ upstream: null }] }; // refused before anything is sent, as a provider's converter does
    }
    return { requests: [{ upstream: upstreamOf(request) }] };
  }

  raw(step, recorded) {
    let built;
    try {
      built = this.room.invoke("buildRaw", {
        prompt: step.prompt,
        ...(step.system_prompt !== undefined ? { systemPrompt: step.system_prompt } : {}),
        ...(step.prefill !== undefined ? { prefill: step.prefill } : {}),
        ...(step.instruct_override !== undefined ? { instructOverride: step.instruct_override } : {}),
        ...(step.to_loud !== undefined ? { toLoud: step.to_loud } : {}),
        ...(step.response_length !== undefined ? { responseLength: step.response_length } : {}),
        ...(step.member ? { speaker: step.member } : {}),
      });
    } catch {
      return { error: true };
    }
    const { name } = this.scene.characters.find((c) => c.avatar === built.speaker).card.data;
    const request = requestOf({ name, request: built.request }, this.room.inspect(), recorded.requests?.[0] ?? {});
    const [reply = "OK."] = step.replies ?? [];
    const { text } = this.room.cleanReply({
      text: typeof reply === "string" ? reply : (reply.content ?? ""),
      speaker: built.speaker,
      keepIncomplete: true,
      includeBias: false,
    });
    return { result: text, requests: [request] };
  }

  set(step) {
    const { do: _, random, ...changes } = step;
    const scene = this.scene;
    if (changes.oai) scene.preset = { ...scene.preset, ...changes.oai };
    if (scene.text) this.setTemplates(changes);
    if (changes.power_user) scene.settings.power_user = merged(scene.settings.power_user, changes.power_user);
    if (changes.extensions) scene.settings.extensions = { ...scene.settings.extensions, ...changes.extensions };
    if (changes.world_info) scene.settings.world_info = { ...scene.settings.world_info, ...changes.world_info };
    if (changes.group) scene.group = { ...scene.group, ...changes.group };
    const persona = {
      ...("persona_description_position" in (changes.power_user ?? {}) ? { position: changes.power_user.persona_description_position } : {}),
      ...("persona_description_depth" in (changes.power_user ?? {}) ? { depth: changes.power_user.persona_description_depth } : {}),
      ...("persona_description_role" in (changes.power_user ?? {}) ? { role: changes.power_user.persona_description_role } : {}),
    };
    scene.persona = { ...scene.persona, ...persona };
    // The page reads the note's text from its text box, which such a change does not reach.
    const { note_prompt, ...metadata } = changes.chat_metadata ?? {};
    if (note_prompt !== undefined) this.note = { note_prompt };
    if (scene.text) this.setText(changes);
    this.room.update({
      preset: scene.preset,
      settings: scene.settings,
      persona: scene.persona,
      ...(changes.group ? { group: scene.group } : {}),
      ...(scene.text ? { text: scene.text } : {}),
      ...(Object.keys(metadata).length ? { chatMetadata: metadata } : {}),
    });
    return {};
  }

  /** Templates: one that is selected anew lies over what the last one left; a change of single values goes into the selected one. */
  setTemplates(changes) {
    const { text, settings } = this.scene;
    const single = changes.power_user ?? {};
    for (const key of ["context", "instruct", "sysprompt", "reasoning"]) {
      if (single[key] && text[key]) text[key] = { ...text[key], ...single[key] };
      if (!changes[key]) continue;
      if (key !== "sysprompt") settings.power_user[key] = { ...settings.power_user[key], ...text[key] };
      text[key] = key === "sysprompt" ? { ...text[key], ...changes[key] } : changes[key];
    }
    for (const key of ["always_force_name2", "trim_sentences", "single_line"]) {
      if (key in single && text.context) text.context[key] = single[key];
    }
  }

  setText(changes) {
    for (const key of ["textgen", "kobold"]) {
      if (changes[key]) this.scene.text[key] = backendOf(merged(this.scene.text[key], changes[key]));
    }
  }

  push_message(step) {
    this.room.invoke("editChat", { append: [step.message] });
    return {};
  }

  delete_last() {
    this.room.invoke("editChat", { removeLast: 1 });
    return {};
  }
}

function merged(base, over) {
  const out = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const both = isObject(value) && isObject(base?.[key]);
    out[key] = both ? { ...base[key], ...value } : value;
  }
  return out;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The scene of a scenario: the defaults under the scenario's own keys, in the form of the public API. */
export function sceneOf(json, defaults, textDefaults) {
  const s = json.scenario;
  const note = s.authors_note ?? {};
  const metadata = { ...(s.chat_metadata ?? {}) };
  for (const key of ["prompt", "interval", "position", "depth", "role"]) {
    if (key in note) metadata[`note_${key}`] = note[key];
  }
  if (s.variables?.local) metadata.variables = s.variables.local;
  const preset = { custom_url: "http://custom/v1", ...defaults.preset, ...(s.preset ?? {}), ...(s.settings?.oai ?? {}) };
  const scene = {
    characters: s.characters ?? [],
    ...(s.chat_with ? { chatWith: s.chat_with } : {}),
    group: s.group ?? null,
    ...(s.persona ? { persona: s.persona } : {}),
    chat: { id: s.chat_id ?? `chat-${json.name}`, metadata, messages: s.chat ?? [] },
    preset,
    settings: {
      power_user: merged(merged(defaults.power_user, textDefaults.power_user ?? {}), s.settings?.power_user ?? {}),
      extensions: s.settings?.extensions ?? {},
      world_info: { ...defaults.world_info_settings, ...(s.world_info?.settings ?? {}) },
    },
    lorebooks: {
      books: s.world_info?.books ?? {},
      global: s.world_info?.global ?? [],
      charLore: s.world_info?.char_lore ?? [],
    },
    scripts: {
      global: s.regex?.global ?? [],
      preset: s.regex?.preset ?? [],
      allowedCharacters: s.regex?.allowed_characters ?? [],
    },
    extensionPrompts: s.extension_prompts ?? [],
    variables: s.variables ?? {},
  };
  if (s.api) {
    scene.text = { api: s.api };
    for (const key of ["textgen", "kobold"]) scene.text[key] = backendOf(merged(textDefaults[key], s[key] ?? {}));
    for (const key of ["context", "instruct", "sysprompt", "reasoning"]) if (s[key]) scene.text[key] = { ...s[key] };
  }
  return scene;
}

/** A backend's settings: the machine of the recording, and the chosen model kept by backend, as the page keeps it. */
function backendOf({ model, ...part }) {
  const key = part.type === "ooba" ? "custom_model" : `${part.type}_model`;
  const settings = model === undefined ? part.settings : { ...part.settings, [key]: model };
  return { ...part, settings, server: "http://provider.test/", status: "Valid" };
}

/** Backends that count themselves did so by code points while the cases were recorded. */
const COUNTING = new Set(["koboldcpp", "llamacpp", "ooba", "tabby", "vllm", "aphrodite"]);

function tokenizerOf(scenario, scene) {
  if (scenario.tokenizer !== "real") return scenario.tokenizer ?? "codepoints";
  return scenario.api === "textgen" && COUNTING.has(scene.text.textgen.type) ? "codepoints" : "auto";
}

/** A request in the shape of the recording. */
function requestOf(output, inspection, wanted) {
  const frontend = Object.fromEntries(Object.entries(inspection.payload).filter(([key]) => !HOST_KEYS.has(key)));
  const out = { speaker: output.name, frontend, upstream: upstreamOf(output.request) };
  out.token_counts = tokenCounts(inspection.report);
  if (wanted.prompt_items) out.prompt_items = promptItems(inspection.report);
  if (wanted.activated || inspection.activated.length) out.activated = inspection.activated;
  if (wanted.prompt_parts) out.prompt_parts = inspection.report.text;
  if (!wanted.token_counts) delete out.token_counts;
  return out;
}

/** Totals by slot, as the reference's inspector shows them. */
function tokenCounts(report) {
  const counts = {};
  for (const { slot, items } of report.slots) {
    const total = items.reduce((sum, item) => sum + item.tokens, 0);
    if (total !== 0) counts[slot] = total;
  }
  if (report.recounted !== 0) counts.undefined = report.recounted;
  return counts;
}

/** The assembled prompt by collection, or flat when system messages were merged. */
function promptItems(report) {
  if (report.merged?.length) return report.merged;
  return report.slots.map(({ slot, items }) => ({ collection: slot, items }));
}

/** Where a request went and what with, in the shape of the recording: keys are left out of it. */
function upstreamOf(request) {
  const url = new URL(request.url);
  url.searchParams.delete("key");
  const headers = {};
  for (const [name, value] of Object.entries(request.headers)) {
    const lower = name.toLowerCase();
    if (lower !== "accept" && lower !== "authorization" && lower !== "x-api-key" && lower !== "api-key") headers[lower] = value;
  }
  const host = url.hostname === "provider.test" ? "custom" : url.hostname;
  return { host, path: url.pathname + url.search, headers, body: JSON.parse(request.body) };
}

function chatChanges(before, after, listed) {
  const messages = [];
  after.forEach((message, index) => {
    if (listed.includes(index) || JSON.stringify(canonical(before[index])) !== JSON.stringify(canonical(message))) messages.push({ index, message });
  });
  return messages.length || before.length !== after.length ? { length: after.length, messages } : null;
}

function canonical(value) {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, canonical(value[key])]));
}
