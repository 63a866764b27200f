import { createRecallTool } from "../../../node.ts";
import type { Tool } from "../../tool.ts";
import type { Workplace } from "../../workplace.ts";

/** Finds what has left the context. It reads the session's own file, so it needs nobody's word. */
export function recallTool({ sessionPath }: Pick<Workplace, "sessionPath">): Tool {
  const recall = createRecallTool({ session: sessionPath });
  return {
    definition: recall.definition,
    isReadOnly: true,
    title: titleOf,
    needs: async () => [],
    call: async (input, { signal }) => ({ content: await recall.call(input, { signal }) }),
  };
}

/** What it is asked for, whichever way. */
function titleOf(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const { query, exact, pattern, id, file, tool } = input as Readonly<Record<string, unknown>>;
  const asked = [query, exact, pattern, id, file, tool].filter(
    (part) => typeof part === "string" && part !== "",
  );
  return asked.join(" · ");
}
