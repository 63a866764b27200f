import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { LonghaulError } from "@longhaul/core/errors";
import type { CacheTtl, EffectiveSettings, ResolvedWindowOptions } from "@longhaul/core/measure";
import type { ReplayPolicyName } from "@longhaul/lab";
import {
  EVALUATED_WINDOW_TOKENS,
  type PolicyReplay,
  type Replay,
  type ReplayOptions,
  type ReplayTotal,
  type Rival,
  replayChart,
  replayEntries,
  replaySession,
  totalOfReplays,
} from "@longhaul/lab";
import { whyNotWritten } from "@longhaul/sessions/internal";
import { createDemoSession } from "@longhaul/simulator/internal";
import type { Composition } from "../composition.ts";
import { eachSession, GENERATED_SESSION } from "../each-session.ts";
import type { Terminal } from "../terminal.ts";
import { pricesWords } from "../view/cost-view.ts";
import { formatCount, formatDollars, formatPercent, formatShort, ID_SHOWN, plural } from "../view/numbers.ts";
import { breakdownTable, sessionsTable } from "../view/replay-breakdown.ts";
import { factsTitle, type Glossary, glossaryLines, titled } from "../view/sections.ts";
import { foldText } from "../view/text-width.ts";
import { windowWords } from "../window-report.ts";

export interface ReplayCommandOptions {
  readonly json?: boolean;
  /** True to use the generated demo session, for users without sessions. */
  readonly generated?: boolean;
  readonly policies?: readonly ReplayPolicyName[];
  readonly window?: number;
  readonly cacheTtl?: CacheTtl;
  /** Model whose prices to use. */
  readonly model?: string;
  /** Output file of the chart. */
  readonly svg?: string;
  readonly force?: boolean;
  /** True to show the costs by what they pay for. */
  readonly breakdown?: boolean;
}

/** Computes what sessions would have cost with longhaul and with other methods of context management. */
export async function replay(
  queries: readonly string[],
  options: ReplayCommandOptions,
  composition: Composition,
): Promise<void> {
  const { terminal } = composition;
  const { svg, force } = options;
  // Checks the output file before the work starts, because the work may take a while.
  if (svg !== undefined && !force && existsSync(svg)) throw exists(svg);
  const replays: Replay[] = [
    ...(await eachSession(queries, composition, (session) =>
      replaySession(session, replayOptions(session.id, options, composition)),
    )),
  ];
  if (options.generated) {
    const window = options.window ?? EVALUATED_WINDOW_TOKENS;
    const generated = replayOptions(GENERATED_SESSION.id, { ...options, window }, composition);
    replays.push(await replayEntries(GENERATED_SESSION, createDemoSession(), generated));
  }
  const chart = svg === undefined ? null : await drawChart(replays, svg, options);
  const report = { sessions: replays, total: totalOfReplays(replays), chart };
  terminal.print(options.json ? JSON.stringify(report, null, 2) : replayView(report, terminal, options));
}

function replayOptions(
  id: string,
  options: ReplayCommandOptions,
  { terminal, prices, settings }: Composition,
): ReplayOptions {
  const { policies, window: windowTokens, cacheTtl, model } = options;
  let shown = -1;
  return {
    policies,
    windowTokens,
    cacheTtl,
    model,
    prices,
    engine: { settings: windowSettings(settings) },
    onProgress: ({ policy, done, total }) => {
      const percent = Math.floor((done / total) * 100);
      if (percent === shown) return;
      shown = percent;
      terminal.progress(
        `${id === GENERATED_SESSION.id ? id : id.slice(0, ID_SHOWN)}: ${policy} … ${formatPercent(done / total)}`,
      );
    },
  };
}

/**
 * Returns the window settings. Omits the switches for compaction, clearing and context collapse, because a
 * replay always compacts.
 */
function windowSettings(settings: EffectiveSettings): ResolvedWindowOptions {
  const {
    compactEnabled: _,
    autoCompactEnabled: __,
    microcompactEnabled: ___,
    collapseEnabled: ____,
    ...window
  } = settings;
  return window;
}

