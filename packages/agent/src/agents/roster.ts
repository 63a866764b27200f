import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Entry, LonghaulError } from "@longhaul/core";
import { untilAborted } from "@longhaul/core/models";
import { type BackgroundAgent, readHostState } from "@longhaul/core/restore";
import type { AgentEvent, RunResult } from "../agent-events.ts";
import type { AgentType } from "../agent-options.ts";
import { agentsFolder } from "../agent-session.ts";
import type { SharedServices } from "../shared-services.ts";
import { failure, type ToolOutcome } from "../tool.ts";
import type { AgentRoster, SubagentTask } from "../workplace.ts";
import type { SubagentRun } from "./subagent.ts";

/**
 * Maximum number of agents in the background. Each is a separate conversation that calls a model. Nobody
 * intends to start more at the same time.
 */
const MAX_IN_BACKGROUND = 8;
const GENERAL: AgentType = {
  name: "general-purpose",
  description: "Any task that does not need this conversation, such as a search through many files.",
};

interface RosterOptions {
  readonly services: SharedServices;
  /** Entries of the resumed session. */
  readonly conversation: readonly Entry[];
  readonly run: (subagent: SubagentRun) => Promise<RunResult>;
  readonly emit: (event: AgentEvent) => void;
}

export class Roster implements AgentRoster {
  readonly types: readonly AgentType[];
  readonly #options: RosterOptions;
  readonly #records = new Map<string, AgentRecord>();
  /** Agents that the caller waits for. */
  readonly #inForeground = new Set<Promise<unknown>>();

  constructor(options: RosterOptions) {
    this.#options = options;
    this.types = [GENERAL, ...(options.services.options.agentTypes ?? [])];
    // Agents of an earlier process ended when that process ended. Their finished results are still readable.
    for (const known of readHostState(options.conversation).agents) this.#adopt(known);
  }

  async start(task: SubagentTask, { signal }: { readonly signal: AbortSignal }): Promise<ToolOutcome> {
    const type = this.types.find(({ name }) => name === (task.type ?? GENERAL.name));
    if (type === undefined) return this.#unknownType(task.type ?? "");
    if (task.isBackground) return this.#startInBackground(task, type);
    const run = this.#options.run({ id: this.#newId(), type, task, signal });
    const ended = run.catch(() => undefined).finally(() => this.#inForeground.delete(ended));
    this.#inForeground.add(ended);
    const result = await run;
    signal.throwIfAborted();
    return outcomeOf(result);
  }

  list(): readonly BackgroundAgent[] {
    return [...this.#records.values()]
      .filter(({ isCollected, status }) => status === "running" || !isCollected)
      .map(({ id, description, status, outputPath }) => ({ id, description, status, outputPath }));
  }

  async collect(
    id: string,
    { wait, signal }: { readonly wait: number; readonly signal: AbortSignal },
  ): Promise<ToolOutcome> {
    const record = this.#records.get(id);
    if (record === undefined) return this.#unknownAgent(id);
    if (record.status === "running" && wait > 0) {
      const timer = new AbortController();
      const over = sleep(wait, undefined, { signal: timer.signal }).catch(() => undefined);
      await untilAborted(signal, Promise.race([record.ended, over])).catch(() => undefined);
      timer.abort();
    }
    signal.throwIfAborted();
    if (record.status === "running") {
      const content = `<status>running</status>\nThe agent "${record.description}" is still running. Continue with something else.`;
      return { content, summary: "still running" };
    }
    record.isCollected = true;
    record.isTold = true;
    const {
      status,
      outputPath,
      result = `(The result is no longer available here. It should be in ${outputPath}.)`,
    } = record;
    return {
      content: `<status>${status}</status>\n${result}`,
      isError: status === "failed",
      summary: status,
    };
  }

  async stop(id: string): Promise<ToolOutcome> {
    const record = this.#records.get(id);
    if (record === undefined) return this.#unknownAgent(id);
    if (record.status !== "running") return { content: `${id} has already ended (${record.status}).` };
    record.abort.abort();
    await record.ended;
    record.isCollected = true;
    record.isTold = true;
    return { content: `${id} was stopped.\n${record.result ?? ""}`, summary: "stopped" };
  }

  news(): readonly string[] {
    return [...this.#records.values()]
      .filter(({ status, isTold }) => status !== "running" && !isTold)
      .map(notificationOf);
  }

  async close(): Promise<void> {
    const running = this.#running();
    for (const { abort } of running) abort.abort();
    // Foreground agents end with the run that waits for them.
    await Promise.all([...running.map(({ ended }) => ended), ...this.#inForeground]);
  }

  #startInBackground(task: SubagentTask, type: AgentType): ToolOutcome {
    if (this.#running().length >= MAX_IN_BACKGROUND)
      return failure(
        `${MAX_IN_BACKGROUND} agents are already running in the background. Wait for one of them with TaskOutput, or stop one, before you start another.`,
        "too many agents",
      );
    const id = this.#newId();
    const outputPath = this.#outputPathOf(id);
    const record = recordOf({ id, description: task.description, status: "running", outputPath });
    this.#records.set(id, record);
    record.ended = this.#see(record, this.#options.run({ id, type, task, signal: record.abort.signal }));
    // Session readers recognize the start of an agent by the first words and the two field names of this
    // text.
    const content = `Async agent launched. You will be notified when it ends. Call TaskOutput to wait for it.\nagentId: ${id}\noutput_file: ${outputPath}`;
    return { content, summary: `${id} in the background` };
  }

  async #see(record: AgentRecord, run: Promise<RunResult>): Promise<void> {
    const result = await run.catch(failed);
    record.result = wordsOf(result);
    await mkdir(agentsFolder(this.#options.services.sessionPath), { recursive: true, mode: 0o700 })
      .then(() => writeFile(record.outputPath, record.result ?? "", { mode: 0o600 }))
      // If the result cannot be written, it is still in memory, and the conversation still gets it.
      .catch(() => undefined);
    const isStopped = record.abort.signal.aborted;
    record.status = isStopped ? "stopped" : result.reason === "failed" ? "failed" : "completed";
    this.#options.emit({
      type: "notice",
      text: `The agent "${record.description}" has ended: ${record.status}.`,
    });
  }

  /**
   * Registers an agent of an earlier process. That agent may have written a result that it never reported.
   */
  #adopt(known: BackgroundAgent): void {
    const written = this.#writtenResult(known.id);
    const wasRunning = known.status === "running";
    const isLost = wasRunning && written === undefined;
    this.#records.set(known.id, {
      ...recordOf(known),
      ...(wasRunning ? { status: isLost ? "stopped" : "completed" } : {}),
      result: isLost ? "The program ended before the agent finished." : written,
      isTold: !wasRunning,
    });
  }

  #running(): readonly AgentRecord[] {
    return [...this.#records.values()].filter(({ status }) => status === "running");
  }

  /**
   * Reads a written result. Reads only files that our own agents write, because anybody may have written the
   * paths in a session.
   */
  #writtenResult(id: string): string | undefined {
    if (!/^\w+$/.test(id)) return undefined;
    try {
      return readFileSync(this.#outputPathOf(id), "utf8");
    } catch {
      return undefined;
    }
  }

  #outputPathOf(id: string): string {
    return join(agentsFolder(this.#options.services.sessionPath), `${id}.md`);
  }

  /**
   * Creates an id with only letters and digits, because session readers cut the id at the first other
   * character.
   */
  #newId(): string {
    return `a${this.#options.services.ports.newUuid().replaceAll("-", "").slice(0, 10)}`;
  }

  #unknownType(type: string): ToolOutcome {
    const names = this.types.map(({ name }) => name).join(", ");
    return { content: `There is no agent type ${type}. Available types: ${names}.`, isError: true };
  }

