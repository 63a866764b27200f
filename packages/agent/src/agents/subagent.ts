import { join } from "node:path";
import { LonghaulError, type Model } from "@longhaul/core";
import { type AgentCompactor, Conversation, type ConversationSpec } from "../agent-conversation.ts";
import type { AgentEvent, RunResult } from "../agent-events.ts";
import type { AgentType } from "../agent-options.ts";
import { agentsFolder, lazyTranscript } from "../agent-session.ts";
import { createAgentState } from "../agent-state.ts";
import type { SharedServices } from "../shared-services.ts";
import type { ToolOutcome } from "../tool.ts";
import type { AgentRoster, AgentState, SubagentTask } from "../workplace.ts";

export interface Parent {
  readonly services: SharedServices;
  /** Current model at the start of the subagent. */
  readonly model: Model;
  readonly windowTokens: number | undefined;
  readonly compactor: AgentCompactor;
  readonly state: AgentState;
  readonly emit: (event: AgentEvent) => void;
}

export interface SubagentRun {
  readonly id: string;
  readonly type: AgentType;
  readonly task: SubagentTask;
  readonly signal: AbortSignal;
}

/**
 * Runs a separate conversation from its task to its answer, with its own window, read state and transcript.
 */
export async function runSubagent(parent: Parent, run: SubagentRun): Promise<RunResult> {
  const { services } = parent;
  const { id, task, signal } = run;
  const { description } = task;
  const emit = (event: AgentEvent): void => parent.emit({ type: "agent", agentId: id, description, event });
  const writer = lazyTranscript(join(agentsFolder(services.sessionPath), `${id}.jsonl`), 0);
  const conversation = conversationOf(parent, run, { writer, emit });
  try {
    await conversation.journal.say(task.prompt);
    const result = await conversation.loop.run(signal, services.options.maxTurns ?? Number.POSITIVE_INFINITY);
    emit({ type: "ended", ...result });
    return result;
  } finally {
    // The subagent's answer is valid even if its transcript could not be written completely.
    const reportError = (error: unknown): void => {
      if (!(error instanceof LonghaulError)) throw error;
      emit({ type: "problem", error });
    };
    await conversation.close().catch(reportError);
    await writer.close().catch(reportError);
  }
}

function conversationOf(
  parent: Parent,
  { id, type, task }: SubagentRun,
  { writer, emit }: Pick<ConversationSpec, "writer" | "emit">,
): Conversation {
  const { planPath } = parent.state;
  return new Conversation(
    parent.services,
    {
      agentId: id,
      agentType: type,
      hasTool: (name) => hasTool(type, name),
      writer,
      entries: [],
      state: createAgentState({ planPath, main: parent.state }),
      agents: NO_AGENTS,
      emit,
    },
    {
      model: type.model ?? parent.model,
      windowTokens: type.windowTokens ?? (type.model === undefined ? parent.windowTokens : undefined),
      notes: undefined,
      create: ({ ports: _, settings: __, ...own }) =>
        parent.compactor.child({ ...own, agentId: id, description: task.description }),
    },
  );
}

/** Tools that no agent type gets. Subagents start no other agents, and plan mode belongs to the parent. */
const NOT_FOR_SUBAGENTS: ReadonlySet<string> = new Set([
  ...["Task", "TaskOutput", "TaskStop"],
  ...["EnterPlanMode", "ExitPlanMode"],
]);
/** Tools that an agent type gets only if it names them. */
const ONLY_BY_NAME: ReadonlySet<string> = new Set(["AskUserQuestion"]);

const hasTool = ({ tools }: AgentType, name: string): boolean =>
  !NOT_FOR_SUBAGENTS.has(name) && (tools === undefined ? !ONLY_BY_NAME.has(name) : tools.includes(name));

const noOutcome = async (): Promise<ToolOutcome> => ({
  content: "A subagent cannot start agents.",
  isError: true,
});

const NO_AGENTS: AgentRoster = {
  start: noOutcome,
  collect: noOutcome,
  stop: noOutcome,
  list: () => [],
  news: () => [],
  types: [],
};
