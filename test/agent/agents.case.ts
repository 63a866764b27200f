import type { Tool, Workplace } from "@longhaul/agent";
import type { Behavior, Turn } from "@longhaul/simulator";
import { type ScriptedTurn, scriptedTurns, toolTurn } from "@longhaul/simulator";
import { taskOutputTool, taskStopTool, taskTool } from "../../packages/agent/src/agents/task-tools.ts";
import { todoWriteTool } from "../../packages/agent/src/tools/session/todo-write.ts";
import { toolOf } from "./agent-scene.case.ts";

export const task = (description: string, more: Readonly<Record<string, unknown>> = {}): Turn =>
  toolTurn("Task", { description, prompt: `Your task: ${description}.`, ...more });

export const inBackground = (description: string): Turn => task(description, { run_in_background: true });

interface Body {
  readonly tools?: unknown;
}

const toolsIn = ({ tools }: Body): readonly unknown[] =>
  Array.isArray(tools) ? tools.map(({ name }) => name) : [];

/** Returns true for a request of the main conversation. Only that conversation can start agents. */
const isMain = (body: Body = {}): boolean => toolsIn(body).includes("Task");
export const isSubagent = (body: Body = {}): boolean => toolsIn(body).length > 0 && !isMain(body);

/** Scripts the answers of the main conversation. Answers for subagents are scripted separately. */
export const main = (...turns: readonly Turn[]): readonly ScriptedTurn[] =>
  turns.map(
    (turn) =>
      ({ body }) =>
        isMain(body) ? turn : undefined,
  );

/** Scripts the answers of the only subagent, in order. */
export const subagent = (...turns: readonly Turn[]): Behavior =>
  scriptedTurns(
    turns.map(
      (turn) =>
        ({ body }) =>
          isSubagent(body) ? turn : undefined,
    ),
  );

/**
 * Scripts the answers of several subagents. Each subagent first gets `first`. After its tool result, it gets
 * `then`.
 */
export const eachSubagent =
  (first: Turn, then: Turn): Behavior =>
  ({ body, messages }) => {
    if (!isSubagent(body)) return undefined;
    return JSON.stringify(messages).includes('"tool_result"') ? then : first;
  };

export const Read: Tool = toolOf("Read", ({ of = "" }) =>
  Array.from({ length: 90 }, (_, nth) => `berth ${nth} of ${of}`).join("\n"),
);

class Signal {
  give: () => void = () => undefined;
  readonly given = new Promise<void>((resolve) => {
    this.give = resolve;
  });
}

/** A tool that waits until the test opens the gate. */
export class Gate {
  aborted = 0;
  readonly #opened = new Signal();
  readonly #reached = new Signal();

  readonly tool: Tool = toolOf("wait", async (_, signal) => {
    this.#reached.give();
    const stopped = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        this.aborted += 1;
        reject(signal.reason);
      });
    });
    await Promise.race([this.#opened.given, stopped]);
    return "through";
  });

  /** Resolves when a call waits at the gate. */
  get reached(): Promise<void> {
    return this.#reached.given;
  }

  open(): void {
    this.#opened.give();
  }
}

export const withTasks =
  (...more: readonly Tool[]) =>
  (place: Workplace): readonly Tool[] => [
    taskTool(place),
    taskOutputTool(place),
    taskStopTool(place),
    todoWriteTool(place),
    ...more,
  ];
