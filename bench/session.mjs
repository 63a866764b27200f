// Creates conversations and session files of any size from demo sessions with several seeds. The sessions are
// copied with new ids and concatenated. The result is equal on every machine and in every run.

import { contextTokens } from "@longhaul/core/measure";
import { createDemoSession } from "../packages/simulator/src/demo-session.ts";

/**
 * Number of different demo sessions. More sessions would change nothing. Each copy has new strings, so no
 * copy profits from another.
 */
const VARIANTS = 4;
const FIRST_SEED = 1;

/** Tokens per copy, about the size at which an agent with a window of 200,000 tokens compacts. */
const COPY_TOKENS = 170_000;
/**
 * Requests the shortest demo session. It becomes the end of a file, which is the part that a resume reads
 * after a recent compaction.
 */
const TAIL_TOKENS = 1;

let tellings;
let tail;
const tellingOf = (copy) => {
  tellings ??= Array.from({ length: VARIANTS }, (_, index) =>
    createDemoSession({ seed: FIRST_SEED + index, approximateTokens: COPY_TOKENS }),
  );
  return tellings[copy % VARIANTS];
};
const tailTelling = () => {
  tail ??= createDemoSession({ seed: FIRST_SEED + VARIANTS, approximateTokens: TAIL_TOKENS });
  return tail;
};

/** Renames an id. The last digits of a copy's ids differ from those of every other copy. */
function renamed(id, copy) {
  return typeof id === "string" ? id.slice(0, -5) + copy.toString(16).padStart(5, "0") : id;
}

function renamedBlock(block, copy) {
  if (block.type === "tool_use") return { ...block, id: renamed(block.id, copy) };
  if (block.type === "tool_result") return { ...block, tool_use_id: renamed(block.tool_use_id, copy) };
  return block;
}

function renamedMessage(message, copy, tokensBefore) {
  const { content, usage } = message;
  return {
    ...message,
    ...(message.id ? { id: renamed(message.id, copy) } : {}),
    content: Array.isArray(content) ? content.map((block) => renamedBlock(block, copy)) : content,
    ...(usage
      ? { usage: { ...usage, cache_read_input_tokens: (usage.cache_read_input_tokens ?? 0) + tokensBefore } }
      : {}),
  };
}

/**
 * @param before the uuid that the copy's first entry refers to, and the number of tokens before that entry
 */
function* copyOf(telling, copy, before) {
  for (const entry of telling) {
    yield {
      ...entry,
      ...(entry.uuid ? { uuid: renamed(entry.uuid, copy) } : {}),
      ...("parentUuid" in entry ? { parentUuid: renamed(entry.parentUuid, copy) ?? before.uuid } : {}),
      ...(entry.sourceToolAssistantUUID
        ? { sourceToolAssistantUUID: renamed(entry.sourceToolAssistantUUID, copy) }
        : {}),
      ...(entry.message ? { message: renamedMessage(entry.message, copy, before.tokens) } : {}),
    };
  }
}

const lastUuid = (telling, copy) => renamed(telling.findLast((entry) => entry.uuid).uuid, copy);

/**
 * Creates an in-memory conversation that the provider counts as `tokens` tokens. The conversation has no
 * compactions. Also returns its next message.
 */
export function conversationOf(tokens) {
  const entries = [];
  let before = { uuid: null, tokens: 0 };
  let open = 0;
  for (let copy = 0; ; copy++) {
    const telling = tellingOf(copy);
    for (const renamedEntry of copyOf(telling, copy, before)) {
      const entry = JSON.parse(JSON.stringify(renamedEntry));
      const blocks = Array.isArray(entry.message?.content) ? entry.message.content : [];
      const isResult = blocks.some((block) => block.type === "tool_result");
      // Ends the conversation before a tool result. That result becomes the next message, because most turns
      // begin with a tool result.
      if (isResult && open === 1 && reportedTokens(entries.at(-1)) >= tokens) {
        return { entries, next: { ...entry, message: sameResult(blocks[0].tool_use_id) } };
      }
      for (const block of blocks)
        open += block.type === "tool_use" ? 1 : block.type === "tool_result" ? -1 : 0;
      entries.push(entry);
    }
    before = { uuid: lastUuid(telling, copy), tokens: contextTokens(entries) };
  }
}

/** Creates the next message. Its length is the same for every size of conversation. */
function sameResult(toolUseId) {
  const content = "  42→  const remaining = limits.perHour - used; // what is left of the quota\n".repeat(30);
  return { role: "user", content: [{ type: "tool_result", tool_use_id: toolUseId, content }] };
}

function reportedTokens(entry) {
  const usage = entry?.message?.usage;
  if (!usage) return 0;
  return usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
}

/**
 * Yields the entries of a session file of about this size. Like a real long session, the file contains many
 * compactions. The last compaction is near the end.
 */
export function* longSession(bytes) {
  const copies = Math.max(1, Math.round(bytes / bytesOf(tellingOf(0))));
  let before = { uuid: null, tokens: 0 };
  for (let copy = 0; copy <= copies; copy++) {
    if (copy > 0) {
      const [boundary, summary] = compaction(copy, before.uuid);
      yield boundary;
      yield summary;
      before = { uuid: summary.uuid, tokens: 0 };
    }
    const telling = copy < copies ? tellingOf(copy) : tailTelling();
    yield* copyOf(telling, copy, before);
    before = { uuid: lastUuid(telling, copy), tokens: 0 };
  }
}

const bytesOf = (telling) =>
  telling.reduce((sum, entry) => sum + Buffer.byteLength(JSON.stringify(entry)) + 1, 0);

function compaction(copy, logicalParentUuid) {
  const number = copy.toString(16).padStart(12, "0");
  const link = { timestamp: "2026-04-01T08:00:00.000Z", sessionId: "bench", isSidechain: false };
  const boundaryUuid = `b0b0b0b0-0000-4000-8000-${number}`;
  return [
    {
      ...link,
      uuid: boundaryUuid,
      parentUuid: null,
      logicalParentUuid,
      type: "system",
      subtype: "compact_boundary",
      content: "Conversation compacted",
      level: "info",
      compactMetadata: { trigger: "auto", preTokens: COPY_TOKENS },
    },
    {
      ...link,
      uuid: `50505050-0000-4000-8000-${number}`,
      parentUuid: boundaryUuid,
      type: "user",
      isCompactSummary: true,
      isVisibleInTranscriptOnly: true,
      message: { role: "user", content: "The work so far: see the notes of the compaction. ".repeat(60) },
    },
  ];
}
