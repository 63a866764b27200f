import { refuse } from "../../wording/refuse.ts";
import { asksForCompaction, recordField } from "../fields/readers.ts";
import type { Inspection } from "../shape/shape-check.ts";
import { type PlacedBlock, pathOf, type SentMessage, type Turn } from "./conversation.ts";
import { isServerResult, isServerToolBlock } from "./server-tools.ts";

/** The user begins, or the provider's own summary does. Messages that only set the effort may stand before. */
export function checkOpening(messages: readonly SentMessage[]): void {
  if (messages.length === 0) refuse("noMessages");
  const first = messages.find((message) => !message.isEffortOnly);
  if (first?.role === "user") return;
  if (first?.role === "assistant" && first.blocks[0]?.type === "compaction") return;
  if (first?.role === "system") refuse("systemPlacement", { path: `messages.${first.message}` });
  refuse("firstRole");
}

/** A section of system messages follows the user, or a server tool's result, and the user does not follow it. */
export function checkSystemPlacement(turns: readonly Turn[]): void {
  for (const [index, turn] of turns.entries()) {
    const before = turns[index - 1];
    if (turn.role !== "system" || before === undefined) continue;
    const last = before.blocks.at(-1);
    const isAfterServerTool = before.role === "assistant" && last !== undefined && isServerResult(last);
    const isWellPlaced = before.role === "user" || isAfterServerTool;
    if (isWellPlaced && turns[index + 1]?.role !== "user") continue;
    refuse("systemPlacement", { path: `messages.${turn.messages[0]?.message ?? 0}` });
  }
}

export function checkLastBlocks(turns: readonly Turn[]): void {
  for (const { role, blocks } of turns) {
    const last = blocks.at(-1);
    if (role === "assistant" && last !== undefined && isThinking(last)) {
      refuse("thinkingLast", { path: `messages.${last.message}`, type: last.type });
    }
  }
}

function isThinking({ type }: PlacedBlock): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/** How the conversation may end. A call for a summary of it may end anyhow; it is not gone on with. */
export function checkEnd(turns: readonly Turn[], inspection: Inspection): void {
  const { model } = inspection.request;
  const turn = turns.at(-1);
  if (turn?.role !== "assistant" || asksForCompaction(inspection.request)) return;
  const last = turn.blocks.at(-1);
  if (model?.features.prefill === false && !isResumable(last)) refuse("prefill");
  if (last?.type === "text" && /\s$/.test(String(last.block.text).slice(-1))) refuse("finalWhitespace");
}

/** A turn that the provider paused, in its own tools or after its own summary, is sent back as it is. */
function isResumable(last: PlacedBlock | undefined): boolean {
  return last !== undefined && (isServerToolBlock(last) || last.type === "compaction");
}

/**
 * With thinking of type `enabled`, the turn whose tool results are being sent begins with thinking. Later responses
 * of the same turn may do without: a model that does not interleave thinks once, before its first call.
 */
export function checkThinkingFirst(turns: readonly Turn[], inspection: Inspection): void {
  if (recordField(inspection.request.body, "thinking")?.type !== "enabled") return;
  const spoken = turns.filter(({ role }) => role !== "system");
  const call = spoken.at(-2);
  if (call?.role !== "assistant" || !call.blocks.some(({ type }) => type === "tool_use")) return;
  const start = spoken.slice(0, -1).findLastIndex(({ role, blocks }) => {
    const holds = (wanted: string): boolean => blocks.some(({ type }) => type === wanted);
    return role === "user" ? !holds("tool_result") : holds("compaction");
  });
  const replies = spoken.slice(Math.max(0, start)).filter(({ role }) => role === "assistant");
  const first = replies
    .flatMap(({ blocks }) => blocks)
    .find(({ type }) => type !== "compaction" && type !== "fallback");
  if (first !== undefined && !isThinking(first)) {
    refuse("thinkingFirst", { path: pathOf(first), type: first.type });
  }
}
