import { ledgerReport } from "../../ledger-report.ts";
import { ledgerView } from "../../view/ledger-view.ts";
import type { ChatCommand } from "./command.ts";
import { liveSession, NOTHING_SAID } from "./live-session.ts";
import { misused } from "./misused.ts";

export const ledgerCommand: ChatCommand = {
  name: "/ledger",
  usage: "[all]",
  about: "what became of what was compacted away",
  values: ["all"],
  run: async (argument, { agent, terminal, say }) => {
    if (argument !== "" && argument !== "all") throw misused(ledgerCommand, argument);
    const session = await liveSession(agent);
    if (session === undefined) {
      say(NOTHING_SAID);
      return;
    }
    const all = argument === "all";
    const view = { session: agent.sessionId, all, kind: undefined };
    say(ledgerView(ledgerReport(session, { all }), view, terminal));
  },
};
