import { inspectSession } from "../../inspect-report.ts";
import { inspectView } from "../../view/inspect-view.ts";
import type { ChatCommand } from "./command.ts";
import { liveSession, NOTHING_SAID } from "./live-session.ts";

/** In a chat nobody thinks of a file. */
const OUTSIDE = { label: "System prompt and tools", note: "" };

/** The report of `longhaul inspect`, with the figures that the agent goes by. */
export const contextCommand: ChatCommand = {
  name: "/context",
  about: "where the tokens of the context are",
  run: async (_, { agent, terminal, say }) => {
    const session = await liveSession(agent);
    if (session === undefined) {
      say(NOTHING_SAID);
      return;
    }
    const { tokens, thresholds, window } = agent.reading;
    const report = inspectSession(session, thresholds);
    const { context, accounting } = report;
    const now = {
      ...report,
      session: { ...report.session, model: agent.model.name },
      context: {
        ...context,
        tokens,
        estimatedTokens: context.source === "usage" ? tokens - context.reportedTokens : tokens,
      },
      accounting: { ...accounting, notInFile: Math.max(0, tokens - accounting.total) },
      state: window,
    };
    say(inspectView(now, terminal, OUTSIDE));
  },
};
