// The whole public API as a strict TypeScript program: it must compile against the package's own types.
import {
  PromptsideError,
  Room,
  VectorIndex,
  buildRequest,
  cleanReply,
  countTokens,
  detectFile,
  expandMacros,
  extractAsset,
  inspectText,
  invoke,
  isPromptsideError,
  load,
  loadTokenizer,
  nextSpeakers,
  readFile,
  runRound,
  withKey,
  withProxy,
  capabilities,
  readError,
  writeCard,
  writeCharx,
  writeFile,
  type BuildOptions,
  type Built,
  type Card,
  type CleanOptions,
  type Cleaned,
  type FileAsset,
  type FileBytes,
  type FileKind,
  type FileRead,
  type GroupInput,
  type Input,
  type InspectedText,
  type MemoryJob,
  type MemoryOptions,
  type MemoryReport,
  type MemoryResult,
  type MessageInput,
  type RoomMemory,
  type SummaryState,
  type OutgoingRequest,
  type Output,
  type PersonaInput,
  type Plan,
  type Reason,
  type Report,
  type RoomOptions,
  type RoundOptions,
  type SceneInput,
  type Sent,
  type SpeakerOptions,
  type Start,
  type TokenCount,
  type Vocabulary,
  type WasmSource,
} from "promptside";

const card: Card = { spec: "chara_card_v2", spec_version: "2.0", data: { name: "洛恩", description: "An old hunter." } };
const group: GroupInput = { members: ["a.png"], activation_strategy: 0, generation_mode: 0 };
const persona: PersonaInput = { name: "旅人", position: 4, depth: 2 };
const message: MessageInput = { name: "旅人", is_user: true, mes: "hi" };
const scene: SceneInput = { characters: [{ avatar: "a.png", card, aliases: ["L"] }, card], group, persona, chat: [message], preset: { temperature: 1 } };
const seeds: RoomOptions[] = [
  {},
  { profile: "sillytavern", switches: { "speakers.nobody": true }, random: { seed: 7 }, limits: { macro_depth: 3 } },
  { random: { tape: [0.1, 0.2] }, now: 0, offsetMinutes: 60, locale: "de-DE", tokenizer: "estimate", open: false },
  { random: { entropy: "00" } },
];

export async function all(source: WasmSource, bytes: FileBytes, vocabulary: Vocabulary, signal: AbortSignal): Promise<void> {
  await load();
  await load(source);
  const encoding: string = await loadTokenizer(vocabulary, { signal });
  const count: TokenCount = countTokens("text", { model: encoding });
  console.log(count.tokens + 1, count.exact, count.tokenizer, countTokens("text", "gpt-4o").tokens);

  using room = new Room(scene, seeds[1]);
  const plan: Plan = room.nextSpeakers({ userMessage: "?", kind: "normal", speaker: "a.png", auto: false } satisfies SpeakerOptions);
  for (const { id, name, index, reason } of plan.speakers) console.log(id, name, index, why(reason));
  const built: Built = room.buildRequest({ speaker: "a.png", userMessage: "?", kind: "quiet", quiet: { prompt: "p" } } satisfies BuildOptions);
  const request: OutgoingRequest = built.request;
  const response: Promise<Response> = fetch(request.url, withKey(request, "key"));
  const report: Report = built.report;
  console.log(response, report.budget.used, report.messages[0]?.parts[0]?.origin.kind, report.omitted[0]?.reason);
  const cleaned: Cleaned = room.cleanReply({ text: "在。", speaker: "a.png" } satisfies CleanOptions);
  console.log(cleaned.text, cleaned.cut?.reason, cleaned.stripped.length);

  const start: Start = { userMessage: "?", speaker: "a.png" };
  const options: RoundOptions = {
    send: (r, context): Promise<Sent> => fetch(r.url, { ...withKey(r, context.name), cache: "no-store" }),
    signal,
    timeout: 1000,
  };
  for await (const event of runRound(room, start, options)) show(event);
  for await (const event of runRound(room, { auto: true }, { send: () => "text" })) show(event);
  for await (const event of runRound(room, {}, { send: () => ({ text: "t", reasoning: "r", finish: "stop" }) })) show(event);
  for await (const event of runRound(room, {}, { send: async function* () { yield "a"; } })) show(event);

  const inputs: Input[] = [
    { type: "start", ...start, kind: "quiet", quiet: { prompt: "p", responseLength: 10 } },
    { type: "chunk", request: "1", text: "x" },
    { type: "wire", request: "1", text: "x", end: true },
    { type: "reply", request: "1", text: "x" },
    { type: "fail", request: "1", code: "network" },
    { type: "timeout", request: "1" },
    { type: "abort", keep: true },
    { type: "elapsed", wait: "1" },
  ];
  for (const input of inputs) for (const output of room.step(input, 0)) show(output);
  room.update({ persona: { name: "X" }, chatMetadata: { note: 1 } });
  const last: unknown = room.chat.messages.at(-1)?.["mes"];
  const { scene: kept, options: with_ } = room.snapshot();
  const copy = new Room(kept, with_);
  console.log(last, room.inspect().report.v, room.invoke<string[]>("warnings").length, copy);
  copy.free();

  console.log(nextSpeakers(scene).speakers, buildRequest(scene, { speaker: "a.png" }, seeds[2]).request.body);
  console.log(cleanReply(scene, { text: "x" }).text, expandMacros("{{user}}", JSON.stringify(scene), { speaker: "a.png" }));
  const file: FileRead = readFile(bytes, { want: "card" });
  console.log(file.kind, file.container, file.warnings[0]?.code, file["card"]);
  const written: Uint8Array = writeCard(card, bytes);
  const kind: FileKind = detectFile(written, { limits: { file_bytes: 1 << 20 } }).kind;
  const assets: FileAsset[] = file.assets ?? [];
  const picture = extractAsset(bytes, assets[0]?.path ?? "");
  const archive = writeCharx(card, picture ? { "icon.png": picture } : {}, { sharing: true });
  console.log(writeFile(kind, readFile(archive, { source: true }).source).length, writeCard(card, undefined, { version: 3 }).length);
  console.log(written.length, writeCard(card).length, invoke<number>("countTokens", { text: "x" }));
  try {
    new Room("{");
  } catch (error) {
    if (isPromptsideError(error)) console.log(error.code, error.path, error.message, error instanceof PromptsideError);
  }
  const looked: InspectedText = room.inspectText("{{weather}} {{user}}", { speaker: "a.png", trust: "data" });
  console.log(looked.macros.map((m) => `${m.name} ${m.range[0]} ${m.status} ${m.value ?? ""}`), looked.unknown, looked.needs.random, looked.changes.local);
  console.log(inspectText("{{x}}", { characters: [], macros: { x: "1", level: 7, "time::here": true } }).text);
  console.log(room.runScripts("x", { placement: 2, prompt: true, depth: 0 }).changed.map((c) => `${c.script} ${c.scope} ${c.matches}`));
  console.log(room.buildRequest().changes.global, room.cleanReply({ text: "" }).warnings[0]?.message);
  // @ts-expect-error: no such placement
  room.runScripts("x", { placement: 4 });
  // @ts-expect-error: characters are needed
  new Room({});
  // @ts-expect-error: a reply needs its text
  room.cleanReply({});
  // @ts-expect-error: no such input
  room.step({ type: "banana" });
  // @ts-expect-error: an event has no such type
  if (([] as Output[])[0]?.type === "banana") return;
}

