import type { CostBreakdown, PolicyReplay, Replay, ReplayTotal } from "@longhaul/lab";
import type { Terminal } from "../terminal.ts";
import { formatDollars, ID_SHOWN } from "./numbers.ts";
import { titled } from "./sections.ts";

/** Rows of the table. Each row is one figure of a breakdown. */
const ROWS: readonly (readonly [name: string, of: (breakdown: CostBreakdown) => number])[] = [
  ["read: system prompt, tools", ({ read }) => read.frame],
  ["read: messages", ({ read }) => read.messages],
  ["read: summary", ({ read }) => read.summary],
  ["read: quoted facts", ({ read }) => read.facts],
  ["read: restored", ({ read }) => read.restored],
  ["written: new", ({ written }) => written.added],
  ["written: cache expired", ({ written }) => written.expired],
  ["written: summary", ({ written }) => written.summary],
  ["written: quoted facts", ({ written }) => written.facts],
  ["written: restored", ({ written }) => written.restored],
  ["written: kept messages", ({ written }) => written.kept],
  ["written: after clearing", ({ written }) => written.cleared],
  ["answers", ({ answers }) => answers],
  ["summary calls: input", ({ summaries }) => summaries.uncached + summaries.cached],
  ["summary calls: output", ({ summaries }) => summaries.output],
];

/** Policies with a column, the most important first. A narrow terminal shows fewer of them. */
const COLUMNS: readonly string[] = ["longhaul", "plain-summary", "clear-results"];
const SOURCE_WIDTH = 30;
const COLUMN_WIDTH = 15;

/** Returns a table of the costs by what they pay for. */
export function breakdownTable({ policies }: ReplayTotal, terminal: Terminal): string {
  const room = Math.max(1, Math.floor((terminal.width - SOURCE_WIDTH) / COLUMN_WIDTH));
  const chosen = COLUMNS.flatMap((name) => policies.find(({ policy }) => policy === name) ?? []);
  const shown = (chosen.length === 0 ? policies : chosen).slice(0, room);
  const row = (name: string, of: (policy: PolicyReplay) => number): readonly string[] => [
    name,
    ...shown.map((policy) => formatDollars(of(policy))),
  ];
  const rows = [
    ...ROWS.map(([name, of]) => row(name, ({ breakdown }) => of(breakdown))),
    row("total", ({ cost }) => cost.total),
  ];
  return titled("Cost by source", ["source", ...shown.map(({ policy }) => `>${policy}`)], rows, terminal);
}

/** Returns a table that compares longhaul with a plain summary in each session. */
export function sessionsTable(sessions: readonly Replay[], terminal: Terminal): string | undefined {
  const rows = sessions.flatMap(({ session, policies, comparison }) => {
    const ours = policies.find(({ policy }) => policy === "longhaul");
    const plain = policies.find(({ policy }) => policy === "plain-summary");
    if (ours === undefined || plain === undefined) return [];
    const equal = comparison?.equal;
    return [
      [
        session.id.slice(0, ID_SHOWN),
        formatDollars(ours.cost.total),
        formatDollars(plain.cost.total),
        plain.cost.total === 0 ? "–" : (ours.cost.total / plain.cost.total).toFixed(2),
        `${ours.probesKept}/${plain.probesKept}`,
        equal === null || equal === undefined ? "none" : `${equal.policy} ${equal.ratio.toFixed(2)}`,
      ],
    ];
  });
  if (rows.length === 0) return undefined;
  const titles = ["session", ">longhaul", ">plain", ">ratio", ">kept", "cheapest as full"];
  return titled("By session", titles, rows, terminal);
}
