import type { Rival } from "../../evaluate/replay/compare.ts";
import type { PolicyReplay, Replay, ReplayTotal } from "../../evaluate/replay/result.ts";
import type { Terminal } from "../terminal.ts";
import { pricesWords } from "./cost-view.ts";
import { formatCount, formatDollars, formatShort, plural } from "./numbers.ts";
import type { Column } from "./table.ts";
import { fitText, foldText } from "./text-width.ts";
import { titled } from "./titled-table.ts";
import { windowWords } from "./window-gauge.ts";

export interface ReplayReport {
  readonly sessions: readonly Replay[];
  /** All sessions as one. */
  readonly total: ReplayTotal;
  readonly chart: { readonly path: string } | null;
}

const HINT =
  "summary: what calls for summaries took of the cost. rewrites: how often the history was compacted, trimmed or cleared. breaks: calls that could read less from the warm prompt cache than the call before left there. waited: how long turns had to wait for summaries. kept: probes in the context at the end. peak: the largest context. everything: nothing is ever left out, as if the window had no end.";

export function replayView({ sessions, total, chart }: ReplayReport, terminal: Terminal): string {
  const { colours, width } = terminal;
  const parts = sessions.map((replay) => sessionSection(replay, terminal));
  if (sessions.length > 1) {
    const notes = bySession(sessions).map((note) => foldText(note, width));
    parts.push([totalSection(`All ${sessions.length} sessions:`, total, terminal), ...notes].join("\n"));
  }
  if (chart !== null) parts.push(foldText(`The chart is in ${chart.path}.`, width));
  return [...parts, colours.dim(foldText(HINT, width))].join("\n\n");
}

function sessionSection(replay: Replay, terminal: Terminal): string {
  const { session, window, cacheTtl, overhead } = replay;
  const { colours, width } = terminal;
  const facts = [
    `a ${windowWords(window)}, full at ${formatCount(window.autoCompact)}`,
    pricesWords(replay),
    `prompt cache of ${cacheTtl === "1h" ? "an hour" : "5 minutes"}`,
    `${formatShort(overhead.tokens)} tokens of system prompt and tools${recordedOverhead(replay)}`,
  ];
  const header = `${colours.bold("Session")} ${fitText(session.id, width - 8)}\n${colours.dim(foldText(facts.join(" · "), width))}`;
  return `${header}\n\n${totalSection("Replayed:", replay, terminal)}`;
}

/** A small window could not hold what a large one did. */
function recordedOverhead({ overhead: { tokens, recorded } }: Replay): string {
  return recorded === null || recorded <= tokens ? "" : ` (recorded: ${formatShort(recorded)})`;
}

function totalSection(title: string, total: ReplayTotal, terminal: Terminal): string {
  const { colours } = terminal;
  const said = `${plural(total.calls, "call")} of the model, ${plural(total.probes, "probe")}`;
  const columns = columnsFor(terminal);
  const rows = total.policies.map((policy) => columns.map(({ cell }) => cell(policy, total.probes)));
  const shown = rows.map(([policy = "", ...cells]) => [
    policy === "longhaul" ? colours.bold(policy) : policy,
    ...cells,
  ]);
  const notes = [...refusals(total), ...comparisons(total)].map((note) => foldText(note, terminal.width));
  return [titled(`${title} ${said}`, columns, shown, terminal), ...notes].join("\n");
}

interface ReplayColumn extends Column {
  readonly cell: (policy: PolicyReplay, probes: number) => string;
  /** Left out where there is little room. */
  readonly isWide?: boolean;
}

