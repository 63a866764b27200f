import { fauxAssistantMessage } from "@earendil-works/pi-ai";
import { versionOf } from "../peers/version.mjs";
import { mediaOf, resultText, withSeparateResults } from "./block-text.ts";
import { peerPolicy } from "./peer-policy.ts";

// Imports single files. As a whole, the package loads only on Node 22.
const part = (path) =>
  import(new URL(`node_modules/@earendil-works/pi-coding-agent/dist/core/${path}`, import.meta.url));
const { compact, DEFAULT_COMPACTION_SETTINGS, prepareCompaction } = await part("compaction/index.js");
const { buildSessionProjection } = await part("session-manager.js");
const { convertToLlm } = await part("messages.js");

const TIMESTAMP = "2026-04-01T08:00:00.000Z";
/** Tools of pi that do the same as tools of Claude Code. pi lists the files that its own tools touched. */
const TOOLS = { Read: "read", Write: "write", Edit: "edit", MultiEdit: "edit" };
const MODEL = {
  id: "simulated",
  provider: "simulated",
  api: "simulated",
  reasoning: false,
  maxTokens: 16_384,
};

export const policies = [
  () =>
    peerPolicy({
      name: "pi compaction",
      version: versionOf("@earendil-works/pi-coding-agent"),
      description: "prepareCompaction and compact with the default settings: keeps 20,000 tokens",
      shorten,
    }),
];

async function shorten({ messages, writer, memoOf }) {
  const sources = new Map();
  const path = linked(
    messages.flatMap(withSeparateResults).flatMap((message) => entriesOf(message, sources, memoOf)),
  );
  const earlier = path.find(({ type }) => type === "compaction");
  if (earlier !== undefined) earlier.firstKeptEntryId = path[path.indexOf(earlier) + 1]?.id;
  const preparation = prepareCompaction(path, DEFAULT_COMPACTION_SETTINGS);
  if (preparation === undefined) return undefined;
  // The system prompt is the first of the messages.
  const stream = (_model, { messages: asked }) => {
    const reply = fauxAssistantMessage(writer.answer(asked.map(textOf).join("\n")));
    return { result: async () => reply };
  };
  // Key, headers, instructions, signal and level of thinking.
  const unused = Array(5).fill(undefined);
  const result = await compact(preparation, MODEL, ...unused, stream);
  const compaction = { ...result, type: "compaction", timestamp: TIMESTAMP };
  const [summary, ...kept] = buildSessionProjection(linked([...path, compaction])).entries;
  const text = convertToLlm(summary.messages).map(textOf).join("\n");
  const parts = kept.flatMap(({ sourceEntry }) => sources.get(sourceEntry.message) ?? []);
  return [{ summary: text, memo: compaction }, ...parts.map((source) => ({ part: source }))];
}

const textOf = ({ content }) =>
  typeof content === "string" ? content : content.map((block) => block.text ?? "").join("\n");

const linked = (entries) =>
  entries.map((entry, at) => ({ ...entry, id: `e${at}`, parentId: at === 0 ? null : `e${at - 1}` }));

/** Converts a message to entries of pi's session. A summary becomes the entry that pi stored for it. */
function entriesOf({ role, parts, summary }, sources, memoOf) {
  const memo = summary === undefined ? undefined : memoOf(summary);
  if (memo !== undefined) return [memo];
  const entry = (message, from) => {
    const timed = { ...message, timestamp: Date.parse(TIMESTAMP) };
    sources.set(timed, from);
    return { type: "message", timestamp: TIMESTAMP, message: timed };
  };
  if (role === "assistant") {
    const content = parts.flatMap(({ block }) => assistantBlock(block));
    return [entry({ role: "assistant", content, stopReason: "stop" }, parts)];
  }
  if (parts[0]?.block.type !== "tool_result") {
    return [entry({ role: "user", content: parts.flatMap(({ block }) => userBlock(block)) }, parts)];
  }
  return parts.map((source) => {
    const { tool_use_id: toolCallId, is_error } = source.block;
    const content = [{ type: "text", text: resultText(source.block) }];
    return entry({ role: "toolResult", toolCallId, content, isError: is_error === true }, [source]);
  });
}

function assistantBlock(block) {
  if (block.type === "text") return [{ type: "text", text: block.text }];
  if (block.type === "thinking") return [{ type: "thinking", thinking: block.thinking }];
  if (block.type !== "tool_use") return [];
  const name = TOOLS[block.name] ?? block.name;
  const rename = ([key, value]) => [key === "file_path" ? "path" : key, value];
  const args = Object.fromEntries(Object.entries(block.input ?? {}).map(rename));
  return [{ type: "toolCall", id: block.id, name, arguments: args }];
}

function userBlock(block) {
  if (block.type === "text") return [{ type: "text", text: block.text }];
  const media = mediaOf(block);
  return media === undefined ? [] : [{ type: "image", mimeType: media.mediaType, data: media.data }];
}
