import type { Entry } from "@longhaul/core";
import { LonghaulError } from "@longhaul/core";
import type { CompactionPorts } from "@longhaul/core/compaction";
import { ConversationBuilder, usage } from "./builders.ts";

/** Creates ports with sequential ids and a fixed time after all built entries. */
export function countingPorts(): CompactionPorts {
  let count = 0;
  return { now: () => new Date("2026-06-01T00:00:00Z"), newUuid: () => `new-${++count}` };
}

/** Builds turns of a request, a file read and an answer, with consistent usage. */
export function longSession(turns = 60, prefix = "long"): ConversationBuilder {
  const c = new ConversationBuilder(prefix);
  let context = 20_000;
  for (let turn = 0; turn < turns; turn++) {
    c.user(`request ${turn}: make part ${turn} work`);
    c.tool(
      `${prefix}-t${turn}`,
      "Read",
      { file_path: `/project/part-${turn}.ts` },
      `line of part ${turn}\n`.repeat(120),
    );
    context += 1_000;
    c.assistant(`part ${turn} works now`, { usage: usage(context, 20) });
  }
  return c;
}

/** Removes the usage, because generated figures do not fit the rest of a session. */
export function withoutUsage(entry: Entry): Entry {
  if (entry?.type !== "assistant" || !entry.message?.usage) return entry;
  const { usage: _, ...message } = entry.message;
  return { ...entry, message };
}

/** Returns the code of the error that this attempt throws. Undefined if it throws none. */
export async function codeOf(attempt: () => unknown): Promise<string | undefined> {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    return error instanceof LonghaulError ? error.code : String(error);
  }
}
