// Configured rounds on the playground in Chromium: one round of each mode while the offline understudy fails, repeats itself and speaks for others.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, extname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const www = join(root, "www");
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/wasm" };

let server;
let browser;

before(async () => {
  execFileSync(process.execPath, [join(www, "node_modules", "vite", "bin", "vite.js"), "build", "--logLevel", "warn", "--outDir", "dist-rounds"], { cwd: www, stdio: "inherit" });
  server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://site").pathname);
    try {
      const body = await readFile(join(www, "dist-rounds", path === "/" ? "index.html" : path));
      response.writeHead(200, { "Content-Type": TYPES[extname(path)] ?? TYPES[".html"] }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
});

after(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
});

for (const mode of ["single_round", "free_chat", "host_mode"]) {
  test(`${mode}: as usual, failing, repeating, speaking for others`, () =>
    visit(async (page) => {
      await page.getByTestId("rounds-mode").selectOption(mode);
      const rounds = mode === "free_chat" ? 2 : 1;

      // The plan is shown before anything is sent.
      await page.getByTestId("input").fill("Anyone? 有人吗？");
      assert.match(await of(page, "round_plan").first().textContent(), /would be: planned: Mira, 洛恩/);
      await send(page);
      assert.equal(await of(page, "round_started").count(), rounds);
      assert.ok((await spoken(page)).length >= 2);
      assert.equal(await of(page, "room_finished").count(), 1);
      assert.match(await of(page, "request").first().textContent(), mode === "host_mode" ? /Mira is asked: leads/ : /Mira is asked: is in the plan/);

      // A failure costs nobody else's turn.
      await page.getByTestId("mood").selectOption("fails");
      const before = await page.getByTestId("line").count();
      await page.getByTestId("input").fill("And now? 现在呢？");
      await send(page);
      const failed = await of(page, "error").allTextContents();
      assert.ok(failed.length >= 1 && failed.every((text) => text.includes("http_503")), failed.join());
      assert.equal(await page.getByTestId("error-code").first().textContent(), "http_503");
      const done = await of(page, "message_done").count();
      assert.ok(done >= 1, "the others spoke");
      assert.equal(await page.getByTestId("line").count(), before + 1 + done);
      assert.equal(await of(page, "room_finished").count(), 1);

      // Who says the same again is asked anew once, then passed over, and nothing of it is kept.
      await page.getByTestId("mood").selectOption("usual");
      await page.getByTestId("input").fill("Speak. 说吧。");
      await send(page);
      await page.getByTestId("mood").selectOption("repeats");
      const kept = await page.getByTestId("line").count();
      await page.getByTestId("input").fill("Again? 再说？");
      await send(page);
      assert.equal(await of(page, "message_done").count(), 0);
      assert.ok((await of(page, "role_skipped").count()) >= 2);
      assert.match(await of(page, "role_skipped").first().textContent(), /said the same as before, twice/);
      assert.ok((await of(page, "request").allTextContents()).some((text) => text.includes("must not repeat itself")));
      assert.equal(await page.getByTestId("line").count(), kept + 1);
      assert.match(await page.getByTestId("body").last().textContent(), /Do not repeat what you said before/);

      // A line of somebody else is cut, and in no message.
      await page.getByTestId("mood").selectOption("others");
      await page.getByTestId("input").fill("Who is there? 谁？");
      await send(page);
      assert.ok((await of(page, "cut").count()) >= 1);
      for (const text of await page.getByTestId("line-text").allTextContents()) assert.doesNotMatch(text, /^(Mira|洛恩|Robin)\s*[:：]/m);
    }));
}

test("cross-talk: who is called in a reply answers after the round", () =>
  visit(async (page) => {
    await page.getByTestId("rounds-mode").selectOption("single_round");
    await page.getByTestId("rounds-who").selectOption("mention");
    await page.getByTestId("rounds-crosstalk").check();
    await page.getByTestId("mood").selectOption("calls");
    await page.getByTestId("input").fill("@洛恩 你怎么看？");
    await send(page);
    assert.match(await of(page, "crosstalk_plan").textContent(), /called in replies: Mira/);
    assert.deepEqual(await spoken(page), ["洛恩", "Mira"]);
    assert.match(await of(page, "request").last().textContent(), /Mira is asked: was called in a reply by 洛恩/);
  }));

test("presence: who was away has not heard it, and the page says who has", () =>
  visit(async (page) => {
    await page.getByTestId("rounds-mode").selectOption("single_round");
    await page.getByTestId("rounds-presence").check();
    await page.getByTestId("here").nth(0).uncheck();
    await page.getByTestId("input").fill("钥匙在井里。");
    await send(page);
    assert.deepEqual(await spoken(page), ["洛恩"]);
    assert.equal(await page.getByTestId("heard").last().textContent(), "heard by 洛恩");
    await page.getByTestId("here").nth(0).check();
    await page.getByTestId("input").fill("@Mira do you know?");
    await send(page);
    const bodies = await page.getByTestId("body").allTextContents();
    assert.ok(!bodies[0].includes("钥匙在井里") && bodies[1].includes("钥匙在井里"));
  }));

test("a director, a strategy, and the tail layout", () =>
  visit(async (page) => {
    await page.getByTestId("rounds-mode").selectOption("single_round");
    await page.getByTestId("rounds-who").selectOption("director");
    await page.getByTestId("input").fill("Go on. 继续。");
    await send(page);
    assert.equal(await of(page, "director_plan").count(), 1);
    assert.equal((await of(page, "request").allTextContents()).filter((text) => text.includes("was picked by the director")).length, 1);
    await page.getByTestId("rounds-who").selectOption("round_robin");
    await page.getByTestId("rounds-tail").check();
    await page.getByTestId("input").fill("And? 然后？");
    await send(page);
    const { messages } = JSON.parse(await page.getByTestId("body").last().textContent());
    const at = (test) => messages.findIndex((m) => test(m.content));
    const card = at((text) => text.includes("[Character: "));
    assert.ok(card > at((text) => text.includes("And? 然后？")), "the card stands behind the history");
    assert.equal(await page.getByTestId("error").count(), 0);
  }));

/** Events of one kind in the timeline. */
const of = (page, type) => page.locator(`[data-testid=event][data-type=${type}]`);

/** Names of those who spoke in the last round, in order. */
const spoken = async (page) => (await of(page, "message_done").allTextContents()).map((text) => /message_done (.*) spoke/.exec(text)[1]);

async function send(page) {
  await page.getByTestId("send").click();
  await of(page, "room_finished").and(page.getByText("the end")).waitFor();
  await page.getByTestId("send").waitFor();
}

/** Opens the page, does something, and demands that the console stayed free of errors. */
async function visit(action) {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  try {
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.getByTestId("input").waitFor();
    await action(page);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}