function show(event: Output): void {
  switch (event.type) {
    case "token":
      return console.log(event.speaker, event.text.length);
    case "request":
      return console.log(event.request.url, event.request.auth?.header, event.report.budget.left);
    case "round_plan":
      return console.log(event.planned.map((p) => why(p.reason)), event.empty, event.draws[0]?.site);
    case "message_done":
      return console.log(event.index, event.text, event.message.mes);
    case "user_message":
      return console.log(event.message.mes);
    case "cut":
      return console.log(event.foreign, event.offset);
    case "error":
      return console.log(event.code, event.message);
    case "round_stats":
      return console.log(event.spoke, event.failed, event.unreached);
    case "room_finished":
      return console.log(event.reason, event.count);
  }
}

function why(reason: Reason | Extract<Output, { type: "round_plan" }>["planned"][number]["reason"]): string {
  return reason.kind === "mentioned" ? `${reason.start}-${reason.end}` : reason.kind === "roll" ? `${reason.value}` : reason.kind;
}

export function remember(room: Room, embed: (texts: string[]) => Float32Array[]): MemoryReport {
  const options: MemoryOptions = { share: 0.2, summary: { interval: 8, pinned: ["生日：三月十五日"] }, embed: { model: "m", precision: "int8" } };
  room.memory.configure(options);
  const memory: RoomMemory = room.memory;
  const id = memory.addFile({ name: "林地", text: "…", scope: "chat" });
  for (const job of memory.pending() as MemoryJob[]) {
    const result: MemoryResult = job.kind === "embed" ? { vectors: embed(job.texts) } : { text: job.user };
    const { status } = memory.store(job.id, result);
    if (status === "stale_result") memory.forget(id);
  }
  memory.setQuery(memory.query({ speaker: "洛恩" }), embed(["…"])[0] ?? []);
  const summary: SummaryState = memory.summary();
  if (summary.due) memory.editSummary(summary.text);
  const kept = memory.export();
  memory.import(kept);
  const index = new VectorIndex("m", "int8");
  index.add(["a"], embed(["a"]));
  const best: number | undefined = index.search([1, 0], 1)[0]?.score;
  index.free();
  const report = memory.recall({ speaker: "洛恩" });
  return best === undefined ? report : { ...report, left: best };
}

export async function providers(request: OutgoingRequest): Promise<string> {
  const all: string[] = capabilities().map((c) => c.source);
  const { browser, stops } = capabilities("claude");
  const limit: number = stops ?? all.length;
  const response = await fetch(withProxy(request, "https://my.example/{path}").url);
  const { kind, retry, retryAfter } = await readError(response);
  return `${browser.direct} ${limit} ${kind} ${retry} ${retryAfter ?? 0}`;
}
