import { directCalls, SOURCES } from "../endpoint.js";
import type { Playground, Profile } from "../state.js";

export function Settings({ p }: { p: Playground }) {
  const { endpoint } = p;
  const custom = endpoint.source === "custom";
  return (
    <section class="settings" aria-label="Settings">
      <h2>Settings</h2>
      <label>
        Profile
        <select
          data-testid="profile"
          disabled={p.running}
          value={p.profile}
          onChange={(e) => p.setProfile(e.currentTarget.value as Profile)}
        >
          <option value="promptside">promptside</option>
          <option value="sillytavern">sillytavern</option>
        </select>
      </label>
      <label>
        Provider
        <select
          data-testid="source"
          disabled={p.running}
          value={endpoint.source}
          onChange={(e) => p.setEndpoint({ source: e.currentTarget.value, model: "" })}
        >
          {SOURCES.map(({ source, name }) => (
            <option key={source} value={source}>
              {name}
            </option>
          ))}
        </select>
        {!custom && <small data-testid="direct">{directCalls(endpoint.source)}</small>}
      </label>
      <label>
        {custom ? "Address (empty: an understudy replies offline)" : "Proxy in front of it (empty: direct, with a key)"}
        <input
          data-testid="endpoint-url"
          type="url"
          placeholder={custom ? "http://localhost:8080/v1" : "https://my-proxy.example"}
          value={endpoint.url}
          disabled={p.running}
          onChange={(e) => p.setEndpoint({ url: e.currentTarget.value })}
        />
      </label>
      <label>
        Model
        <input
          data-testid="endpoint-model"
          type="text"
          autocomplete="off"
          placeholder={SOURCES.find((s) => s.source === endpoint.source)?.model ?? ""}
          value={endpoint.model}
          disabled={p.running}
          onChange={(e) => p.setEndpoint({ model: e.currentTarget.value })}
        />
      </label>
      {custom && (
        <label>
          Embedding model at the same address (empty: a hash on this page)
          <input
            data-testid="endpoint-embedding"
            type="text"
            autocomplete="off"
            value={endpoint.embedding}
            disabled={p.running}
            onChange={(e) => p.setEndpoint({ embedding: e.currentTarget.value })}
          />
        </label>
      )}
      <label>
        Key (kept in memory, never stored)
        <input
          data-testid="endpoint-key"
          type="password"
          autocomplete="off"
          value={endpoint.key}
          disabled={p.running}
          onChange={(e) => p.setEndpoint({ key: e.currentTarget.value })}
        />
      </label>
    </section>
  );
}
