import { z } from "zod";
import { defineTool, type Tool } from "../tool.ts";
import type { Workplace } from "../workplace.ts";

type Place = Pick<Workplace, "agents">;

export function taskTool({ agents }: Place): Tool {
  const kinds = agents.types.map(({ name, description }) => `- ${name}: ${description}`).join("\n");
  return defineTool({
    name: "Task",
    description: `Gives a task to an agent with its own conversation and context window. The agent does not see this conversation. Include everything that it needs, and say what it must report. You get only its last answer, so a long search does not fill your context. A background agent runs in parallel with you, and you are notified when it ends. Agent types:\n${kinds}`,
    input: z.object({
      description: z
        .string()
        .min(1)
        .describe("What the agent does, in three to six words, shown to the user"),
      prompt: z.string().min(1).describe("The complete task"),
      subagent_type: z.string().optional().describe("One of the agent types above. Default: general-purpose"),
      run_in_background: z
        .boolean()
        .optional()
        .describe("Run the agent in the background and do not wait for it"),
    }),
    // Counts as read-only, so that several subagents can run at the same time. Each subagent asks for
    // permission for its own calls.
    isReadOnly: true,
    title: ({ description }) => description,
    call: ({ description, prompt, subagent_type, run_in_background = false }, { signal }) =>
      agents.start({ description, prompt, type: subagent_type, isBackground: run_in_background }, { signal }),
  });
}

/** Default wait. It is short, because the model may have other work to do. */
const DEFAULT_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 600_000;

export function taskOutputTool({ agents }: Place): Tool {
  return defineTool({
    name: "TaskOutput",
    description:
      "Returns the result of a background agent. Waits until the agent ends, at most `timeout` milliseconds.",
    input: z.object({
      task_id: z.string().min(1).describe("The id that Task returned"),
      timeout: z
        .number()
        .int()
        .min(0)
        .max(LONGEST_WAIT_MS)
        .optional()
        .describe(`How long to wait, in milliseconds. Default: ${DEFAULT_WAIT_MS}`),
    }),
    isReadOnly: true,
    title: ({ task_id }) => task_id,
    call: ({ task_id, timeout = DEFAULT_WAIT_MS }, { signal }) =>
      agents.collect(task_id, { wait: timeout, signal }),
  });
}

export function taskStopTool({ agents }: Place): Tool {
  return defineTool({
    name: "TaskStop",
    description: "Stops a background agent and returns what it has so far.",
    input: z.object({ task_id: z.string().min(1).describe("The id that Task returned") }),
    isReadOnly: true,
    title: ({ task_id }) => task_id,
    call: ({ task_id }) => agents.stop(task_id),
  });
}