async function drawChart(
  replays: readonly Replay[],
  path: string,
  { force }: ReplayCommandOptions,
): Promise<{ readonly path: string }> {
  try {
    await writeFile(path, replayChart(replays), { flag: force ? "w" : "wx" });
    return { path };
  } catch (cause) {
    const { code, reason } = whyNotWritten(cause);
    if (code === "EEXIST") throw exists(path);
    throw new LonghaulError("chart-not-written", `The chart ${path} was not written: ${reason}.`, {
      remedy: "Fix this and try again, or choose another name.",
      facts: { path },
      cause,
    });
  }
}

const exists = (path: string): LonghaulError =>
  new LonghaulError("chart-not-written", `The chart ${path} was not written: the file exists already.`, {
    remedy: "Choose another name, or pass --force to overwrite the file.",
    facts: { path },
  });

export interface ReplayReport {
  readonly sessions: readonly Replay[];
  /** All sessions combined. */
  readonly total: ReplayTotal;
  readonly chart: { readonly path: string } | null;
}

const GLOSSARY: Glossary = [
  ["summary", "cost of the summary calls"],
  ["rewrites", "how often the history was compacted, trimmed or cleared"],
  ["breaks", "calls that could not reuse all of a warm prompt cache"],
  ["waited", "how long turns waited for summaries"],
  ["kept", "probes that are in the context at the end"],
  ["peak", "the largest context"],
  ["everything", "keeps all messages, as if the window had no limit"],
];

export function replayView(
  { sessions, total, chart }: ReplayReport,
  terminal: Terminal,
  { breakdown = false }: Pick<ReplayCommandOptions, "breakdown"> = {},
): string {
  const { width } = terminal;
  const parts = sessions.map((replay) => sessionSection(replay, terminal));
  if (sessions.length > 1) {
    const notes = bySession(sessions).map((note) => foldText(note, width));
    parts.push([totalSection(`All ${sessions.length} sessions`, total, terminal), ...notes].join("\n"));
  }
  const table = sessions.length > 1 ? sessionsTable(sessions, terminal) : undefined;
  if (table !== undefined && width >= WIDE_FROM) parts.push(table);
  if (breakdown) parts.push(breakdownTable(total, terminal));
  if (chart !== null) parts.push(foldText(`Wrote the chart to ${chart.path}`, width));
  return [...parts, glossaryLines(GLOSSARY, terminal)].join("\n\n");
}

function sessionSection(replay: Replay, terminal: Terminal): string {
  const { session, window, cacheTtl, overhead } = replay;
  const facts = [
    `${windowWords(window)}, full at ${formatCount(window.autoCompact)}`,
    pricesWords(replay),
    `prompt cache lasts ${cacheTtl === "1h" ? "1 hour" : "5 minutes"}`,
    `${formatShort(overhead.tokens)} tokens for the system prompt and tools${recordedOverhead(replay)}`,
  ];
  const header = factsTitle("Session", session.id, facts.join(" · "), terminal);
  return `${header}\n\n${totalSection("Replay", replay, terminal)}`;
}

/**
 * Returns a text with the recorded size of system prompt and tools. The text is empty unless the replay used
 * a smaller size to fit its window.
 */
function recordedOverhead({ overhead: { tokens, recorded } }: Replay): string {
  return recorded === null || recorded <= tokens ? "" : ` (recorded: ${formatShort(recorded)})`;
}

