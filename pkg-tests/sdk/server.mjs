// A local server that writes down what it is asked and answers with what it was given, in pieces.
import { createServer } from "node:http";
import { setImmediate } from "node:timers/promises";

/** `{base, requests, answer(type, bytes, cuts), close}`. */
export async function recorder() {
  const requests = [];
  let next = { type: "application/json", pieces: [Buffer.from("{}")] };
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString("utf8");
    requests.push({ method: request.method, path: request.url, headers: request.headers, body: text ? JSON.parse(text) : undefined });
    response.writeHead(200, { "content-type": next.type });
    response.socket?.setNoDelay(true);
    for (const piece of next.pieces) {
      response.write(piece);
      await setImmediate();
    }
    response.end();
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    base: `http://127.0.0.1:${server.address().port}`,
    requests,
    answer(type, bytes, cuts = []) {
      next = { type, pieces: cut(bytes, cuts) };
    },
    close: () => new Promise((done) => { server.closeAllConnections(); server.close(done); }),
  };
}

/** Bytes in pieces that end at the cuts. */
export function cut(bytes, cuts) {
  const pieces = [];
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    if (to > from) pieces.push(bytes.subarray(from, to));
    from = Math.max(from, to);
  }
  return pieces;
}
