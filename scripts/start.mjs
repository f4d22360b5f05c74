// One computed turn in the terminal, then the playground.
//   npm start [-- --no-serve] [--port N]
import { spawn } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./lib.mjs";

const { load, Room } = await import(pathToFileURL(join(root, "pkg", "index.js")).href);
await load();

const card = (name, description, first_mes) => ({
  spec: "chara_card_v2",
  spec_version: "2.0",
  data: { name, description, first_mes, extensions: { talkativeness: 0.5 } },
});
const room = new Room(
  {
    characters: [
      { avatar: "sera.png", card: card("Seraphina", "{{char}} guards the glade and heals those who are lost.", "You are awake.") },
      { avatar: "lorne.png", card: card("洛恩", "守在森林北缘的老猎人，话不多。", "*他放下弓。* 嗯。") },
    ],
    group: { id: "1", name: "Glade", members: ["sera.png", "lorne.png"] },
    persona: { name: "旅人", description: "A traveller." },
  },
  { random: { seed: 7 }, now: Date.UTC(2026, 0, 1), offsetMinutes: 0, locale: "en-US" },
);
const userMessage = "洛恩，你在吗？";
const { speakers } = room.nextSpeakers({ userMessage });
console.log(`\n旅人: ${userMessage}\n`);
for (const { name, reason } of speakers) console.log(`speaks: ${name}  ${JSON.stringify(reason)}`);
const { request, report } = room.buildRequest({ userMessage, speaker: speakers[0].id });
console.log(`\n${request.method} ${request.url}`);
const { messages } = JSON.parse(request.body);
messages.forEach((m, i) => {
  const tokens = report.messages[i]?.tokens ?? "";
  console.log(`${String(tokens).padStart(5)}  ${m.role.padEnd(9)} ${String(m.content).replaceAll("\n", "⏎").slice(0, 90)}`);
});
const { used, limit } = report.budget;
console.log(`\n${used} of ${limit} tokens${report.exact ? "" : " (estimate: no vocabulary loaded)"}\n`);
room.free();

if (!process.argv.includes("--no-serve")) {
  const port = process.argv[process.argv.indexOf("--port") + 1] ?? "5173";
  const args = [join(root, "www", "node_modules", "vite", "bin", "vite.js"), "--port", process.argv.includes("--port") ? port : "5173"];
  const vite = spawn(process.execPath, args, { cwd: join(root, "www"), stdio: "inherit" });
  vite.on("exit", (code) => process.exit(code ?? 0));
}
