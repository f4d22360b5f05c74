import type { Playground, Profile } from "../state.js";

export function Settings({ p }: { p: Playground }) {
  const { endpoint } = p;
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
        Endpoint (OpenAI-compatible; empty: an understudy replies offline)
        <input
          data-testid="endpoint-url"
          type="url"
          placeholder="http://localhost:8080/v1"
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
          value={endpoint.model}
          disabled={p.running}
          onChange={(e) => p.setEndpoint({ model: e.currentTarget.value })}
        />
      </label>
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
