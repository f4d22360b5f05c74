// The room's memory on this page: jobs are done after each round, offline with a hash of character pairs in place of a model.
import { invoke, withKey, type MemoryJob, type MemoryOptions, type MemoryResult, type Room } from "promptside";
import { online, sendTo, type Endpoint } from "./endpoint.js";

/** Little enough that a short talk already shows what memory does. */
export function memoryOptions({ source, url, embedding }: Endpoint): MemoryOptions {
  const base = address({ source, url });
  const embed = base && embedding ? { provider: "custom", base, model: embedding } : { provider: "", base: "", model: "pairs" };
  return { summary: { interval: 8, words: 80 }, recall: { candidates: "unprotected", protect: 4, top: 2 }, embed };
}

const address = ({ source, url }: Pick<Endpoint, "source" | "url">): string =>
  (source === "custom" ? url : "").trim().replace(/\/+$/, "").replace(/\/chat\/completions$/, "");

/** Gives the memory the vector of what the first request of a round will look for: a message so new has none yet. */
export async function ask(room: Room, endpoint: Endpoint, userMessage?: string): Promise<void> {
  const query = room.memory.query(userMessage ? { userMessage } : {});
  const base = address(endpoint);
  if (!base || !endpoint.embedding) return room.memory.setQuery(query, pairs(query));
  const headers = { "Content-Type": "application/json", ...(endpoint.key ? { Authorization: `Bearer ${endpoint.key}` } : {}) };
  const body = JSON.stringify({ input: [query], model: endpoint.embedding });
  const request: RequestInit = { method: "POST", headers, body, credentials: "omit", referrerPolicy: "no-referrer" };
  const { data } = (await json(await fetch(`${base}/embeddings`, request))) as { data?: { embedding: number[] }[] };
  if (data?.[0]) room.memory.setQuery(query, data[0].embedding);
}

/** Does what the memory wants done; a job that fails is offered again next time. Gives what went wrong. */
export async function doJobs(room: Room, endpoint: Endpoint, most = 20): Promise<string[]> {
  const faults: string[] = [];
  for (let jobs = room.memory.pending(); jobs.length && most > 0 && !faults.length; jobs = room.memory.pending()) {
    for (const job of jobs.slice(0, most)) {
      most -= 1;
      let result: MemoryResult;
      try {
        result = await done(job, endpoint);
      } catch (error) {
        faults.push(`memory, ${job.kind}: ${error instanceof Error ? error.message : String(error)}`);
        result = { failed: true };
      }
      room.memory.store(job.id, result);
    }
  }
  return faults;
}

async function done(job: MemoryJob, endpoint: Endpoint): Promise<MemoryResult> {
  if (job.kind === "embed") {
    if (!job.request || !online(endpoint)) return { vectors: job.texts.map(pairs) };
    const { url, method, headers, body } = withKey(job.request, endpoint.key);
    return { response: await json(await fetch(url, { method, headers, body, credentials: "omit", referrerPolicy: "no-referrer" })) };
  }
  if (!online(endpoint)) return { text: job.kind === "summarise" ? firstSentences(job.user) : '{"memories": []}' };
  const response = await json(await sendTo(job.request, endpoint));
  const { text } = invoke<{ text?: string }>("provider.read_response", { profile: "promptside", source: endpoint.source, response });
  return { text: text ?? "" };
}

async function json(response: Response): Promise<unknown> {
  if (!response.ok) throw new Error(`${response.status} ${(await response.text()).slice(0, 200)}`);
  return response.json();
}

/** A vector without a model: texts that share pairs of characters are alike. */
export function pairs(text: string): Float32Array {
  const vector = new Float32Array(256);
  const chars = [...text.toLowerCase().replace(/[\s\p{P}]+/gu, " ")];
  for (let i = 0; i + 1 < chars.length; i++) {
    let hash = 2166136261;
    for (const c of `${chars[i]}${chars[i + 1]}`) hash = Math.imul(hash ^ (c.codePointAt(0) ?? 0), 16777619);
    const at = (hash >>> 0) % vector.length;
    vector[at] = (vector[at] ?? 0) + 1;
  }
  return vector;
}

/** A summary without a model: how each message begins, the latest ones. */
function firstSentences(user: string): string {
  const blocks = user.split("\n\n").map((block) => block.replace(/^(.*):\n/, "$1: "));
  return blocks.map((b) => /^.*?[.!?。！？…]/su.exec(b)?.[0] ?? b).slice(-6).join(" ");
}
