import { responses } from "../../../transcript/responses.ts";
import type { Session } from "../../../transcript/session.ts";
import type { PriceTable } from "../../../window/prices.ts";
import { costReport } from "../../cost-report.ts";
import { costSection } from "../../view/cost-view.ts";
import { formatCount, formatDollars } from "../../view/numbers.ts";
import { titled } from "../../view/titled-table.ts";
import { rowOf, summed, type Tally, type TallyRow } from "../tally.ts";
import type { ChatCommand } from "./command.ts";
import { liveSession } from "./live-session.ts";

export const costCommand: ChatCommand = {
  name: "/cost",
  about: "calls, tokens and dollars so far, and what the next turns will cost",
  run: async (_, { agent, tally, composition, terminal, say }) => {
    const { prices, now } = composition;
    const session = await liveSession(agent);
    const next =
      session &&
      costReport(session, {
        thresholds: agent.reading.thresholds,
        contextTokens: agent.reading.tokens,
        now: now(),
        prices,
        compaction: { summaryBy: agent.model.name },
      });
    const columns = [
      { title: "" },
      ...["calls", "input", "cache read", "cache write", "output", "cost"].map(
        (title) => ({ title, align: "right" }) as const,
      ),
    ];
    say(
      [
        titled("Used so far", columns, rowsOf(session, tally, prices), terminal),
        costSection(next, agent.model.name, terminal),
      ]
        .filter((section) => section !== "")
        .join("\n\n"),
    );
  },
};

/** Of the conversation, everything in the file; what else was called is known since the program was started. */
function rowsOf(
  session: Session | undefined,
  tally: Tally,
  prices: PriceTable,
): readonly (readonly string[])[] {
  const others = [
    ["Subagents", tally.of("subagents")],
    ["Compactions", tally.of("compactions")],
    ["Notes", tally.of("notes")],
  ] as const;
  return [
    rowCells("This session", sessionRow(session, prices)),
    ...others.filter(([, row]) => row.calls > 0).map(([name, row]) => rowCells(name, row)),
    rowCells("Since you started it", tally.total()),
  ];
}

function sessionRow(session: Session | undefined, prices: PriceTable): TallyRow {
  const nothing = rowOf({ input_tokens: 0, output_tokens: 0 }, "", 0, prices);
  return responses(session?.entries ?? [])
    .filter(({ isSynthetic, usage }) => !isSynthetic && usage !== undefined)
    .map(({ usage, model }) =>
      rowOf(
        {
          ...usage,
          cache_read_input_tokens: usage?.cache_read_input_tokens ?? 0,
          cache_creation_input_tokens: usage?.cache_creation_input_tokens ?? 0,
        },
        model ?? "",
        1,
        prices,
      ),
    )
    .reduce(summed, { ...nothing, dollars: 0 });
}

const rowCells = (name: string, row: TallyRow): readonly string[] => [
  name,
  ...[row.calls, row.inputTokens, row.cacheReadTokens, row.cacheWriteTokens, row.outputTokens].map(
    formatCount,
  ),
  row.dollars === undefined ? "?" : formatDollars(row.dollars),
];
