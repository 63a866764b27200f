import { asList, field, listField, stringField } from "../../conversation/untrusted.ts";
import type { ModelRequest } from "../port.ts";

const COMPACT_EDIT = "compact_20260112";

interface BetaNeed {
  readonly beta: string;
  isNeededBy(request: ModelRequest): boolean;
}

/** A beta is named only by a request that uses it: the API refuses names that it does not know. */
const NEEDS: readonly BetaNeed[] = [
  { beta: "context-management-2025-06-27", isNeededBy: (request) => hasContextEdit(request) },
  { beta: "compact-2026-01-12", isNeededBy: (request) => needsThresholdCompaction(request) },
  { beta: "compact-2026-09-04", isNeededBy: (request) => needsCompactionOnDemand(request) },
  {
    beta: "thinking-binding-controls-2026-08-01",
    isNeededBy: ({ thinking }) => isSet(field(thinking, "block_binding")),
  },
  {
    beta: "thinking-display-updates-2026-08-18",
    isNeededBy: ({ thinking }) => field(thinking, "display") === "updates",
  },
  {
    beta: "task-budgets-2026-03-13",
    isNeededBy: ({ output_config }) => isSet(field(output_config, "task_budget")),
  },
  {
    beta: "mid-conversation-tool-changes-2026-07-01",
    isNeededBy: (request) => hasSystemBlock(request, ["tool_addition", "tool_removal"]),
  },
  {
    beta: "mid-conversation-system-clear-at-2026-08-21",
    isNeededBy: (request) => hasSystemField(request, "clear_at"),
  },
  {
    beta: "mid-conversation-output-config-2026-07-01",
    isNeededBy: (request) => hasSystemField(request, "output_config"),
  },
  { beta: "message-threads-2026-08-12", isNeededBy: (request) => isSet(field(request, "thread")) },
];

/** Those the caller asked for first, then those the request needs; each once. */
export function betasFor(request: ModelRequest, wanted: readonly string[]): readonly string[] {
  const own = asList(field(request, "betas")).filter((beta): beta is string => typeof beta === "string");
  const needed = NEEDS.filter((need) => need.isNeededBy(request)).map(({ beta }) => beta);
  return [...new Set([...wanted, ...own, ...needed])];
}

export const isCompactEdit = (edit: { readonly type: string }): boolean => edit.type === COMPACT_EDIT;

function hasContextEdit({ context_management }: ModelRequest): boolean {
  return context_management?.edits.some((edit) => !isCompactEdit(edit)) ?? false;
}

/** The two kinds of compaction exclude each other in one request: the edit decides, then the signature. */
function needsThresholdCompaction(request: ModelRequest): boolean {
  if (request.context_management?.edits.some(isCompactEdit)) return true;
  const blocks = compactionBlocks(request);
  return request.compaction === undefined && blocks.length > 0 && !blocks.some(isSigned);
}

function needsCompactionOnDemand(request: ModelRequest): boolean {
  if (request.compaction !== undefined) return true;
  return !needsThresholdCompaction(request) && compactionBlocks(request).length > 0;
}

function compactionBlocks({ messages }: ModelRequest): readonly unknown[] {
  return messages.flatMap((message) =>
    listField(message, "content").filter((block) => stringField(block, "type") === "compaction"),
  );
}

const isSigned = (block: unknown): boolean => isSet(field(block, "signature"));
const isSystem = (message: unknown): boolean => field(message, "role") === "system";
const isSet = (value: unknown): boolean => value !== undefined && value !== null;

function hasSystemBlock({ messages }: ModelRequest, types: readonly string[]): boolean {
  return messages.some(
    (message) =>
      isSystem(message) &&
      listField(message, "content").some((block) => types.includes(stringField(block, "type") ?? "")),
  );
}

function hasSystemField({ messages }: ModelRequest, name: string): boolean {
  return messages.some((message) => isSystem(message) && isSet(field(message, name)));
}