  #unknownAgent(id: string): ToolOutcome {
    const ids = [...this.#records.keys()].join(", ");
    return {
      content: `There is no agent ${id}.${ids === "" ? "" : ` Known agents: ${ids}.`}`,
      isError: true,
    };
  }
}

const failed = (cause: unknown): RunResult => {
  const words = cause instanceof Error ? cause.message : String(cause);
  const error = new LonghaulError("agent-failed", `The agent failed unexpectedly: ${words}`, {
    remedy: "The main conversation is intact. Start the agent again, and report this error.",
    cause,
  });
  return { reason: "failed", error, text: "", turns: 0 };
};

function outcomeOf(result: RunResult): ToolOutcome {
  const { reason, turns } = result;
  const summary = `${turns} turn${turns === 1 ? "" : "s"}${reason === "answered" ? "" : ` · ${reason}`}`;
  return { content: wordsOf(result), isError: reason !== "answered", summary };
}

interface AgentRecord extends Omit<BackgroundAgent, "status" | "outputPath"> {
  readonly outputPath: string;
  readonly abort: AbortController;
  status: BackgroundAgent["status"];
  /** Outcome as text for the model. Undefined while the agent runs. */
  result: string | undefined;
  /** True if the main conversation has the result. */
  isCollected: boolean;
  /** True if the main conversation knows that the agent has ended. */
  isTold: boolean;
  /** Resolves when the agent has ended for any reason. Never rejects. */
  ended: Promise<void>;
}

const recordOf = ({ id, description, status, outputPath = "" }: BackgroundAgent): AgentRecord => ({
  ...{ id, description, status, outputPath },
  abort: new AbortController(),
  result: undefined,
  isCollected: false,
  isTold: false,
  ended: Promise.resolve(),
});

/**
 * Describes the result of a run for the caller. The description contains the answer, or the error and the
 * text before it.
 */
function wordsOf({ reason, text, error }: RunResult): string {
  if (reason === "answered") return text || "(The agent ended without an answer.)";
  const why = {
    aborted: "The agent was stopped before it finished.",
    "turn-limit": "The agent reached its turn limit before it finished.",
    failed:
      error?.code === "agent-failed"
        ? error.message
        : `The agent failed: ${error?.message ?? "unknown error"}`,
  }[reason];
  return text === "" ? why : `${why}\n\nIts last text:\n${text}`;
}

/** Maximum length of a notification, so that it cannot fill the window. TaskOutput returns longer results. */
const LONGEST_NEWS_CHARS = 4_000;

/**
 * Writes a notification in the form of session files, so that a reader knows which results were delivered.
 */
function notificationOf(record: AgentRecord): string {
  const { id, description, status, outputPath, result = "" } = record;
  const isWhole = result.length <= LONGEST_NEWS_CHARS;
  const lines = [
    "<task-notification>",
    `<task-id>${id}</task-id>`,
    `<status>${status}</status>`,
    `<summary>The agent "${description.replaceAll(/[<>\s]+/g, " ")}" has ended.</summary>`,
    `<output-file>${outputPath}</output-file>`,
    ...(isWhole
      ? [`<result>\n${result}\n</result>`]
      : [`The result is long. Call TaskOutput with task_id ${id} to read it.`]),
    "</task-notification>",
  ];
  record.isTold = true;
  record.isCollected ||= isWhole;
  return lines.join("\n");
}
