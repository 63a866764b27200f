import { createRecallTool } from "@longhaul/sessions";
import { taskOutputTool, taskStopTool, taskTool } from "../agents/task-tools.ts";
import { skillTool } from "../skills.ts";
import type { Tool } from "../tool.ts";
import type { Workplace } from "../workplace.ts";
import { editTool } from "./files/edit-file.ts";
import { readTool } from "./files/read-file.ts";
import { writeTool } from "./files/write-file.ts";
import { globTool } from "./search/glob.ts";
import { grepTool } from "./search/grep.ts";
import { askUserQuestionTool } from "./session/ask-user-question.ts";
import { enterPlanModeTool, exitPlanModeTool } from "./session/plan-mode.ts";
import { todoWriteTool } from "./session/todo-write.ts";
import { bashOutputTool, bashTool, killShellTool } from "./shell/bash.ts";
import { webFetchTool } from "./web/web-fetch.ts";

/**
 * Returns the default tools of an agent, always in this order, because the tools are the first part of the
 * cached prompt.
 */
export const standardTools = (place: Workplace): readonly Tool[] => [
  readTool(place),
  writeTool(place),
  editTool(place),
  globTool(place),
  grepTool(place),
  bashTool(place),
  bashOutputTool(place),
  killShellTool(place),
  webFetchTool(place),
  todoWriteTool(place),
  askUserQuestionTool(place),
  enterPlanModeTool(place),
  exitPlanModeTool(place),
  taskTool(place),
  taskOutputTool(place),
  taskStopTool(place),
  ...(place.skills.length === 0 ? [] : [skillTool(place)]),
  recallTool(place),
];

/**
 * Creates the tool that finds messages that have left the context. It reads only the session's own file, so
 * it needs no permission.
 */
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

function titleOf(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const { query, exact, pattern, id, file, tool } = input as Readonly<Record<string, unknown>>;
  const asked = [query, exact, pattern, id, file, tool].filter(
    (part) => typeof part === "string" && part !== "",
  );
  return asked.join(" · ");
}
