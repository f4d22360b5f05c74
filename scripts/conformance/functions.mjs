// Cases of one pure function: converters (spec 06 §8), rooms (spec 09 appendix B), memory (spec 10 appendix B).

/** Headers that name the frontend, not the request. */
const OWN_HEADERS = ["anthropic-beta", "HTTP-Referer", "X-Title", "x-session-affinity"];

export async function runFunction({ promptside, area }, json) {
  const params = json.input ?? json.args;
  const fn = json.fn ?? json.input.fn;
  const group = json.fn ? "provider" : area.replace(/-random$/, "");
  const expected = json.expected;
  let got;
  try {
    got = promptside.invoke(`${group}.${fn}`, params);
  } catch (error) {
    if (!error?.code || error.code.startsWith("option.")) throw error;
    got = { error: error.message };
  }
  if (fn === "build_request" && !got.error) got = descriptor(got, params.settings ?? {}, expected);
  if ((fn === "read_response" || fn === "read_stream") && expected) got = answer(got, expected);
  return { expected, got };
}

/** A request as the cases print it: placeholders for secrets and for what is random. */
function descriptor({ method, url, headers, body, auth }, settings, expected) {
  const secrets = { proxy_password: settings.proxy_password ?? "", token: "{TOKEN}", key: "{KEY}" };
  const secret = secrets[auth?.secret] ?? "{KEY}";
  const all = { ...headers };
  if (auth?.header) all[auth.header] = `${auth.prefix ?? ""}${secret}`;
  if (auth?.query) {
    const [path, query] = url.split("?");
    url = `${path}?${auth.query}=${secret}${query === undefined ? "" : `&${query}`}`;
  }
  for (const name of OWN_HEADERS) delete all[name];
  if (expected?.body?.seed === "{RANDOM}" && typeof body.seed === "number") body = { ...body, seed: "{RANDOM}" };
  return { method, url, headers: all, body };
}

/** An answer as the cases print it: what is empty is left out, but for text and reasoning. */
function answer(read, expected) {
  if (read.error) {
    const reason = read.error.reasons?.[0];
    return { error: true, ...(reason === undefined ? {} : { block_reason: reason }) };
  }
  const out = { text: read.text, reasoning: read.reasoning };
  const calls = (read.toolCalls ?? []).map((call, i) =>
    expected.tool_calls?.[i]?.id === "{RANDOM}" ? { ...call, id: "{RANDOM}" } : call,
  );
  if (calls.length) out.tool_calls = calls;
  if (read.images?.length) out.images = read.images;
  if (read.signature) out.signature = read.signature;
  if (read.alternatives?.length && expected.swipes) out.swipes = read.alternatives;
  return out;
}
