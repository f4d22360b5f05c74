// Stands in for a model, offline: the same turn always gives the same reply. Every second reply, from the first, goes on as
// somebody else, as models do, so that the cut can be seen.

/** How it plays its part. */
export const MOODS = {
  usual: "every second reply goes on as somebody else",
  fails: "every second call fails",
  repeats: "says the same again",
  others: "speaks for others, always",
  calls: "calls another member with @",
} as const;
export type Mood = keyof typeof MOODS;

/** Who is to speak, and with whom. */
export interface Turn {
  name: string;
  /** The other members' names, then the user's. */
  others: string[];
  /** How many replies there were before. */
  turn: number;
  mood: Mood;
  /** What the speaker said last. */
  last: string | undefined;
}

/** What a model that picks the speakers would say. */
export function pick(names: string[], turn: number): string {
  const name = names[turn % Math.max(1, names.length)] ?? "";
  return JSON.stringify({ speakers: [name], reason: "it is their turn to say something" });
}

/** What a narrator would say. */
export const NARRATION = "The fog thins for a moment, and the far bank shows. 雾又合上了。";

const ENGLISH = [
  "*looks up slowly.* Here. The river is higher than it was last night.",
  "If the boat comes, it comes with its lamp out. I would not like that.",
  "Listen… there. Oars, or only the rope against the post?",
  "Ask me again when the fog lifts. Until then I only guess.",
];
const CHINESE = [
  "*他抬起头。* 我在。水比昨夜又高了一寸。",
  "船若是来了，灯却没亮，那就不是我们等的船。",
  "听……桨声？还是缆绳在敲木桩？",
  "等雾散了再问我。现在说的都只是猜。",
];
const HAN = /\p{Script=Han}/u;

/** The whole reply, as a model would write it. */
export function lineOf({ name, others, turn, mood, last }: Turn): string {
  const chinese = HAN.test(name);
  if (mood === "repeats" && last) return last;
  const lines = chinese ? CHINESE : ENGLISH;
  const own = lines[turn % lines.length] ?? "";
  const other = others[0];
  if (mood === "calls" && other !== undefined) return chinese ? `${own} @${other}，你说呢？` : `${own} @${other} what do you say?`;
  const alone = mood === "usual" ? turn % 2 === 1 : mood !== "others";
  if (alone || other === undefined) return own;
  const more = HAN.test(other) ? CHINESE : ENGLISH;
  return `${own}\n${other}${chinese ? "：" : ": "}${more[(turn + 1) % more.length] ?? ""}`;
}

/** The reply in small pieces, with pauses; ends early when the signal says so. */
export async function* understudy(turn: Turn, signal?: AbortSignal, pause = 18): AsyncGenerator<string, void, void> {
  const letters = [...lineOf(turn)];
  for (let at = 0, size = 1; at < letters.length; at += size, size = 1 + (at % 3)) {
    if (signal?.aborted) return;
    await new Promise((resolve) => setTimeout(resolve, pause));
    yield letters.slice(at, at + size).join("");
  }
}
