import { refuse } from "../../wording/refuse.ts";
import { asksForCompaction } from "../fields/readers.ts";
import { SERVER_TOOL_RESULTS } from "../shape/block-shapes.ts";
import type { Inspection } from "../shape/shape-check.ts";
import { type PlacedBlock, pathOf, type SentMessage } from "./conversation.ts";

const RESULT_KINDS: ReadonlySet<string> = new Set([...Object.values(SERVER_TOOL_RESULTS), "mcp_tool_result"]);

export function isServerToolBlock({ type }: PlacedBlock): boolean {
  return type === "server_tool_use" || type === "mcp_tool_use" || RESULT_KINDS.has(type);
}

export function isServerResult({ type }: PlacedBlock): boolean {
  return RESULT_KINDS.has(type);
}

/**
 * A tool that the provider runs is answered in the same turn of the assistant. User messages of nothing but
 * tool results do not end that turn, and one that the conversation ends in may be unfinished.
 */
export function checkServerTools(messages: readonly SentMessage[], inspection: Inspection): void {
  const open = new Map<unknown, PlacedBlock>();
  for (const { role, blocks } of messages) {
    if (role === "assistant") for (const placed of blocks) visit(placed, open);
    else if (open.size > 0 && blocks.some(({ type }) => type !== "tool_result")) refuseOpen(open);
  }
  if (open.size > 0 && asksForCompaction(inspection.request)) refuse("compactionIncompleteTurn");
}

function visit(placed: PlacedBlock, open: Map<unknown, PlacedBlock>): void {
  const { type, block } = placed;
  if (type === "server_tool_use" || type === "mcp_tool_use") {
    if (open.has(block.id)) refuseOpen(new Map([[block.id, open.get(block.id) ?? placed]]));
    open.set(block.id, placed);
    return;
  }
  if (!RESULT_KINDS.has(type)) return;
  const id = block.tool_use_id;
  const use = open.get(id);
  if (use === undefined || expectedResult(use) !== type) {
    const expectedUse = type === "mcp_tool_result" ? "mcp_tool_use" : "server_tool_use";
    refuse("orphanServerResult", { path: pathOf(placed), type, id: String(id), use: expectedUse });
  }
  open.delete(id);
}

function refuseOpen(open: ReadonlyMap<unknown, PlacedBlock>): void {
  for (const placed of open.values()) {
    const { id, name } = placed.block;
    refuse("unansweredServerUse", { name: String(name), id: String(id), result: expectedResult(placed) });
  }
}

function expectedResult({ type, block }: PlacedBlock): string {
  return type === "mcp_tool_use" ? "mcp_tool_result" : (SERVER_TOOL_RESULTS[String(block.name)] ?? "");
}
