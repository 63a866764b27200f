import type { Agent, AgentEvent } from "../../../agent/index.ts";
import { contextFacts, errorFacts } from "./print-report.ts";

/** The first line of `stream-json`. */
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

/** One line for each event that is whole in itself; undefined for pieces of text, progress, and the end, which is a report. */
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
