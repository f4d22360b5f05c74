import { cardName, type CutMark, type Playground } from "../state.js";

export function Chat({ p }: { p: Playground }) {
  const submit = (event: Event) => {
    event.preventDefault();
    void p.send();
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
  };
  return (
    <section class="chat" aria-label="Chat">
      <ul class="members" data-testid="members">
        {p.members.map((member) => (
          <li key={member.avatar} data-testid="member">
            <span>{cardName(member.card)}</span>
            <button type="button" disabled={p.running} onClick={() => void p.run({ speaker: member.avatar })}>
              speak
            </button>
            <button type="button" data-testid="save-card" onClick={() => p.saveCard(member)}>
              save
            </button>
          </li>
        ))}
        <li>
          <label class="add">
            + file
            <input
              type="file"
              accept=".png,.json,.jsonl,.charx,.byaf,.yaml,.yml"
              multiple
              onChange={(e) => {
                const input = e.currentTarget;
                const files = [...(input.files ?? [])];
                input.value = "";
                void p.add(files);
              }}
            />
          </label>
        </li>
      </ul>
      <ol class="lines" aria-live="polite" data-testid="lines">
        {p.lines.map((line, index) => (
          <Message key={index} name={line.name} text={line.text} mine={line.mine} cut={line.cut} heard={line.heard} />
        ))}
        {p.live && <Message name={p.live.name} text={p.live.text} mine={false} cut={p.live.cut} live />}
      </ol>
      <form onSubmit={submit}>
        <textarea
          data-testid="input"
          rows={2}
          placeholder="洛恩，你在吗？"
          aria-label="Message"
          value={p.draft}
          onInput={(e) => p.type(e.currentTarget.value)}
          onKeyDown={keys}
        />
        <div class="buttons">
          {/* Keys: one element must not turn into the other while its click is under way. */}
          {p.running ? (
            <button key="stop" type="button" data-testid="stop" onClick={() => p.stop()}>
              Stop
            </button>
          ) : (
            <button key="send" type="submit" data-testid="send">
              Send
            </button>
          )}
          {(["swipe", "regenerate", "continue"] as const).map((kind) => (
            <button type="button" data-testid={kind} disabled={p.running} onClick={() => void p.run({ kind })}>
              {kind}
            </button>
          ))}
          <button type="button" data-testid="save-chat" disabled={p.running} onClick={() => p.saveChat()}>
            save chat
          </button>
        </div>
      </form>
    </section>
  );
}

interface MessageProps {
  name: string;
  text: string;
  mine: boolean;
  cut: CutMark | undefined;
  heard?: string[] | undefined;
  live?: boolean;
}

function Message({ name, text, mine, cut, heard, live }: MessageProps) {
  return (
    <li class={mine ? "mine" : live ? "live" : ""} data-testid={live ? "live" : "line"}>
      <b data-testid="line-name">{name}</b>
      <p data-testid="line-text">{text}</p>
      {cut && (
        <p class="cut" data-testid="cut">
          ✂ cut here: the model went on as <b>{cut.foreign}</b>
        </p>
      )}
      {heard && (
        <p class="heard" data-testid="heard">
          heard by {heard.join(", ") || "nobody"}
        </p>
      )}
    </li>
  );
}
