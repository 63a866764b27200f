import type { Tool, Workplace } from "@longhaul/agent";
import type { Behaviour, Turn } from "@longhaul/simulator";
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

/** Only the main conversation can start agents. */
const isMain = (body: Body = {}): boolean => toolsIn(body).includes("Task");
export const isSubagent = (body: Body = {}): boolean => toolsIn(body).length > 0 && !isMain(body);

/** Said in the main conversation, whatever its subagents are asked meanwhile. */
export const main = (...turns: readonly Turn[]): readonly ScriptedTurn[] =>
  turns.map(
    (turn) =>
      ({ body }) =>
        isMain(body) ? turn : undefined,
  );

/** Said by the only subagent, one after the other. */
export const subagent = (...turns: readonly Turn[]): Behaviour =>
  scriptedTurns(
    turns.map(
      (turn) =>
        ({ body }) =>
          isSubagent(body) ? turn : undefined,
    ),
  );

/** Said by each of several subagents: first this, and when its tool has answered, that. */
export const eachSubagent =
  (first: Turn, then: Turn): Behaviour =>
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

/** A tool that waits until it is let through. */
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

  /** Somebody waits. */
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
