import type { JsonRecord } from "../../../../conversation/untrusted.ts";
import type { SimulatedModel, SimulatedRequest, Switches } from "../../exchange.ts";
import { thinkingMode } from "../../thinking-mode.ts";
import { refuse, refuseWithDetails } from "../../wording/refuse.ts";
import {
  asksForCompaction,
  editsOf,
  isForced,
  outputFormatOf,
  recordField,
  recordsField,
} from "./readers.ts";

export function checkContextEdits(body: JsonRecord, model: SimulatedModel): void {
  for (const [index, edit] of editsOf(body).entries()) {
    if (edit.type === "compact_20260112" && !model.features.compaction) refuse("compactionModel");
    if (edit.type !== "clear_thinking_20251015") continue;
    if (index > 0) refuse("clearThinkingFirst");
    if (!thinks(body, model)) refuse("clearThinkingNeedsThinking");
  }
}

function thinks(body: JsonRecord, model: SimulatedModel): boolean {
  return ["enabled", "adaptive"].includes(thinkingMode(body, model));
}

export function checkCompactionRequest(request: SimulatedRequest, model: SimulatedModel): void {
  const { body } = request;
  if (!asksForCompaction(request)) return;
  if (!model.features.compaction) refuse("compactionModel");
  const budget = recordField(recordField(body, "output_config") ?? {}, "task_budget");
  const combined: Readonly<Record<string, boolean>> = {
    context_management: recordField(body, "context_management") !== undefined,
    stop_sequences: recordsField(body, "stop_sequences").length > 0,
    "output_config.format": outputFormatOf(body) !== undefined,
    tool_choice: isForced(recordField(body, "tool_choice")),
    "output_config.task_budget.remaining": typeof budget?.remaining === "number",
  };
  for (const [field, isCombined] of Object.entries(combined)) {
    if (isCombined) refuse("compactionCombined", { field });
  }
}

/** The state of a thread is another part's; here only what no thread may be combined with. */
export function checkThread(body: JsonRecord, switches: Switches): void {
  if (recordField(body, "thread") === undefined) return;
  if (switches.threads === "refused") refuse("threadsUnsupported");
  const unsupported: string[] = [];
  if (!editsOf(body).every(keepsAllThinking) || recordField(body, "compaction") !== undefined)
    unsupported.push("context_management");
  if (body.fallbacks !== undefined && body.fallbacks !== null) unsupported.push("fallbacks");
  if (unsupported.length > 0) refuseWithDetails("threadsUnsupported", { unsupported });
}

function keepsAllThinking({ type, keep }: JsonRecord): boolean {
  const isAll = keep === "all" || (typeof keep === "object" && (keep as JsonRecord | null)?.type === "all");
  return type === "clear_thinking_20251015" && isAll;
}
