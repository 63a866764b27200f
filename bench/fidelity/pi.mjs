import { fauxAssistantMessage, registerFauxProvider } from "@mariozechner/pi-ai";
import { compact, DEFAULT_COMPACTION_SETTINGS } from "@mariozechner/pi-coding-agent";
import { versionOf } from "../peers/version.mjs";
import { mediaOf, resultText, withSeparateResults } from "./block-text.ts";
import { peerPolicy } from "./peer-policy.ts";

// The package does not export these functions.
const part = (path) =>
  import(new URL(`../node_modules/@mariozechner/pi-coding-agent/dist/core/${path}`, import.meta.url));
const { prepareCompaction } = await part("compaction/index.js");
const { buildSessionContext } = await part("session-manager.js");
const { convertToLlm } = await part("messages.js");

const TIMESTAMP = "2026-04-01T08:00:00.000Z";
/** Tools of pi that do the same as tools of Claude Code. pi lists the files that its own tools touched. */
const TOOLS = { Read: "read", Write: "write", Edit: "edit", MultiEdit: "edit" };
/** Maximum number of model calls in one compaction: the summary, and the start of a split turn. */
const MAX_CALLS = 2;

export const policies = [
  () =>
    peerPolicy({
      name: "pi compaction",
      version: versionOf("@mariozechner/pi-coding-agent"),
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
  const provider = registerFauxProvider();
  const answer = (context) =>
    fauxAssistantMessage(
      writer.answer(convertToLlm(context.messages).map(textOf).join("\n"), context.systemPrompt),
    );
  provider.setResponses(Array(MAX_CALLS).fill(answer));
  const result = await compact(preparation, provider.getModel(), "no key");
  provider.unregister();
  const compaction = { ...result, type: "compaction", timestamp: TIMESTAMP };
  const [summary, ...kept] = buildSessionContext(linked([...path, compaction])).messages;
  const written = { summary: textOf(convertToLlm([summary])[0]), memo: compaction };
  return [written, ...kept.flatMap((message) => sources.get(message).map((source) => ({ part: source })))];
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
