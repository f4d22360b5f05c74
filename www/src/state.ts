// What the page knows and does: one room, and what is shown of it. No markup here.
import { isPromptsideError, readFile, Room, runRound, writeCard, writeFile } from "promptside";
import type { Card, CharacterInput, GroupInput, MemoryReport, OutgoingRequest, Plan, Report, SceneInput, SendContext, Sent, Start } from "promptside";
import lorne from "./cards/lorne.json";
import mira from "./cards/mira.json";
import { online, providerPreset, sendTo, type Endpoint } from "./endpoint.js";
import { changed, save, type Brought } from "./files.js";
import { ask, doJobs, memoryOptions } from "./memory.js";
import { happened, roundsOf, START, type Happened, type RoundSettings } from "./rounds.js";
import { NARRATION, pick, understudy, type Mood } from "./understudy.js";

export type Profile = "promptside" | "sillytavern";
/** `file`: what the card came in, if it is not one of this page's own. */
export type Member = { avatar: string; card: Card; file?: { container: string; bytes: Uint8Array } };

/** A request, sent or not. */
export interface Shown {
  name: string;
  sent: boolean;
  request: OutgoingRequest;
  report: Report;
}
/** Where a reply was cut. */
export interface CutMark {
  /** Name of the one whose line was left out. */
  foreign: string;
  reason: string;
}
export interface Fault {
  code: string;
  path: string;
  message: string;
}
export interface Line {
  name: string;
  text: string;
  mine: boolean;
  cut?: CutMark;
  /** Names of the members that heard it, where not all did. */
  heard?: string[];
}

export class Playground {
  profile: Profile = "promptside";
  endpoint: Endpoint = { source: "custom", url: "", key: "", model: "", embedding: "" };
  draft = "";
  running = false;
  /** The reply that is coming. */
  live: { name: string; text: string; cut?: CutMark } | undefined;
  plan: Plan | undefined;
  /** The text that the plan's mentions point into. */
  said = "";
  requests: Shown[] = [];
  /** What the memory brings into the request that is shown last. */
  memory: MemoryReport | undefined;
  /** The summary in force. */
  summary = "";
  rounds: RoundSettings = START;
  mood: Mood = "usual";
  /** What happened in the last round. */
  timeline: Happened[] = [];
  faults: Fault[] = [];
  notes: string[] = [];

  persona = "Robin";
  members: Member[] = [
    { avatar: "mira.png", card: mira },
    { avatar: "lorne.png", card: lorne },
  ];
  #brought: Brought = { preset: {}, books: {}, scripts: [] };
  #room: Room;
  #cuts = new Map<number, CutMark>();
  #turn = 0;
  #calls = 0;
  #stop: AbortController | undefined;
  #listeners = new Set<() => void>();

  constructor() {
    const scene: SceneInput = {
      characters: characters(this.members),
      group: this.#group(this.members),
      persona: { name: this.persona, description: "{{user}} came down to the landing before dawn." },
      preset: providerPreset(this.endpoint),
    };
    this.#room = new Room(scene, { profile: this.profile, random: { seed: 7 }, memory: memoryOptions(this.endpoint) });
    this.preview();
  }

  subscribe(listener: () => void): void {
    this.#listeners.add(listener);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #group(members: Member[]): GroupInput {
    return { id: "landing", name: "The landing", members: members.map((m) => m.avatar), allow_self_responses: false };
  }

