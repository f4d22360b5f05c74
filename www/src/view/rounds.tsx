// Switches for rounds, and the timeline of what happened in one.
import { MODES, STRATEGIES, type RoundSettings } from "../rounds.js";
import { cardName, type Playground } from "../state.js";
import { MOODS, type Mood } from "../understudy.js";

export function Rounds({ p }: { p: Playground }) {
  const { rounds } = p;
  const off = rounds.mode === "off";
  return (
    <section class="settings" aria-label="Rounds">
      <h2>Rounds</h2>
      <Choice label="Mode" id="rounds-mode" of={MODES} value={rounds.mode} disabled={p.running} take={(mode) => p.setRounds({ mode })} />
      <Choice label="Who speaks" id="rounds-who" of={STRATEGIES} value={rounds.who} disabled={p.running || off} take={(who) => p.setRounds({ who })} />
      <Toggle label="Cross-talk: who is called with @ in a reply answers" id="rounds-crosstalk" p={p} key_="crossTalk" />
      <Toggle label="Presence: who is away hears nothing" id="rounds-presence" p={p} key_="presence" />
      <Toggle label="Tail layout: the speaker's card behind the history" id="rounds-tail" p={p} key_="tail" />
      <fieldset disabled={p.running || off}>
        <legend>Here</legend>
        {p.members.map(({ avatar, card }) => (
          <label key={avatar} class="check">
            <input
              type="checkbox"
              data-testid="here"
              checked={!rounds.absent.includes(avatar)}
              onChange={(e) => p.setPresent(avatar, e.currentTarget.checked)}
            />
            {cardName(card)}
          </label>
        ))}
      </fieldset>
      <Choice label="The understudy (offline)" id="mood" of={MOODS} value={p.mood} disabled={p.running} take={(mood: Mood) => p.setMood(mood)} />
    </section>
  );
}

function Choice<K extends string>(props: { label: string; id: string; of: Record<K, string>; value: K; disabled: boolean; take: (key: K) => void }) {
  return (
    <label>
      {props.label}
      <select data-testid={props.id} disabled={props.disabled} value={props.value} onChange={(e) => props.take(e.currentTarget.value as K)}>
        {(Object.entries(props.of) as [K, string][]).map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function Toggle({ label, id, p, key_ }: { label: string; id: string; p: Playground; key_: "crossTalk" | "presence" | "tail" }) {
  const change: Partial<RoundSettings> = { [key_]: !p.rounds[key_] };
  return (
    <label class="check">
      <input
        type="checkbox"
        data-testid={id}
        disabled={p.running || p.rounds.mode === "off"}
        checked={p.rounds[key_]}
        onChange={() => p.setRounds(change)}
      />
      {label}
    </label>
  );
}

export function Timeline({ p }: { p: Playground }) {
  if (p.timeline.length === 0) return null;
  return (
    <div>
      <h2>What happened</h2>
      <ol class="timeline" data-testid="timeline">
        {p.timeline.map(({ type, text }, index) => (
          <li key={index} data-testid="event" data-type={type}>
            <code>{type}</code> {text}
          </li>
        ))}
      </ol>
    </div>
  );
}
