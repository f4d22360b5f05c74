// Plays the rounds of tests/replay.json; the same steps as tests/it/replay.rs. Runs in Node and in pages.

/** The digest of everything that came out: FNV-1a, 64 bits, over the JSON texts. */
export function play({ Room }, file, { scene, options, replies: own }) {
  const room = new Room(scene, options);
  const bytes = new TextEncoder();
  let sum = 0xcbf29ce484222325n;
  const call = (method, parameters) => {
    let text;
    let value = null;
    try {
      value = room.invoke(method, parameters);
      text = JSON.stringify(value);
    } catch (error) {
      text = error.code;
    }
    for (const byte of bytes.encode(text)) sum = BigInt.asUintN(64, (sum ^ BigInt(byte)) * 0x100000001b3n);
    return value;
  };
  let replies = 0;
  for (const userMessage of file.rounds) {
    call("nextSpeakers", { userMessage });
    for (const kind of ["normal", "continue", "impersonate"]) call("buildRequest", { kind });
    let out = call("step", { input: { type: "start", userMessage }, now: 1_700_000_001_000 });
    for (let i = 0; i < 100; i++) {
      const wait = out?.find((o) => o.type === "wait");
      if (wait) {
        out = call("step", { input: { type: "elapsed", wait: wait.id } });
        continue;
      }
      const request = out?.find((o) => o.type === "request");
      if (!request) break;
      const all = own ?? file.replies;
      const reply = all[replies++ % all.length];
      const input = typeof reply === "string" ? { type: "reply", text: reply } : reply;
      out = call("step", { input: { ...input, request: request.id } });
    }
  }
  call("snapshot", {});
  room.free();
  return sum.toString(16).padStart(16, "0");
}
