import type { RequestFrame } from "../compaction/write/shared-prefix.ts";
import { RECALL_TOOL_NAME } from "../conversation/tool-kinds.ts";
import { stringField } from "../conversation/untrusted.ts";

/** The name of the agent's tool for searching what was summarised; undefined where its requests have none. */
export function recallToolOf(frame: RequestFrame | undefined): string | undefined {
  const tools: readonly unknown[] = Array.isArray(frame?.tools) ? frame.tools : [];
  return tools.some((tool) => stringField(tool, "name") === RECALL_TOOL_NAME) ? RECALL_TOOL_NAME : undefined;
}