function totalSection(title: string, total: ReplayTotal, terminal: Terminal): string {
  const { colors } = terminal;
  const said = `(${plural(total.calls, "model call")}, ${plural(total.probes, "probe")})`;
  const columns = COLUMNS.filter(
    ({ isWide, isLesser }) => terminal.width >= (isWide ? WIDE_FROM : isLesser ? MEDIUM_FROM : 0),
  );
  const titles = columns.map((column) => column.title);
  const rows = total.policies.map((policy) => columns.map(({ cell }) => cell(policy, total.probes)));
  const shown = rows.map(([policy = "", ...cells]) => [
    policy === "longhaul" ? colors.bold(policy) : policy,
    ...cells,
  ]);
  const notes = [...refusals(total), ...comparisons(total)].map((note) => foldText(note, terminal.width));
  return [titled(`${title} ${said}`, titles, shown, terminal), ...notes].join("\n");
}

interface ReplayColumn {
  readonly title: string;
  readonly cell: (policy: PolicyReplay, probes: number) => string;
  /** True for a column that a narrow terminal omits. */
  readonly isWide?: boolean;
  /** True for a column that only a very narrow terminal omits. */
  readonly isLesser?: boolean;
}

const COLUMNS: readonly ReplayColumn[] = [
  { title: "policy", cell: ({ policy }) => policy },
  { title: ">cost", cell: ({ cost }) => formatDollars(cost.total) },
  {
    title: ">summary",
    isWide: true,
    cell: ({ cost }) => (cost.summaries === 0 ? "–" : formatDollars(cost.summaries)),
  },
  {
    title: ">rewrites",
    isLesser: true,
    cell: ({ compactions, clearings }) => formatCount(compactions + clearings),
  },
  { title: ">breaks", isWide: true, cell: ({ cacheBreaks }) => formatCount(cacheBreaks) },
  { title: ">waited", isLesser: true, cell: ({ stallMs }) => formatWait(stallMs) },
  { title: ">kept", cell: ({ probesKept }, probes) => `${probesKept}/${probes}` },
  { title: ">peak", isWide: true, cell: ({ peakTokens }) => formatShort(peakTokens) },
];

const WIDE_FROM = 80;
const MEDIUM_FROM = 60;

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
        `${policy}: ${plural(refusedCalls, "call")} did not fit the window. The agent would have stopped there.`,
    );

/**
 * Explains the comparison of costs. If another policy keeps more probes than longhaul, the first sentence
 * says so.
 */
function comparisons({ comparison, policies, probes }: ReplayTotal): readonly string[] {
  if (comparison === null) return [];
  const { equal, fullest, everything, cheapest } = comparison;
  const kept = keptByUs(policies);
  const isFuller = fullest !== null && fullest.probesKept > kept;
  const isFullestTold = isFuller || equal !== null || fullest?.policy === cheapest?.policy;
  return [
    isFuller
      ? `longhaul keeps fewer probes than ${fullest.policy}: ${kept}, not ${fullest.probesKept}. It costs ${times(fullest)} as much.`
      : "",
    equal === null
      ? ""
      : `longhaul costs ${times(equal)} as much as ${equal.policy}, the cheapest other policy that keeps as many probes.`,
    equal !== null || cheapest === null
      ? ""
      : `No other policy keeps as many probes in this window. The cheapest, ${cheapest.policy}, keeps ${cheapest.probesKept} of ${probes}. longhaul costs ${times(cheapest)} as much.`,
    isFullestTold || fullest === null
      ? ""
      : `Of the other policies, ${fullest.policy} keeps the most probes: ${fullest.probesKept}. longhaul costs ${times(fullest)} as much.`,
    everything === null ? "" : `longhaul costs ${times(everything)} as much as keeping everything.`,
  ].filter((line) => line !== "");
}

/** Compares the policies session by session, because a total hides the effect of a few long sessions. */
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
      : ` longhaul costs ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} times as much as the cheapest of those.`;
  return [
    `In ${ratios.length} of ${compared.length} sessions another policy keeps as many probes as longhaul.${costs} In ${fewer} another policy keeps more.`,
  ];
}

const keptByUs = (policies: readonly PolicyReplay[]): number =>
  policies.find(({ policy }) => policy === "longhaul")?.probesKept ?? 0;

const times = ({ ratio }: Rival): string => `${ratio.toFixed(2)} times`;