const COLUMNS: readonly ReplayColumn[] = [
  { title: "policy", cell: ({ policy }) => policy },
  { title: "cost", align: "right", cell: ({ cost }) => formatDollars(cost.total) },
  {
    title: "summary",
    align: "right",
    isWide: true,
    cell: ({ cost }) => (cost.summaries === 0 ? "–" : formatDollars(cost.summaries)),
  },
  {
    title: "rewrites",
    align: "right",
    cell: (policy) => formatCount(policy.compactions + policy.clearings),
  },
  { title: "breaks", align: "right", isWide: true, cell: ({ cacheBreaks }) => formatCount(cacheBreaks) },
  { title: "waited", align: "right", cell: ({ stallMs }) => formatWait(stallMs) },
  { title: "kept", align: "right", cell: ({ probesKept }, probes) => `${probesKept}/${probes}` },
  { title: "peak", align: "right", isWide: true, cell: ({ peakTokens }) => formatShort(peakTokens) },
];

const WIDE_FROM = 80;

const columnsFor = ({ width }: Terminal): readonly ReplayColumn[] =>
  COLUMNS.filter(({ isWide }) => !isWide || width >= WIDE_FROM);

const MINUTE_MS = 60_000;

const formatWait = (milliseconds: number): string =>
  milliseconds < 10 * MINUTE_MS
    ? `${Math.round(milliseconds / 1_000)} s`
    : `${Math.round(milliseconds / MINUTE_MS)} min`;

const refusals = ({ policies }: ReplayTotal): readonly string[] =>
  policies
    .filter(({ refusedCalls }) => refusedCalls > 0)
    .map(
      ({ policy, refusedCalls }) =>
        `${policy}: ${plural(refusedCalls, "call")} too long for the window whatever was done; the agent would have stopped there.`,
    );

/** What the costs are relative to, said plainly; first of all where another keeps more. */
function comparisons({ comparison, policies, probes }: ReplayTotal): readonly string[] {
  if (comparison === null) return [];
  const { equal, fullest, everything, cheapest } = comparison;
  const lines: string[] = [];
  if (equal !== null) {
    lines.push(
      `longhaul costs ${times(equal)} what ${equal.policy} costs, the cheapest of the others that keeps as many probes.`,
    );
  } else if (cheapest !== null) {
    lines.push(
      `None of the others keeps as many probes in this window. The cheapest, ${cheapest.policy}, keeps ${cheapest.probesKept} of ${probes}; longhaul costs ${times(cheapest)} as much.`,
    );
  }
  const kept = keptByUs(policies);
  if (fullest !== null && fullest.probesKept > kept) {
    lines.unshift(
      `longhaul keeps fewer probes than ${fullest.policy}: ${kept}, not ${fullest.probesKept}; it costs ${times(fullest)} as much.`,
    );
  } else if (fullest !== null && equal === null && fullest.policy !== cheapest?.policy) {
    lines.push(
      `The one that keeps the most, ${fullest.policy}, keeps ${fullest.probesKept}; longhaul costs ${times(fullest)} as much.`,
    );
  }
  if (everything !== null)
    lines.push(`longhaul costs ${times(everything)} what keeping everything would, had it fitted.`);
  return lines;
}

/** A sum hides what a few long sessions make of it. */
function bySession(sessions: readonly Replay[]): readonly string[] {
  const compared = sessions.flatMap(({ comparison, policies }) =>
    comparison === null ? [] : [{ ...comparison, kept: keptByUs(policies) }],
  );
  if (compared.length === 0) return [];
  const ratios = compared.flatMap(({ equal }) => equal?.ratio ?? []);
  const fewer = compared.filter(({ fullest, kept }) => (fullest?.probesKept ?? 0) > kept).length;
  const costs =
    ratios.length === 0
      ? ""
      : `; longhaul costs ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} times what the cheapest of those does`;
  return [
    `Session by session: in ${ratios.length} of ${compared.length} another policy keeps as many probes as longhaul${costs}. In ${fewer} another keeps more.`,
  ];
}

const keptByUs = (policies: readonly PolicyReplay[]): number =>
  policies.find(({ policy }) => policy === "longhaul")?.probesKept ?? 0;

const times = ({ ratio }: Rival): string => `${ratio.toFixed(2)} times`;
