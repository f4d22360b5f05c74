// How rounds go on this page: what can be switched, and what happened as sentences.
import type { Output, RoundConfig } from "promptside";

export const MODES = {
  off: "SillyTavern's turn",
  single_round: "single round: each once",
  free_chat: "free chat: several rounds",
  host_mode: "host first, and last",
} as const;
export const STRATEGIES = {
  all: "everybody, the addressed first",
  natural: "natural: names and talkativeness",
  list: "list order",
  pooled: "pooled: who has not spoken",
  round_robin: "the next in turn",
  mention: "one: who is mentioned",
  random: "one at random",
  relevance: "one: by relevance",
  narrator_driven: "one: the narrator, if a member",
  world_engine: "one: calls, plot, names, relations",
  formula: "the best of a score",
  director: "a director model picks",
} as const;

/** What the page lets one choose; `mode` off is a round without a coordinator. */
export interface RoundSettings {
  mode: keyof typeof MODES;
  who: keyof typeof STRATEGIES;
  crossTalk: boolean;
  presence: boolean;
  tail: boolean;
  /** Avatars of members that are away. */
  absent: string[];
}

export const START: RoundSettings = { mode: "off", who: "all", crossTalk: false, presence: false, tail: false, absent: [] };

/** The option `rounds` of the room. */
export function roundsOf({ mode, who, crossTalk, presence, tail, absent }: RoundSettings, profile: string): RoundConfig | null {
  if (mode === "off") return null;
  return {
    preset: mode,
    who,
    absent,
    pauseMs: 50,
    handoff: "next",
    hostClosing: mode === "host_mode",
    crossTalk: { enabled: crossTalk },
    presence: { enabled: presence },
    layout: tail && profile === "promptside" ? "tail" : "classic",
  };
}

/** Something that happened, for the timeline. */
export interface Happened {
  type: Output["type"];
  text: string;
}

const CAUSES: Record<string, string> = {
  mentioned: "was called by the user",
  scheduled: "is in the plan",
  host: "leads",
  nominated: "was named",
  handoff: "had a line in the last reply",
  director: "was picked by the director",
  fallback: "speaks because the director's answer was of no use",
  cross_talk: "was called in a reply",
  host_closing: "has the last word",
};
const SKIPS: Record<string, string> = {
  no_new_value: "has nothing to add",
  similar_to_last: "said the same as before, twice",
  by_host: "was skipped by hand",
  pair_limit: "has had the word to and fro with the same member long enough",
};
const ENDS: Record<string, string> = {
  round_complete: "everybody had a turn",
  max_rounds: "as many rounds as allowed",
  max_messages: "as many messages as allowed",
  idle: "nobody had anything to say",
  target_only: "only the addressed spoke",
  no_nomination: "nobody was named for another round",
  host_closed: "the host had the last word",
  host_silent: "the host had nothing to add",
  aborted: "it was stopped",
  nobody_can_speak: "nobody can speak",
};

/** An event in words; nothing for those that are seen elsewhere. */
export function happened(event: Output, nameOf: (id: string) => string): Happened | undefined {
  const said = (text: string): Happened => ({ type: event.type, text });
  const names = (ids: string[]) => ids.map(nameOf).join(", ") || "nobody";
  switch (event.type) {
    case "round_started":
      return said(`round ${event.round}${event.target ? `, for ${nameOf(event.target)}` : ""}`);
    case "round_plan":
      return said(`${event.revised ? "now " : ""}planned: ${event.planned.map((p) => p.name).join(", ") || "nobody"}`);
    case "director_plan":
      return said(`the director: ${names(event.speakers)}${event.fallback ? " (its answer was of no use)" : event.reason && ` (${event.reason})`}`);
    case "request": {
      const { purpose, reason, by } = event.turn ?? {};
      if (purpose === "director") return said("the director is asked");
      if (purpose === "narrate") return said("the narrator is asked");
      if (!reason) return said(`${event.name} is asked`);
      const why = CAUSES[reason] ?? reason;
      return said(`${event.name} is asked: ${why}${by && by !== "user" ? ` by ${nameOf(by)}` : ""}${event.turn?.antiRepeat ? ", and must not repeat itself" : ""}`);
    }
    case "draft_reset":
      return said(`the reply of ${nameOf(event.speaker)} is dropped`);
    case "cut":
      return said(`${nameOf(event.speaker)} went on as ${nameOf(event.foreign)}: cut`);
    case "handoff":
      return said(`${nameOf(event.from)} passes the word to ${nameOf(event.to)}`);
    case "message_done":
      return said(`${event.name} spoke${event.partial ? ", and was stopped" : ""}`);
    case "role_skipped":
      return said(`${nameOf(event.speaker)} ${SKIPS[event.reason] ?? event.reason}`);
    case "crosstalk_plan":
      return said(`called in replies: ${names(event.planned)}`);
    case "error":
      return said(`${event.speaker ? nameOf(event.speaker) : "the round"} failed: ${[event.code, ...(event.issues ?? [])].join(", ")}`);
    case "round_stats":
      return said(`spoke: ${names(event.spoke)}; failed: ${names(event.failed)}; not reached: ${names(event.unreached)}`);
    case "room_finished":
      return said(`the end: ${ENDS[event.reason] ?? event.reason}`);
    default:
      return undefined;
  }
}
