// The playground in Chromium, served under a strict Content-Security-Policy: what a visitor sees is what was computed and sent.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, extname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { families } from "./families.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const www = join(root, "www");
const CSP = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src *; style-src 'self' 'unsafe-inline'";
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/wasm" };
const KEY = "sk-test-0123456789-never-shown";

let site;
let browser;

before(async () => {
  execFileSync(process.execPath, [join(www, "node_modules", "vite", "bin", "vite.js"), "build", "--logLevel", "warn"], { cwd: www, stdio: "inherit" });
  site = await listen(async (request, response) => {
    const path = normalize(new URL(request.url, "http://site").pathname);
    try {
      const body = await readFile(join(www, "dist", path === "/" ? "index.html" : path));
      response.writeHead(200, { "Content-Type": TYPES[extname(path)] ?? TYPES[".html"], "Content-Security-Policy": CSP });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
});

after(async () => {
  await browser?.close();
  await site?.close();
});

test("a named member speaks, and the page says why", () =>
  visit(async (page) => {
    await page.getByTestId("input").fill("洛恩，你在吗？");
    await page.getByTestId("send").click();
    await finished(page, 1);
    const speaker = page.getByTestId("speaker").filter({ hasText: "洛恩" });
    assert.equal(await speaker.getByTestId("reason").textContent(), "mentioned");
    assert.match(await speaker.textContent(), /“洛恩” in the message names them by the full name/);
    const names = await page.getByTestId("line-name").allTextContents();
    assert.equal(names.at(-1), "洛恩");
    assert.ok(names.includes("Robin"));
    const body = JSON.parse(await page.getByTestId("body").last().textContent());
    assert.ok(body.messages.some((m) => m.role === "user" && m.content.includes("洛恩，你在吗？")));
    assert.equal(await page.getByTestId("message").count(), body.messages.length);
  }));

test("the request is shown before it is sent, and is the one that is sent", () =>
  visit(async (page) => {
    await page.getByTestId("input").fill("洛恩，你在吗？");
    assert.match(await page.getByTestId("request").locator("summary").first().textContent(), /would be sent/);
    const planned = await page.getByTestId("body").textContent();
    await page.getByTestId("send").click();
    await finished(page, 1);
    assert.equal(await page.getByTestId("body").last().textContent(), planned);
  }));

test("a reply that goes on as another member is cut, and shown cut", () =>
  visit(async (page) => {
    await page.getByTestId("input").fill("洛恩，你在吗？");
    await page.getByTestId("send").click();
    await finished(page, 1);
    // The understudy's replies are in turn cut and whole; a round may have several speakers.
    await page.getByTestId("input").fill("洛恩？");
    await page.getByTestId("send").click();
    await finished(page, 2);
    const lines = await page.getByTestId("line").evaluateAll((items) =>
      items.slice(2).filter((item) => !item.matches(".mine")).map((item) => ({
        name: item.querySelector("[data-testid=line-name]").textContent,
        text: item.querySelector("[data-testid=line-text]").textContent,
        cut: item.querySelector("[data-testid=cut] b")?.textContent,
      })),
    );
    assert.ok(lines.length >= 2);
    lines.forEach(({ name, text, cut }, turn) => {
      const other = name === "Mira" ? "洛恩" : "Mira";
      assert.equal(cut, turn % 2 === 0 ? other : undefined, text);
      assert.ok(text.length > 5 && !text.includes(other), text);
    });
  }));

test("an endpoint gets the bytes that are shown, and the key; the key is shown and stored nowhere", async () => {
  const endpoint = await provider(["在。", "进来", "吧。\n", "Mi", "ra: I am", " here too."]);
  try {
    await visit(async (page) => {
      const { received } = endpoint;
      await page.getByTestId("endpoint-url").fill(`${endpoint.url}/v1/chat/completions`);
      await page.getByTestId("endpoint-model").fill("test-model");
      await page.getByTestId("endpoint-key").fill(KEY);
      await page.getByTestId("input").fill("洛恩，你在吗？");
      await page.getByTestId("send").click();
      await finished(page, 1);
      assert.ok(received.length >= 1);
      const [{ path, authorization, body }] = received;
      assert.equal(path, "/v1/chat/completions");
      assert.equal(authorization, `Bearer ${KEY}`);
      const shown = await page.getByTestId("body").first().textContent();
      assert.deepEqual(Buffer.from(shown, "utf8"), body);
      assert.equal(JSON.parse(shown).model, "test-model");
      const first = page.getByTestId("line").filter({ has: page.getByTestId("cut") }).first();
      assert.equal(await first.getByTestId("line-text").textContent(), "在。进来吧。");
      assert.match(await first.getByTestId("cut").textContent(), /went on as Mira/);
      const kept = await page.evaluate(async () => ({
        html: document.documentElement.outerHTML,
        local: JSON.stringify({ ...localStorage }),
        session: JSON.stringify({ ...sessionStorage }),
        cookies: document.cookie,
        databases: JSON.stringify(await indexedDB.databases()),
        caches: JSON.stringify(await caches.keys()),
        address: location.href + JSON.stringify(history.state),
      }));
      for (const [where, text] of Object.entries(kept)) assert.ok(!text.includes(KEY), `the key is in ${where}`);
      assert.deepEqual([kept.local, kept.session, kept.cookies, kept.databases, kept.caches], ["{}", "{}", "", "[]", "[]"]);
    });
  } finally {
    await endpoint.close();
  }
});

for (const family of families) {
  test(`${family.source}: a provider of its own, by way of a proxy, streaming and stopped in mid-stream`, async () => {
    // The wire is cut inside characters.
    const endpoint = await provider(["在。", "Подожди 🦉"], { family, hang: "second" });
    try {
      await visit(async (page) => {
        await page.getByTestId("source").selectOption(family.source);
        assert.match(await page.getByTestId("direct").textContent(), /page|proxy/);
        await page.getByTestId("endpoint-url").fill(endpoint.url);
        await page.getByTestId("endpoint-key").fill("KEY");
        await page.getByTestId("input").fill("洛恩，你在吗？");
        const planned = await page.getByTestId("body").textContent();
        await page.getByTestId("send").click();
        await finished(page, 1);
        assert.equal(await page.getByTestId("line").last().getByTestId("line-text").textContent(), "在。Подожди 🦉");
        const [first] = endpoint.received;
        assert.equal(first.path, family.path);
        if (family.header) assert.equal(first.headers[family.header], `${family.prefix}KEY`);
        assert.deepEqual(first.body, Buffer.from(planned, "utf8"), "what was shown is what was sent");

        const answered = endpoint.received.length;
        await page.getByTestId("input").fill("洛恩？");
        await page.getByTestId("send").click();
        await page.getByTestId("live").getByText("在。Подожди 🦉").waitFor();
        await page.getByTestId("stop").click();
        await page.getByTestId("send").waitFor();
        assert.equal(await page.getByTestId("line").last().getByTestId("line-text").textContent(), "在。Подожди 🦉");
        assert.match(await page.getByTestId("note").textContent(), /aborted/);
        assert.equal(endpoint.received.length, answered + 1);
        await endpoint.left;
        assert.equal(await page.getByTestId("error").count(), 0);
      });
    } finally {
      await endpoint.close();
    }
  });
}

test("Stop ends a reply; what has come is kept", async () => {
  const endpoint = await provider(["我在", "这里"], { hang: true });
  try {
    await visit(async (page) => {
      await page.getByTestId("endpoint-url").fill(`${endpoint.url}/v1`);
      await page.getByTestId("input").fill("洛恩，你在吗？");
      await page.getByTestId("send").click();
      await page.getByTestId("live").getByText("我在这里").waitFor();
      await page.getByTestId("stop").click();
      await page.getByTestId("send").waitFor();
      assert.equal(await page.getByTestId("line").last().getByTestId("line-text").textContent(), "我在这里");
      assert.match(await page.getByTestId("note").textContent(), /aborted/);
      assert.equal(endpoint.received.length, 1);
    });
  } finally {
    await endpoint.close();
  }
});

test("a refusal of the endpoint is shown with its code", async () => {
  const endpoint = await provider([], { status: 401 });
  try {
    await visit(
      async (page) => {
        await page.getByTestId("endpoint-url").fill(`${endpoint.url}/v1`);
        await page.getByTestId("input").fill("洛恩，你在吗？");
        await page.getByTestId("send").click();
        await finished(page, 1);
        assert.match(await page.getByTestId("error-code").first().textContent(), /401/);
      },
      {},
      /status of 401/, // the browser's own line
    );
  } finally {
    await endpoint.close();
  }
});

test("a dropped card joins the group; a broken picture gives a typed error and changes nothing else", () =>
  visit(async (page) => {
    const card = { spec: "chara_card_v2", spec_version: "2.0", data: { name: "Оксана", description: "Чинит сети.", first_mes: "Да?" } };
    await drop(page, "oksana.json", Buffer.from(JSON.stringify(card)));
    await page.getByTestId("member").filter({ hasText: "Оксана" }).waitFor();
    assert.equal(await page.getByTestId("member").count(), 3);
    await page.getByTestId("input").fill("Оксана, ты где?");
    assert.match(await page.getByTestId("speaker").first().textContent(), /Оксана.*mentioned/);

    const seen = () => page.evaluate(() => ["members", "lines", "plan", "body"].map((id) => document.querySelector(`[data-testid=${id}]`)?.textContent));
    const earlier = await seen();
    await drop(page, "broken.png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]));
    await page.getByTestId("error").waitFor();
    assert.match(await page.getByTestId("error-code").textContent(), /^file\.png/);
    assert.deepEqual(await seen(), earlier);
    await drop(page, "note.json", Buffer.from('{"name": "x", "content": "a system prompt"}'));
    await page.getByTestId("error").nth(1).waitFor();
    assert.deepEqual(await seen(), earlier);
  }));

test("dropped files of other kinds take effect; a card and the chat can be saved", () =>
  visit(async (page) => {
    const entry = { uid: 0, key: ["мост"], content: "Мост сгорел зимой." };
    await drop(page, "bridge.json", Buffer.from(JSON.stringify({ entries: { 0: entry } })));
    await drop(page, "stars.json", Buffer.from(JSON.stringify({ scriptName: "stars", findRegex: "/Mira/g", replaceString: "米拉", placement: [1] })));
    const main = { identifier: "main", name: "Main", role: "system", content: "只写一句话。", system_prompt: true };
    await drop(page, "short.json", Buffer.from(JSON.stringify({ prompts: [main], prompt_order: [{ character_id: 100001, order: [{ identifier: "main", enabled: true }, { identifier: "worldInfoBefore", enabled: true }, { identifier: "chatHistory", enabled: true }] }] })));
    await drop(page, "personas.json", Buffer.from(JSON.stringify({ personas: { "a.png": "旅人" }, persona_descriptions: { "a.png": { description: "…" } }, default_persona: "a.png" })));
    const lines = [{ chat_metadata: {}, user_name: "unused", character_name: "unused" }, { name: "旅人", is_user: true, mes: "Где мост?", x_unknown: [1] }, { name: "Mira", is_user: false, mes: "Не знаю." }];
    await drop(page, "river.jsonl", Buffer.from(lines.map((line) => JSON.stringify(line)).join("\n")));
    await page.getByTestId("note").nth(4).waitFor();
    assert.deepEqual(await page.getByTestId("line-text").allTextContents(), ["Где мост?", "Не знаю."]);
    await page.getByTestId("input").fill("Mira, мост цел?");
    await page.getByTestId("send").click();
    await finished(page, 2);
    const { messages } = JSON.parse(await page.getByTestId("body").first().textContent());
    const sent = messages.map((m) => m.content).join("\n");
    for (const part of ["只写一句话。", "Мост сгорел зимой.", "米拉, мост цел?", "Где мост?"]) assert.ok(sent.includes(part), `${part} in ${sent}`);

    const saved = async (id, n) => {
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByTestId(id).nth(n).click()]);
      return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
    };
    const chat = await saved("save-chat", 0);
    assert.equal(chat.name, "chat.jsonl");
    const written = chat.text.split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(written[1].x_unknown, [1]);
    assert.equal(written[3].mes, "米拉, мост цел?");
    const card = await saved("save-card", 0);
    assert.equal(card.name, "mira.json");
    const { spec, data } = JSON.parse(card.text);
    assert.deepEqual([spec, data.name], ["chara_card_v2", "Mira"]);
  }));

test("swipe, regenerate, continue and the profile switch work on the chat at hand", () =>
  visit(async (page) => {
    await page.getByTestId("input").fill("洛恩，你在吗？");
    await page.getByTestId("send").click();
    await finished(page, 1);
    const lines = await page.getByTestId("line").count();
    const last = () => page.getByTestId("line").last().getByTestId("line-text").textContent();
    const first = await last();
    for (const kind of ["swipe", "continue", "regenerate"]) {
      await page.getByTestId(kind).click();
      await page.getByTestId("stop").waitFor();
      await page.getByTestId("send").waitFor();
      assert.equal(await page.getByTestId("line").count(), lines, kind);
      assert.notEqual(await last(), first, kind);
    }
    const text = await last();
    await page.getByTestId("profile").selectOption("sillytavern");
    assert.equal(await last(), text);
    await page.getByTestId("input").fill("Mira?");
    assert.match(await page.getByTestId("speaker").first().textContent(), /Mira.*mentioned/);
    assert.equal(await page.getByTestId("error").count(), 0);
  }));

test("the memory panel shows the summary, what is recalled, and why", () =>
  visit(async (page) => {
    const says = ["洛恩，我的生日是三月十五日。", "洛恩，桥还在吗？", "洛恩，船什么时候来？", "洛恩，雾散了吗？"];
    assert.equal(await page.getByTestId("remembered").count(), 0);
    for (const [i, text] of says.entries()) {
      await page.getByTestId("input").fill(text);
      await page.getByTestId("send").click();
      await finished(page, i + 1);
    }
    // A summary is due after eight messages; it was made offline.
    const summary = page.getByTestId("summary");
    await summary.waitFor();
    const made = await summary.inputValue();
    assert.match(made, /生日|洛恩/);

    // What is typed asks for the first message: shown before it is sent, with the reasons.
    await page.getByTestId("input").fill("洛恩，你记得我的生日是哪天吗？");
    await page.getByTestId("send").click();
    await finished(page, says.length + 1);
    const rows = () =>
      page.getByTestId("remembered").evaluateAll((all) => all.map((row) => [row.querySelector("code").textContent, ...[...row.cells].map((cell) => cell.textContent)]));
    const all = await rows();
    assert.ok(all.some(([kind]) => kind === "summary"), JSON.stringify(all));
    const found = all.find(([kind, what]) => kind === "message" && what.includes(says[0]));
    assert.ok(found, `${JSON.stringify(all)} ${await page.getByTestId("memory").textContent()}`);
    const [, , , rank, tokens] = found;
    assert.equal(rank, "1");
    assert.ok(Number(tokens) > 5);
    assert.match(await page.getByTestId("memory").locator("summary").first().textContent(), new RegExp(`Memory: ${all.length} in the request`));
    // What the panel lists is in the request that was sent.
    const { messages } = JSON.parse(await page.getByTestId("body").last().textContent());
    const sent = messages.map((m) => m.content).join("\n");
    assert.ok(sent.includes(`Past events:\nRobin: ${says[0]}`) && messages.every((m) => m.content !== says[0]), sent);

    // One more line of 洛恩: the newest messages are embedded now, and what is like them shows how much.
    await page.getByTestId("member").filter({ hasText: "洛恩" }).getByText("speak").click();
    await page.getByTestId("stop").waitFor();
    await page.getByTestId("send").waitFor();
    const cosines = (await rows()).filter(([kind]) => kind === "message").map(([, , cosine]) => Number(cosine));
    assert.ok(cosines.length > 0 && cosines.every((cosine) => cosine > 0.25 && cosine <= 1), String(cosines));

    // A summary by hand counts, and goes.
    const now = await summary.inputValue();
    await summary.fill("洛恩知道旅人的生日。");
    await page.getByTestId("input").fill("洛恩？");
    await page.getByTestId("send").click();
    await finished(page, says.length + 2);
    assert.ok((await page.getByTestId("body").last().textContent()).includes("[Summary: 洛恩知道旅人的生日。]"));
    await page.getByTestId("restore").click();
    assert.equal(await summary.inputValue(), now);
  }));

test("the page fits a phone", () =>
  visit(
    async (page) => {
      const { scroll, width } = await page.evaluate(() => ({ scroll: document.documentElement.scrollWidth, width: innerWidth }));
      assert.ok(scroll <= width, `${scroll} > ${width}`);
    },
    { viewport: { width: 360, height: 740 } },
  ));

/** Opens the page, does something, and demands that the console stayed free of errors. */
async function visit(action, options = {}, expected = /^$/) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const errors = [];
  page.on("console", (message) => message.type() === "error" && !expected.test(message.text()) && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("request", (request) => {
    if (!/^http:\/\/127\.0\.0\.1:/.test(request.url())) errors.push(`asked for ${request.url()}`);
  });
  try {
    await page.goto(site.url);
    await page.getByTestId("input").waitFor();
    await action(page);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

/** Waits until the n-th message of the user has been answered. */
async function finished(page, rounds) {
  await page.waitForFunction((n) => document.querySelectorAll("[data-testid=lines] .mine").length === n, rounds);
  await page.getByTestId("send").waitFor();
}

async function drop(page, name, bytes) {
  const dataTransfer = await page.evaluateHandle(
    ([fileName, values]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(values)], fileName));
      return transfer;
    },
    [name, [...bytes]],
  );
  await page.getByTestId("page").dispatchEvent("drop", { dataTransfer });
}

/**
 * An endpoint that streams `pieces` as a family does and records what it gets. `hang`: it never ends; "second": from the second
 * round on, told by what the user says. `left` is settled when a page has hung up on it.
 */
async function provider(pieces, { family = families[0], hang = false, status = 200 } = {}) {
  const received = [];
  let hungUp;
  const left = new Promise((resolve) => (hungUp = resolve));
  const server = await listen((request, response) => {
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Allow-Headers", "*, authorization");
    if (request.method === "OPTIONS") return response.writeHead(204).end();
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    response.on("close", () => response.writableFinished || hungUp());
    request.on("end", async () => {
      const body = Buffer.concat(chunks);
      received.push({ path: request.url, headers: request.headers, authorization: request.headers.authorization, body });
      if (status !== 200) return response.writeHead(status).end('{"error":{"message":"no"}}');
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      const send = async (text) => {
        const bytes = Buffer.from(text, "utf8");
        for (let at = 0; at < bytes.length; at += 37) {
          response.write(bytes.subarray(at, at + 37));
          await new Promise((resolve) => setTimeout(resolve, 4));
        }
      };
      for (const piece of pieces) await send(family.piece(piece));
      if (hang === true || (hang === "second" && body.includes("洛恩？"))) return;
      await send(family.end);
      response.end();
    });
  });
  return { ...server, received, left };
}

/** A server on a port of its own. */
async function listen(handler) {
  const server = createServer(handler);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
  };
}
