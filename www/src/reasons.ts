// Reasons as sentences.
import type { Nobody, Reason, Silence } from "promptside";

const two = (n: number): string => n.toFixed(2);

/** Why somebody speaks. `said` is the text in which a mention was found. */
export function whySpeaks(reason: Reason, said: string): string {
  switch (reason.kind) {
    case "mentioned": {
      const how = { at: "with an @", full: "by the full name", alias: "by another name", part: "by a part of the name" }[reason.by];
      const found = said.slice(reason.start, reason.end);
      return found ? `“${found}” in the message names them ${how}` : `the last message names them ${how}`;
    }
    case "roll":
      return `drew ${two(reason.value)} against a talkativeness of ${two(reason.talkativeness)}`;
    case "fallback":
      return `nobody was named and no draw succeeded, so one was chosen at random (${two(reason.value)})`;
    case "list":
      return "the group speaks in the order of its list";
    case "pooled":
      return "has not spoken since the user's last message";
    case "pooled_again":
      return "everybody has spoken, so the pool starts again";
    case "manual":
      return "chosen for a group in which the user decides";
    case "forced":
      return "asked for by the user";
    case "last_speaker":
      return "wrote the last message";
    case "impersonate":
      return "lends a voice to the user";
    case "quiet":
      return "answers a request beside the chat";
    case "again":
      return "writes the last message again";
    case "solo":
      return "is alone with the user";
  }
}

/** Why a member stays silent. */
export function whySilent(reason: Silence): string {
  switch (reason.kind) {
    case "muted":
      return "is muted";
    case "missing":
      return "has no card";
    case "banned":
      return "spoke last and may not answer themselves";
    case "roll":
      return `drew ${two(reason.value)} against a talkativeness of ${two(reason.talkativeness)}`;
    case "silent":
      return "never speaks unasked (talkativeness 0)";
    case "not_mentioned":
      return "is not named, and others are";
    case "spoken":
      return "has spoken since the user's last message";
  }
}

/** Why nobody speaks. */
export function whyNobody(nobody: Nobody): string {
  return {
    all_muted: "everybody is muted",
    manual: "the user decides who speaks in this group",
    unknown_strategy: "the group's way of choosing is unknown",
    missing: "the members have no cards",
    silent: "everybody stays silent",
  }[nobody];
}
