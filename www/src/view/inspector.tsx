import type { Playground, Shown } from "../state.js";
import { Memory } from "./memory.js";
import { Timeline } from "./rounds.js";
import { whyNobody, whySilent, whySpeaks } from "../reasons.js";
import type { ReportMessage } from "promptside";

export function Inspector({ p }: { p: Playground }) {
  return (
    <section class="inspector" aria-label="Explanation">
      <Speakers p={p} />
      <Timeline p={p} />
      <Memory p={p} />
      {p.requests.map((shown, index) => (
        <RequestView key={index} shown={shown} offline={!p.online} open={index === p.requests.length - 1} />
      ))}
    </section>
  );
}

function Speakers({ p }: { p: Playground }) {
  const plan = p.plan;
  if (!plan) return null;
  return (
    <div data-testid="plan">
      <h2>{p.requests.some((r) => r.sent) || p.running ? "Who speaks, and why" : "Who would speak, and why"}</h2>
      {plan.nobody && <p>Nobody: {whyNobody(plan.nobody)}.</p>}
      <ul class="reasons">
        {plan.speakers.map(({ id, name, reason }) => (
          <li key={id} data-testid="speaker">
            <b>{name}</b> <code data-testid="reason">{reason.kind}</code> <span>{whySpeaks(reason, p.said)}</span>
          </li>
        ))}
        {plan.passed?.map(({ id, reason }) => (
          <li key={id} class="passed" data-testid="passed">
            {p.nameOf(id)} <code>{reason.kind}</code> <span>{whySilent(reason)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function RequestView({ shown, offline, open }: { shown: Shown; offline: boolean; open: boolean }) {
  const { request, report } = shown;
  const { used, limit } = report.budget;
  const contents = messagesOf(request.body);
  const most = Math.max(1, ...report.messages.map((m) => m.tokens));
  return (
    <details class="request" open={open} data-testid="request">
      <summary>
        {shown.sent ? "Request sent for " : "Request that would be sent for "}
        <b>{shown.name}</b>
      </summary>
      <p>
        {request.method} <code data-testid="url">{request.url}</code>
        {offline && " (offline: the understudy answers, nothing leaves the page)"}
      </p>
      <label class="budget">
        {used} of {limit} tokens{report.exact ? "" : " (estimate)"}
        <meter min={0} max={limit} value={used} />
      </label>
      <ol class="messages">
        {report.messages.map((message) => (
          <li key={message.i} data-testid="message">
            <div class="what">
              <code>{message.role}</code> <span>{originsOf(message)}</span> <span class="tokens">{message.tokens}</span>
            </div>
            <progress max={most} value={message.tokens} aria-label={`${message.tokens} tokens`} />
            {contents.length === report.messages.length && <p>{contents[message.i]}</p>}
          </li>
        ))}
      </ol>
      {report.omitted.length > 0 && (
        <details>
          <summary>{report.omitted.length} left out</summary>
          <ul>
            {report.omitted.map(({ origin, through, reason }) => (
              <li>
                {origin.kind} {origin.id}
                {through === undefined ? "" : ` to ${through}`}: <code>{reason}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
      <details open>
        <summary>Body, byte for byte</summary>
        <pre data-testid="body">{request.body}</pre>
      </details>
    </details>
  );
}

/** Where a message's text came from, once each. */
function originsOf(message: ReportMessage): string {
  return [...new Set(message.parts.map(({ origin }) => `${origin.kind}: ${origin.id}`))].join(" + ") || message.slot;
}

/** The texts in a chat-completion body; none when it has another shape. */
function messagesOf(body: string): string[] {
  type Message = { content?: unknown; parts?: unknown };
  const parsed = JSON.parse(body) as { messages?: Message[]; contents?: Message[] };
  const messages = parsed.messages ?? parsed.contents ?? [];
  return messages.map(({ content, parts }) => (typeof content === "string" ? content : JSON.stringify(content ?? parts)));
}
