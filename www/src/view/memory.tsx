import type { Playground } from "../state.js";

export function Memory({ p }: { p: Playground }) {
  const report = p.memory;
  return (
    <details class="memory" open data-testid="memory">
      <summary>
        Memory{report ? `: ${report.items.filter((i) => !i.leftOut).length} in the request` : ""}
      </summary>
      {p.summary && (
        <label>
          Summary
          <textarea
            data-testid="summary"
            rows={3}
            disabled={p.running}
            value={p.summary}
            onChange={(e) => p.editSummary(e.currentTarget.value)}
          />
          <button type="button" data-testid="restore" disabled={p.running} onClick={() => p.restoreSummary()}>
            Back to the one before
          </button>
        </label>
      )}
      {report && report.items.length > 0 && (
        <table>
          <thead>
            <tr>
              <th>what</th>
              <th>cosine</th>
              <th>word rank</th>
              <th>tokens</th>
            </tr>
          </thead>
          <tbody>
            {report.items.map((item) => (
              <tr key={`${item.kind} ${item.id}`} class={item.leftOut ? "passed" : ""} data-testid="remembered">
                <td>
                  <code>{item.kind}</code> {p.textOf(item.kind, item.id)}
                </td>
                <td>{item.cosine?.toFixed(2) ?? ""}</td>
                <td>{item.wordRank ?? ""}</td>
                <td>{item.tokens}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {report && report.degraded.length > 0 && (
        <p>
          {report.degraded.map((code) => (
            <code key={code}>{code}</code>
          ))}
        </p>
      )}
      {!report && <p>Nothing yet: what the history leaves out will show here.</p>}
    </details>
  );
}
