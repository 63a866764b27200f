import { taskOutputTool, taskStopTool, taskTool } from "../agents/task-tools.ts";
import type { Tool } from "../tool.ts";
import type { Workplace } from "../workplace.ts";
import { askUserQuestionTool } from "./session/ask-user-question.ts";
import { enterPlanModeTool, exitPlanModeTool } from "./session/plan-mode.ts";
import { recallTool } from "./session/recall.ts";
import { skillTool } from "./session/skill.ts";
import { todoWriteTool } from "./session/todo-write.ts";

/** What an agent has unless it is given something else. Always in this order: they stand first in what is cached. */
export const standardTools = (place: Workplace): readonly Tool[] => [
  todoWriteTool(place),
  askUserQuestionTool(place),
  enterPlanModeTool(place),
  exitPlanModeTool(place),
  taskTool(place),
  taskOutputTool(place),
  taskStopTool(place),
  ...(place.skills.length === 0 ? [] : [skillTool(place, place.skills)]),
  recallTool(place),
];
