import { z } from "zod";
import { defineTool, type Tool } from "../tool.ts";
import type { Workplace } from "../workplace.ts";

type Place = Pick<Workplace, "agents">;

export function taskTool({ agents }: Place): Tool {
  const kinds = agents.types.map(({ name, description }) => `- ${name}: ${description}`).join("\n");
  return defineTool({
    name: "Task",
    description: `Hands a task to an agent with a conversation and a context window of its own. It sees nothing of this conversation: say everything it needs, and what it is to report. You get its last answer only, so that a long search does not fill your context. In the background it runs beside you, and you are told when it has ended. Kinds:\n${kinds}`,
    input: z.object({
      description: z.string().min(1).describe("Three to six words for the person: what it does"),
      prompt: z.string().min(1).describe("The whole task"),
      subagent_type: z.string().optional().describe("One of the kinds above; general-purpose unless given"),
      run_in_background: z.boolean().optional().describe("Do not wait for it"),
    }),
    // It asks for permission itself, call by call; several may look around at once.
    isReadOnly: true,
    title: ({ description }) => description,
    call: ({ description, prompt, subagent_type, run_in_background = false }, { signal }) =>
      agents.start({ description, prompt, type: subagent_type, isBackground: run_in_background }, { signal }),
  });
}

/** Half a minute unless said otherwise: the model may have something better to do. */
const DEFAULT_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 600_000;

export function taskOutputTool({ agents }: Place): Tool {
  return defineTool({
    name: "TaskOutput",
    description: "Gives the result of an agent in the background, and waits for it as long as you say.",
    input: z.object({
      task_id: z.string().min(1).describe("The id that Task gave"),
      timeout: z
        .number()
        .int()
        .min(0)
        .max(LONGEST_WAIT_MS)
        .optional()
        .describe(`How long to wait, in milliseconds; ${DEFAULT_WAIT_MS} unless given`),
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
    description: "Stops an agent in the background. What it had got until then is given.",
    input: z.object({ task_id: z.string().min(1).describe("The id that Task gave") }),
    isReadOnly: true,
    title: ({ task_id }) => task_id,
    call: ({ task_id }) => agents.stop(task_id),
  });
}