  /** Does something; an error is shown and the room is as it was. */
  #attempt(action: () => void): boolean {
    try {
      action();
      return true;
    } catch (error) {
      this.faults.push(faultOf(error));
      return false;
    } finally {
      this.#changed();
    }
  }

  /** The name of a member, or of the user. */
  nameOf(id: string): string {
    const member = this.members.find((m) => m.avatar === id);
    return member ? cardName(member.card) : id === "user" || id === "" ? this.persona : id;
  }

  /** Requests leave the page. */
  get online(): boolean {
    return online(this.endpoint);
  }

  get lines(): Line[] {
    return this.#room.chat.messages.map((message, index) => {
      const cut = this.#cuts.get(index);
      const present = message["present"] as string[] | undefined;
      const heard = present && present.length < this.members.length ? present.map((id) => this.nameOf(id)) : undefined;
      const line = { name: String(message["name"]), text: String(message["mes"]), mine: message["is_user"] === true };
      return { ...line, ...(cut ? { cut } : {}), ...(heard ? { heard } : {}) };
    });
  }

  /** Shows who would speak and what would be sent for what is typed so far. */
  preview(): void {
    this.#attempt(() => {
      const typed = this.draft ? { userMessage: this.draft } : {};
      this.requests = [];
      this.said = this.draft;
      this.plan = this.rounds.mode === "off" ? this.#room.nextSpeakers(typed) : undefined;
      const first = this.plan ? this.plan.speakers.slice(0, 1) : this.#planned(typed).slice(0, 1);
      this.requests = first.map(({ id, name }) => {
        const { request, report } = this.#room.buildRequest({ ...typed, speaker: id });
        this.memory = this.#room.memory.recall({ speaker: id });
        return { name, sent: false, request, report };
      });
      this.summary = this.#room.memory.summary().text;
    });
  }

  /** Whom a round would plan; the timeline says so. */
  #planned(start: Start): { id: string; name: string }[] {
    const outputs = this.#room.previewRound(start);
    const told = outputs.map((o) => happened(o, (id) => this.nameOf(id))).filter((h) => h !== undefined);
    this.timeline = told.map(({ type, text }) => ({ type, text: `would be: ${text}` }));
    const plan = outputs.find((o) => o.type === "round_plan");
    return plan?.planned ?? [];
  }

  setRounds(change: Partial<RoundSettings>): void {
    const rounds = { ...this.rounds, ...change };
    const done = this.#attempt(() => this.#room.invoke("configure", { rounds: roundsOf(rounds, this.profile) }));
    if (!done) return;
    this.rounds = rounds;
    this.timeline = [];
    this.preview();
  }

  /** A member comes or leaves. */
  setPresent(avatar: string, here: boolean): void {
    const others = this.rounds.absent.filter((id) => id !== avatar);
    this.setRounds({ absent: here ? others : [...others, avatar] });
  }

  setMood(mood: Mood): void {
    this.mood = mood;
    this.#changed();
  }

  type(text: string): void {
    this.draft = text;
    this.preview();
  }

  async send(): Promise<void> {
    const text = this.draft;
    await this.run(text.trim() ? { userMessage: text } : {});
  }

  /** One round, whatever started it. */
  async run(start: Start): Promise<void> {
    if (this.running) return;
    this.faults = [];
    this.notes = [];
    this.requests = [];
    this.said = start.userMessage ?? "";
    const { userMessage, kind, speaker } = start;
    const asked = { ...(userMessage ? { userMessage } : {}), ...(kind ? { kind } : {}), ...(speaker ? { speaker } : {}) };
    this.timeline = [];
    const coordinated = this.rounds.mode !== "off" && !kind && !speaker;
    if (!this.#attempt(() => (this.plan = coordinated ? undefined : this.#room.nextSpeakers(asked)))) return;
    this.running = true;
    this.draft = "";
    const stop = (this.#stop = new AbortController());
    this.#changed();
    try {
      await ask(this.#room, this.endpoint, userMessage).catch((error: unknown) => void this.faults.push(faultOf(error)));
      for await (const event of runRound(this.#room, start, { signal: stop.signal, send: (r, c) => this.#send(r, c) })) {
        this.#take(event);
        this.#changed();
      }
      this.live = undefined;
      const faults = await doJobs(this.#room, this.endpoint);
      this.faults.push(...faults.map((message) => ({ code: "page.memory", path: "", message })));
      this.summary = this.#room.memory.summary().text;
    } catch (error) {
      this.faults.push(faultOf(error));
    } finally {
      this.running = false;
      this.live = undefined;
      this.#changed();
    }
  }

  #send(request: OutgoingRequest, { name, turn }: SendContext): Promise<Response> | Sent {
    if (this.online) return sendTo(request, this.endpoint);
    this.#calls += 1;
    if (this.mood === "fails" && this.#calls % 2 === 1) return new Response("the understudy is ill", { status: 503 });
    if (turn?.purpose === "director") return pick(turn.candidates.map((id) => this.nameOf(id)), this.#turn);
    if (turn?.purpose === "narrate") return NARRATION;
    const last = this.lines.filter((line) => line.name === name).at(-1)?.text;
    const others = this.members.map((m) => cardName(m.card)).filter((other) => other !== name);
    return understudy({ name, others: [...others, this.persona], turn: this.#turn++, mood: this.mood, last }, request.signal);
  }

  #take(event: Awaited<ReturnType<ReturnType<typeof runRound>["next"]>>["value"] & object): void {
    const told = happened(event, (id) => this.nameOf(id));
    if (told) this.timeline.push(told);
    switch (event.type) {
      case "memory":
        this.memory = event.report as MemoryReport;
        break;
      case "request": {
        const { request, report, name } = event;
        this.requests.push({ name, sent: true, request: request as OutgoingRequest, report: report as Report });
        this.live = { name, text: "" };
        break;
      }
      case "token":
        if (this.live) this.live.text += event.text;
        break;
      case "draft_reset":
        if (this.live) this.live.text = "";
        break;
      case "cut":
        if (this.live) this.live.cut = { foreign: this.nameOf(event.foreign), reason: event.reason };
        break;
      case "message_done":
        if (this.live?.cut) this.#cuts.set(event.index, this.live.cut);
        else this.#cuts.delete(event.index);
        this.live = undefined;
        break;
      case "error":
        this.faults.push({ code: event.code, path: "", message: event.message });
        break;
      case "refused":
        this.faults.push({ code: event.code, path: "", message: "a round is running" });
        break;
      case "room_finished":
        if (event.reason !== "round_complete" && this.rounds.mode === "off") this.notes.push(`the round ended: ${event.reason.replaceAll("_", " ")}`);
        break;
    }
  }

  stop(): void {
    this.#stop?.abort();
  }

  setEndpoint(change: Partial<Endpoint>): void {
    const endpoint = { ...this.endpoint, ...change };
    const apply = () => {
      this.#room.update({ preset: { ...this.#brought.preset, ...providerPreset(endpoint) } });
      this.#room.memory.configure(memoryOptions(endpoint));
    };
    if (!this.#attempt(apply)) return;
    this.endpoint = endpoint;
    if ("key" in change) this.#changed();
    else this.preview();
  }

  editSummary(text: string): void {
    if (this.#attempt(() => this.#room.memory.editSummary(text))) this.preview();
  }

  restoreSummary(): void {
    if (this.#attempt(() => this.#room.memory.restoreSummary())) this.preview();
  }

  /** A remembered thing in words. */
  textOf(kind: string, id: string): string {
    if (kind !== "message") return kind === "summary" ? "" : id;
    const at = Number(id.split(":")[0]);
    const line = this.lines[at];
    return line ? `${line.name}: ${line.text.slice(0, 80)}` : id;
  }

  setProfile(profile: Profile): void {
    const done = this.#attempt(() => {
      const { scene, options } = this.#room.snapshot();
      const room = new Room(scene, { ...options, profile, open: false, rounds: roundsOf(this.rounds, profile) });
      this.#room.free();
      this.#room = room;
      this.profile = profile;
    });
    if (done) this.preview();
  }

  /** Takes dropped files: a card joins the group, others change the room. */
  async add(files: Iterable<File>): Promise<void> {
    for (const file of files) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      this.#attempt(() => {
        const read = readFile(bytes, { source: true });
        if (read.kind === "card") this.#join(file.name, read["card"] as Card, { container: read.container, bytes });
        else {
          const change = changed(read, file.name.replace(/\.[^.]*$/, ""), this.#brought);
          if (!change) throw Object.assign(new Error(`${file.name} is a ${read.kind}; this page has no use for it`), { code: "page.no_use" });
          const preset = { ...change.brought.preset, ...providerPreset(this.endpoint) };
          this.#room.update({ ...change.scene, preset });
          this.#brought = change.brought;
          if (change.scene.chat) this.#cuts.clear();
          this.persona = change.scene.persona?.name ?? this.persona;
          this.notes.push(change.note);
        }
        this.notes.push(...read.warnings.map((w) => `${file.name}: ${w.message}`));
      });
    }
    const faults = this.faults;
    this.preview();
    this.faults = faults;
  }

  #join(name: string, card: Card, file: { container: string; bytes: Uint8Array }): void {
    const members = [...this.members, { avatar: this.#freeAvatar(name), card, file }];
    this.#room.update({ characters: characters(members), group: this.#group(members) });
    this.members = members;
    this.notes.push(`${cardName(card)} joined the group`);
  }

  /** A member's card as a file: in the picture or archive that it came in, else as JSON. */
  saveCard({ avatar, card, file }: Member): void {
    this.#attempt(() => {
      const name = avatar.replace(/\.png$/, "");
      const into = file && { png: "png", apng: "png", charx: "charx" }[file.container];
      if (file && into) save(`${name}.${into}`, writeCard(card, file.bytes, { sharing: true }), "application/octet-stream");
      else save(`${name}.json`, writeCard(card, undefined, { sharing: true }), "application/json");
    });
  }

  saveChat(): void {
    this.#attempt(() => save("chat.jsonl", writeFile("chat", this.#room.chat), "application/jsonl"));
  }

  #freeAvatar(fileName: string): string {
    const base = fileName.replace(/\.[^.]*$/, "") || "card";
    const taken = new Set(this.members.map((m) => m.avatar));
    for (let n = 1; ; n++) {
      const avatar = n === 1 ? `${base}.png` : `${base}-${n}.png`;
      if (!taken.has(avatar)) return avatar;
    }
  }

  dismiss(): void {
    this.faults = [];
    this.notes = [];
    this.#changed();
  }
}

function characters(members: Member[]): CharacterInput[] {
  return members.map(({ avatar, card }) => ({ avatar, card }));
}

export function cardName(card: Card): string {
  return String(card.data?.["name"] ?? card["name"] ?? "?");
}

function faultOf(error: unknown): Fault {
  if (isPromptsideError(error)) return { code: error.code, path: error.path, message: error.message };
  const code = error instanceof Error && "code" in error ? String(error.code) : "page.error";
  return { code, path: "", message: error instanceof Error ? error.message : String(error) };
}
