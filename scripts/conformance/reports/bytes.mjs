// Reports of files, of token counts, and of what a provider is sent.
import { deflateSync } from "node:zlib";
import { list, promptOrder, textOf, within } from "./scene.mjs";

const WORDS = { space: " ", newline: "\n" };
/** More than a reader may inflate by default. */
const TOO_MUCH = 300_000_000;

export function files({ promptside }, input, right) {
  const read = promptside.readFile(new Uint8Array(Buffer.from(input.png_base64, "base64")));
  const card = read.value ?? read.card ?? read;
  const got = { card: {} };
  for (const key of Object.keys(right.card)) got.card[key] = card[key] ?? card.data?.[key];
  const expected = { card: right.card };
  if (list(right.assert).some((a) => a.includes("inflated"))) {
    expected.bomb = true;
    try {
      promptside.readFile(bomb());
      got.bomb = false;
    } catch (error) {
      got.bomb = promptside.isPromptsideError(error);
    }
  }
  return { expected, got };
}

/** A small picture whose compressed text is huge. */
function bomb() {
  const text = Buffer.concat([Buffer.from("chara\0\0", "latin1"), deflateSync(Buffer.alloc(TOO_MUCH, 65), { level: 1 })]);
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]);
  const parts = [chunk("IHDR", header), chunk("zTXt", text), chunk("IDAT", deflateSync(Buffer.from([0, 0]))), chunk("IEND", Buffer.alloc(0))];
  return new Uint8Array(Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), ...parts]));
}

function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

export function tokens(context, input, right) {
  if (input.messages_newest_first) return fill(context, input, right);
  const expected = {};
  const got = {};
  for (const [tokenizer, counts] of Object.entries(right).filter(([key]) => key !== "assert")) {
    expected[tokenizer] = counts;
    got[tokenizer] = input.texts.map((phrase, i) => {
      const { tokens } = context.promptside.countTokens(text(phrase), { tokenizer });
      return typeof counts[i] === "number" || !(tokens > 0) ? tokens : counts[i];
    });
  }
  return { expected, got };
}

/** A text, or the short form of a long run of one: `"^" x 10000`, `space x 10000`. */
function text(phrase) {
  const run = /^(?:"(.+)"|(\w+)) x (\d+)$/.exec(phrase);
  return run ? (run[1] ?? WORDS[run[2]] ?? run[2]).repeat(Number(run[3])) : phrase;
}

/** How many messages of given costs fit: one token a character, and the frame that a first build shows. */
function fill(context, input, right) {
  const response = 300;
  const preset = { new_chat_prompt: "", openai_max_tokens: response, prompt_order: promptOrder(["chatHistory"]) };
  const build = (chat, limit) =>
    within(context, {}, { chat, preset: { ...preset, openai_max_context: limit + response } }, {}, (room) => room.buildRequest({}).report);
  const long = input.available * 10 + 1000;
  const empty = build([], long).budget.used;
  const frame = build(["x"], long).messages[0].tokens - 1;
  const chat = [...input.messages_newest_first].reverse().map((cost) => ({ name: "Wren", is_user: true, mes: "x".repeat(cost - frame) }));
  const { messages, budget } = build(chat, input.available + empty);
  const used = messages.reduce((sum, m) => sum + m.tokens, 0);
  return {
    expected: { taken: right.taken, used: right.used, free: right.free, booked: right.used },
    got: { taken: messages.length, used, free: budget.left, booked: budget.used - empty },
  };
}

/** The last text that a provider is sent; the messages before it stay as they were. */
export function request(context, input, right) {
  const model = { claude: "claude-sonnet-4-5" }[input.provider] ?? "";
  const convert = (payload) =>
    within(context, {}, {}, {}, (room) => {
      const { body } = room.invoke("convert", { payload: { chat_completion_source: input.provider, model, reasoning_effort: "auto", max_tokens: 300, ...payload } });
      return JSON.parse(body).messages;
    });
  const expected = { last_text: right.last_text, earlier: [] };
  const got = { last_text: [], earlier: [] };
  for (const payload of input.cases) {
    const messages = convert(payload);
    got.last_text.push(textOf({ content: list(messages.at(-1).content).slice(-1) }));
    const kept = payload.assistant_prefill ? payload.messages : payload.messages.slice(0, -1);
    expected.earlier.push(kept.map(textOf));
    got.earlier.push(messages.slice(0, -1).map(textOf));
  }
  return { expected, got };
}
