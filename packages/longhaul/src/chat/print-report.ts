import type { Agent, AgentEvent, PermissionRule, RunResult } from "@longhaul/agent";
import type { LonghaulError } from "@longhaul/core/errors";
import type { WindowOrigin } from "@longhaul/core/measure";
import { reportWindow } from "../window-report.ts";
import type { Tally, TallyRow } from "./tally.ts";

/**
 * Output format of `chat -p --output-format json`, and of the last line of `stream-json`. Stable: see
 * docs/json.md.
 */
interface PrintReport {
  readonly type: "end";
  readonly session: { readonly id: string; readonly path: string };
  readonly model: string;
  readonly reason: RunResult["reason"];
  /** Text of the last answer. */
  readonly text: string;
  readonly turns: number;
  readonly usage: Omit<TallyRow, "dollars">;
  /** Cost in dollars. Null if the prices of a model are unknown. */
  readonly cost: number | null;
  readonly compactions: number;
  readonly context: ContextFacts;
  /** Calls that were refused because nobody could be asked. */
  readonly refused: readonly RefusedCall[];
  /** The error that ended the run. Null after an answer. */
  readonly error: ErrorFacts | null;
}

export interface RefusedCall {
  readonly title: string;
  readonly rule: PermissionRule;
  /** Flag that would allow the call. Null if there is none. */
  readonly flag: string | null;
}

interface ContextFacts {
  readonly tokens: number;
  readonly window: number;
  readonly windowOrigin: WindowOrigin;
  /** Threshold of automatic compaction in tokens. Null if there is no automatic compaction. */
  readonly autoCompact: number | null;
}

export function contextFacts({ reading: { tokens, thresholds } }: Pick<Agent, "reading">): ContextFacts {
  const { size, origin, autoCompact } = reportWindow(thresholds);
  return { tokens, window: size, windowOrigin: origin, autoCompact };
}

interface ErrorFacts {
  readonly code: string;
  readonly message: string;
  readonly remedy: string | null;
}

export const errorFacts = ({ code, message, remedy }: LonghaulError): ErrorFacts => ({
  code,
  message,
  remedy: remedy ?? null,
});

interface PrintedRun {
  readonly tally: Tally;
  readonly compactions: number;
  readonly refused: readonly RefusedCall[];
}

export function printReport(
  agent: Agent,
  { reason, text, turns }: RunResult,
  error: LonghaulError | undefined,
  { tally, compactions, refused }: PrintedRun,
): PrintReport {
  const { dollars, ...usage } = tally.total();
  return {
    type: "end",
    session: { id: agent.sessionId, path: agent.sessionPath },
    model: agent.model.name,
    reason,
    text,
    turns,
    usage,
    cost: dollars ?? null,
    compactions,
    context: contextFacts(agent),
    refused,
    error: error === undefined ? null : errorFacts(error),
  };
}

/** Returns the first line of `stream-json`. */
export function initLine(agent: Agent, version: string): object {
  return {
    type: "init",
    version,
    session: { id: agent.sessionId, path: agent.sessionPath },
    model: agent.model.name,
    cwd: agent.cwd,
    context: contextFacts(agent),
    tools: agent.tools.map(({ definition }) => definition.name),
    planMode: agent.isPlanMode,
  };
}

/**
 * Returns the `stream-json` line of an event. Returns undefined for pieces of text and for progress. Also
 * returns undefined for the end of the run, because the report describes it.
 */
export function streamLine(event: AgentEvent): object | undefined {
  switch (event.type) {
    case "entry":
    case "compactor":
    case "retry":
    case "hook":
    case "refused":
    case "notice":
      return event;
    case "problem":
      return { type: "problem", error: errorFacts(event.error) };
    case "agent": {
      const inner = streamLine(event.event);
      return inner && { type: "agent", agentId: event.agentId, description: event.description, event: inner };
    }
    default:
      return undefined;
  }
}
