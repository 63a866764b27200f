import { createContextCompactionPrepareTurn } from "@cline/core";
import { registerHandler } from "@cline/llms";
import { versionOf } from "../peers/version.mjs";
import { mediaOf, withSeparateResults } from "./block-text.ts";
import { peerPolicy } from "./peer-policy.ts";

/** Share of the input at which cline compacts. */
const TRIGGER_RATIO = 0.9;
/** Tools of cline that do the same as tools of Claude Code. cline lists the files that its own tools touched. */
const TOOLS = {
  Read: "read_files",
  Write: "editor",
  Edit: "editor",
  MultiEdit: "editor",
  Bash: "run_commands",
};

const policyOf = (name, description, strategy) => () => {
  let writer;
  const providerId = `simulated-${name}`;
  const createMessage = async function* (system, messages) {
    const prompt = messages.map(({ content }) => content).join("\n");
    yield { type: "text", text: writer.answer(prompt, system) };
    yield { type: "done", success: true };
  };
  // cline marks messages that an earlier compaction kept. The key is the uuid of an entry.
  const marks = new Map();
  registerHandler(providerId, () => ({ createMessage }));
  const failures = [];
  const logger = {
    debug: () => undefined,
    log: (message, details) => {
      if (details?.errorMessage !== undefined) failures.push(`${message}: ${details.errorMessage}`);
    },
  };
  const prepareTurn = createContextCompactionPrepareTurn({
    ...{ providerId, modelId: "simulated", logger },
    compaction: { enabled: true, strategy },
  });
  return peerPolicy({
    name,
    version: versionOf("@cline/core"),
    description,
    shorten: async (conversation) => {
      writer = conversation.writer;
      const { messages, piecesOf } = toCline(conversation, marks);
      // The evaluation decides when a compaction is due, so the input is just too large at this moment.
      const full = Math.min(conversation.tokens, conversation.thresholds.autoCompact);
      const maxInputTokens = Math.floor(full / TRIGGER_RATIO) - 1;
      const prepared = await prepareTurn({
        ...{ agentId: "a", conversationId: "c", parentAgentId: null, iteration: 1, tools: [] },
        ...{ messages, apiMessages: messages, systemPrompt: "" },
        abortSignal: new AbortController().signal,
        model: { id: "simulated", info: { id: "simulated", maxInputTokens, contextWindow: maxInputTokens } },
        previousRequestInputTokens: conversation.tokens,
      });
      // cline hides a failure of the model, and falls back to its other strategy.
      if (failures.length > 0) throw new Error(failures.join("\n"));
      return prepared === undefined ? undefined : piecesOf(prepared.messages);
    },
  });
};

export const policies = [
  policyOf("cline agentic", "the default strategy: a summary, keeps up to 20,000 tokens", "agentic"),
  policyOf("cline basic", "the strategy without a model: drops and truncates to a budget", "basic"),
];

/** Converts messages to cline's. `piecesOf` converts a result back, in which blocks may be shortened. */
function toCline({ messages, memoOf }, marks) {
  const sources = new Map();
  const byMessage = new Map();
  const convert = (source) => {
    const block = clineBlock(source.block);
    sources.set(block, source);
    if (block.type === "tool_use") sources.set(`call ${block.id}`, { source, block });
    if (block.type === "tool_result") sources.set(`result ${block.tool_use_id}`, { source, block });
    return block;
  };
  const markOf = ({ entry }) => memoOf(entry) ?? marks.get(entry.uuid);
  const given = messages.flatMap(withSeparateResults).map(({ role, parts }, index) => {
    const message = { id: `m${index}`, role, content: parts.map(convert) };
    byMessage.set(message.id, parts);
    const metadata = parts.map(markOf).find((mark) => mark !== undefined);
    return metadata === undefined ? message : { ...message, metadata };
  });

  const piecesOf = (left) => left.flatMap(messagePieces);

  function messagePieces(message) {
    const { content, metadata } = message;
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const pieces = blocks.map((block) => blockPiece(block, message, byMessage.get(message.id) ?? []));
    for (const { part } of pieces) if (part !== undefined) marks.set(part.entry.uuid, metadata);
    return pieces;
  }

  function blockPiece(block, { role, metadata }, parts) {
    const same = sources.get(block);
    if (same !== undefined) return { part: same };
    const key = block.type === "tool_use" ? `call ${block.id}` : `result ${block.tool_use_id}`;
    const known = sources.get(key);
    if (known !== undefined) return changedPiece(known, block);
    const { text = "" } = block;
    const part = parts.find(({ block: own }) => own.type === "text" && own.text.trim() === text.trim());
    if (part !== undefined) return { part };
    const isNote = metadata?.kind !== "compaction_summary";
    return { summary: text, role, memo: metadata, isNote };
  }

  return { messages: given, piecesOf };
}

function changedPiece({ source, block: given }, block) {
  if (JSON.stringify(given) === JSON.stringify(block)) return { part: source };
  const changed = block.type === "tool_use" ? { input: block.input } : { content: block.content };
  return { part: source, changed: { ...source.block, ...changed } };
}

function clineBlock(block) {
  if (block.type === "text") return { type: "text", text: block.text };
  if (block.type === "tool_use") {
    const { id, name, input } = block;
    const isShell = name === "Bash" && typeof input?.command === "string";
    return {
      ...{ type: "tool_use", id, name: TOOLS[name] ?? name },
      input: isShell ? { commands: [input.command] } : { ...input },
    };
  }
  if (block.type === "tool_result") {
    const content = Array.isArray(block.content) ? block.content.map(clineBlock) : (block.content ?? "");
    return {
      type: "tool_result",
      tool_use_id: block.tool_use_id,
      content,
      is_error: block.is_error === true,
    };
  }
  if (block.type === "thinking") return { type: "thinking", thinking: block.thinking };
  const media = mediaOf(block);
  return media === undefined ? { type: "text", text: "" } : { type: "image", ...media };
}
