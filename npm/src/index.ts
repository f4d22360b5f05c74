export { load, type WasmSource } from "./core.js";
export { PromptsideError, isPromptsideError } from "./errors.js";
export { Room } from "./room.js";
export {
  RoomMemory,
  VectorIndex,
  type MemoryJob,
  type MemoryOptions,
  type MemoryPlace,
  type MemoryReport,
  type MemoryResult,
  type SummaryState,
} from "./memory.js";
export { runRound, withKey, type Meanwhile, type OutgoingRequest, type RoundOptions, type RunningRound, type SendContext, type Sent } from "./round.js";
export { capabilities, readError, readTokenCount, tokenCountRequest, withProxy, type CountingBackend } from "./providers.js";
export { loadTokenizer, countTokens, Tokenizer, TokenStream, type TokenCount, type Vocabulary } from "./tokens.js";
export { nextSpeakers, buildRequest, cleanReply, expandMacros, inspectText, splitKeys, invoke } from "./functions.js";
export {
  detectFile,
  readFile,
  extractAsset,
  writeCard,
  writeCharx,
  writeFile,
  type FileBytes,
  type FileLimits,
  type ReadOptions,
  type Sharing,
} from "./files.js";
export type * from "./types.js";
