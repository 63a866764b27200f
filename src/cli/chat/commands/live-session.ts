import type { Agent } from "../../../agent/index.ts";
import { LonghaulError } from "../../../errors.ts";
import { loadSession } from "../../../transcript/load.ts";
import type { Session } from "../../../transcript/session.ts";

/** The session as it is on disk, with the conversation as the agent has it now. Undefined before anything was said. */
export async function liveSession(
  agent: Pick<Agent, "sessionPath" | "conversation">,
): Promise<Session | undefined> {
  try {
    const session = await loadSession(agent.sessionPath);
    return { ...session, conversation: agent.conversation };
  } catch (error) {
    const isNew = error instanceof LonghaulError && /^session-(?:not-found|empty)$/.test(error.code);
    if (isNew && agent.conversation.length === 0) return undefined;
    throw error;
  }
}

export const NOTHING_SAID = "Nothing has been said yet.";
