import { refuse } from "../../wording/refuse.ts";
import { asksForCompaction } from "../fields/readers.ts";
import type { Inspection } from "../shape/shape-check.ts";
import { type PlacedBlock, pathOf, type Turn } from "./conversation.ts";

/** Every call is answered once, at the head of the next turn, and every result has its call right before it. */
export function checkToolPairs(turns: readonly Turn[], inspection: Inspection): void {
  for (const [index, turn] of turns.entries()) {
    if (turn.role === "assistant") checkAnswered(turn, turns[index + 1], inspection);
    else if (turn.role === "user") checkResults(turn, turns[index - 1]);
  }
}

function checkAnswered(turn: Turn, next: Turn | undefined, inspection: Inspection): void {
  if (!turn.blocks.some(isUse)) return;
  const uses = turn.blocks.filter(isUse);
  const answered = new Set(next?.role === "user" ? leadingResults(next).map(resultId) : []);
  const open = uses.filter(({ block }) => !answered.has(block.id));
  const [first] = open;
  if (first === undefined) return;
  if (next === undefined && asksForCompaction(inspection.request)) refuse("compactionIncompleteTurn");
  const ids = open.map(({ block }) => String(block.id)).join(", ");
  refuse("unansweredUse", { path: `messages.${first.message}`, ids });
}

function isUse({ type }: PlacedBlock): boolean {
  return type === "tool_use";
}

function leadingResults({ blocks }: Turn): readonly PlacedBlock[] {
  const end = blocks.findIndex(({ type }) => type !== "tool_result");
  return end < 0 ? blocks : blocks.slice(0, end);
}

function resultId({ block }: PlacedBlock): unknown {
  return block.tool_use_id;
}

function checkResults(turn: Turn, previous: Turn | undefined): void {
  const results = turn.blocks.filter(({ type }) => type === "tool_result");
  if (results.length === 0) return;
  const called = new Set<unknown>();
  if (previous?.role === "assistant") {
    for (const { type, block } of previous.blocks) if (type === "tool_use") called.add(block.id);
  }
  const seen = new Set<unknown>();
  for (const result of results) {
    const id = resultId(result);
    if (!called.has(id)) refuse("orphanResult", { path: pathOf(result), id: String(id) });
    if (seen.has(id)) refuse("secondResult", { path: pathOf(result), id: String(id) });
    seen.add(id);
  }
}
