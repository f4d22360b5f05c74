// Files that are dropped on the page, and files that it gives: what each kind changes in the room.
import type { FileRead, MessageInput, PersonaInput, SceneInput } from "promptside";

/** What files have brought besides characters. */
export interface Brought {
  preset: Record<string, unknown>;
  books: Record<string, unknown>;
  scripts: unknown[];
}

/** What a file that is no card changes: parts of the scene, and words for the page; `undefined` for kinds that this page has no use for. */
export function changed(read: FileRead, name: string, brought: Brought): { scene: Partial<SceneInput>; brought: Brought; note: string } | undefined {
  switch (read.kind) {
    case "lorebook": {
      const books = { ...brought.books, [name]: read["lorebook"] };
      const scene = { lorebooks: { books, global: Object.keys(books) } };
      return { scene, brought: { ...brought, books }, note: `${name}: a lorebook, active in every chat` };
    }
    case "regex": {
      const scripts = [...brought.scripts, ...(read["regex"] as unknown[])];
      return { scene: { scripts: { global: scripts } }, brought: { ...brought, scripts }, note: `${name}: regex scripts, active` };
    }
    case "preset-chat": {
      const preset = read["preset"] as Record<string, unknown>;
      return { scene: {}, brought: { ...brought, preset }, note: `${name}: the preset in use` };
    }
    case "chat": {
      const { header, messages } = read["chat"] as { header: { chat_metadata?: Record<string, unknown> }; messages: MessageInput[] };
      // As they stand in the file, with what nobody knows, unless another frontend wrote them.
      const lines = Array.isArray(read.source) ? (read.source as MessageInput[]).filter((line) => "mes" in line) : [];
      const chat = { id: name, metadata: header.chat_metadata ?? {}, messages: lines.length === messages.length ? lines : messages };
      return { scene: { chat }, brought, note: `${name}: ${messages.length} messages take the place of the chat` };
    }
    case "personas": {
      const { entries, default: own } = read["personas"] as { entries: (PersonaInput & { avatar: string })[]; default: string | null };
      const persona = entries.find((entry) => entry.avatar === own) ?? entries[0];
      return persona && { scene: { persona }, brought, note: `you are ${persona.name ?? name} now` };
    }
    default:
      return undefined;
  }
}

/** Gives the visitor a file. */
export function save(name: string, bytes: Uint8Array, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
