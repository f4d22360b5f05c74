import type { Playground } from "../state.js";
import { Chat } from "./chat.js";
import { Inspector } from "./inspector.js";
import { Rounds } from "./rounds.js";
import { Settings } from "./settings.js";

export function App({ p }: { p: Playground }) {
  const drop = (event: DragEvent) => {
    event.preventDefault();
    if (event.dataTransfer?.files.length) void p.add(event.dataTransfer.files);
  };
  return (
    <div class="page" data-testid="page" onDragOver={(e) => e.preventDefault()} onDrop={drop}>
      <header>
        <h1>promptside</h1>
        <p>Who speaks next, the exact request, the cleaned reply. Offline until you name an endpoint.</p>
      </header>
      <Notices p={p} />
      <main>
        <Chat p={p} />
        <Inspector p={p} />
        <Settings p={p} />
        <Rounds p={p} />
      </main>
    </div>
  );
}

function Notices({ p }: { p: Playground }) {
  if (p.faults.length + p.notes.length === 0) return null;
  return (
    <div class="notices" role="status">
      {p.faults.map((fault) => (
        <p class="fault" data-testid="error">
          <code data-testid="error-code">{fault.code}</code> {fault.path && <code>{fault.path}</code>} <span>{fault.message}</span>
        </p>
      ))}
      {p.notes.map((note) => (
        <p data-testid="note">{note}</p>
      ))}
      <button type="button" onClick={() => p.dismiss()}>
        Close
      </button>
    </div>
  );
}
