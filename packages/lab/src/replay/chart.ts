import type { ReplayPolicyName } from "../policy.ts";
import { type PlotOptions, plot, type Series, shortDollars, shortTokens } from "./plot.ts";
import type { PolicyReplay, Replay } from "./replay-result.ts";
import { element, label, line, type Svg, text } from "./svg.ts";

/**
 * This file draws two plots and a table as an SVG. The same replays always give the same SVG. The file uses
 * no chart package. Such packages need or contain a browser, which is much more code than this file.
 */

const WIDTH = 900;
const MARGIN = { left: 70, right: 30 };
const PLOT_WIDTH: number = WIDTH - MARGIN.left - MARGIN.right;
const HEAD_HEIGHT = 62;
const ROW_HEIGHT = 18;
const CONTEXT_HEIGHT = 220;
const COST_HEIGHT = 150;
/** Space between a legend and a plot, or between two plots. A title and an axis fit into it. */
const GAP = 64;
/** Factor that leaves free space above the highest line. */
const HEADROOM = 1.08;

/** Draws context size and cost over the calls of each session as an SVG document. */
export function replayChart(replays: Replay | readonly Replay[]): string {
  const all: readonly Replay[] = Array.isArray(replays) ? replays : [replays as Replay];
  const panels: Svg[] = [];
  let top = 0;
  for (const [index, replay] of all.entries()) {
    panels.push(...panelOf(replay, top, index));
    top += heightOf(replay);
  }
  const height = Math.max(top, HEAD_HEIGHT);
  const root = element(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      viewBox: `0 0 ${WIDTH} ${height}`,
      width: WIDTH,
      height,
      role: "img",
    },
    [
      element("title", {}, [text("Sessions replayed under several policies")]),
      element("style", {}, [text(STYLE)]),
      element("rect", { class: "paper", width: WIDTH, height }),
      ...panels,
    ],
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root.markup}\n`;
}

const heightOf = ({ policies }: Replay): number =>
  HEAD_HEIGHT + (policies.length + 1) * ROW_HEIGHT + CONTEXT_HEIGHT + COST_HEIGHT + 3 * GAP;

function panelOf(replay: Replay, top: number, index: number): readonly Svg[] {
  const contextTop = top + HEAD_HEIGHT + (replay.policies.length + 1) * ROW_HEIGHT + GAP - 14;
  const place = { x: MARGIN.left, width: PLOT_WIDTH };
  return [
    ...headOf(replay, top),
    ...legendOf(replay, top + HEAD_HEIGHT),
    plot({ ...place, ...contextPlot(replay), y: contextTop, height: CONTEXT_HEIGHT, id: `context-${index}` }),
    plot({
      ...place,
      ...costPlot(replay),
      y: contextTop + CONTEXT_HEIGHT + GAP,
      height: COST_HEIGHT,
      id: `cost-${index}`,
    }),
  ];
}

function headOf(
  { session, window, pricesOf, arePricesAssumed, cacheTtl, calls }: Replay,
  top: number,
): readonly Svg[] {
  const facts = [
    `${calls} calls`,
    `a window of ${shortTokens(window.size)} tokens`,
    `prices of ${pricesOf}${arePricesAssumed ? " (assumed)" : ""}`,
    `prompt cache of ${cacheTtl === "1h" ? "one hour" : "five minutes"}`,
  ];
  return [
    label(`Session ${session.id}`, 24, top + 30, { class: "title" }),
    label(facts.join(" · "), 24, top + 50, { class: "dim" }),
  ];
}

/** Right edges of the legend's columns. */
const COLUMNS: readonly { readonly title: string; readonly x: number }[] = [
  { title: "cost", x: 290 },
  { title: "compactions", x: 390 },
  { title: "cache breaks", x: 490 },
  { title: "waited", x: 570 },
  { title: "probes kept", x: 680 },
  { title: "largest context", x: 800 },
];

function legendOf({ policies, probes }: Replay, top: number): readonly Svg[] {
  const titles = COLUMNS.map(({ title, x }) =>
    label(title, x, top + 12, { class: "dim", "text-anchor": "end" }),
  );
  const rows = policies.flatMap((policy, index): readonly Svg[] => {
    const y = top + (index + 1) * ROW_HEIGHT + 12;
    const cells = cellsOf(policy, probes).map((cell, column) =>
      label(cell, COLUMNS[column]?.x ?? 0, y, { "text-anchor": "end" }),
    );
    return [
      line(24, y - 4, 58, y - 4, `line ${policy.policy}`),
      label(policy.policy, 68, y, policy.policy === "longhaul" ? { class: "strong" } : {}),
      ...cells,
    ];
  });
  return [...titles, ...rows];
}

const cellsOf = (policy: PolicyReplay, probes: number): readonly string[] => [
  shortDollars(policy.cost.total),
  String(policy.compactions),
  String(policy.cacheBreaks),
  `${Math.round(policy.stallMs / 1_000)} s`,
  `${policy.probesKept} of ${probes}`,
  shortTokens(policy.peakTokens),
];

type PlotContents = Pick<PlotOptions, "title" | "series" | "maximum" | "limit" | "format">;

function contextPlot({ policies, window }: Replay): PlotContents {
  // The line of the policy that keeps everything does not set the scale. It is so high that it would flatten
  // the other lines.
  const peaks = withinWindow(policies).map(({ peakTokens }) => peakTokens);
  const maximum = Math.max(1, ...(peaks.length === 0 ? [window.autoCompact] : peaks)) * HEADROOM;
  const isLimitVisible = window.autoCompact <= maximum;
  return {
    title: "Tokens in the context · a dot marks each rewrite of the history",
    series: policies.map((policy) => seriesOf(policy, ({ tokens }) => tokens, true)),
    maximum,
    ...(isLimitVisible
      ? { limit: { value: window.autoCompact, title: `full at ${shortTokens(window.autoCompact)}` } }
      : {}),
    format: shortTokens,
  };
}

/**
 * The line of the policy `everything` is cut off at a maximum cost. This factor times the highest cost of the
 * other policies is that maximum.
 */
const MAX_COST_MULTIPLE = 2;

function costPlot({ policies }: Replay): PlotContents {
  const highest = Math.max(0.01, ...withinWindow(policies).map(({ cost }) => cost.total));
  const all = Math.max(0.01, ...policies.map(({ cost }) => cost.total));
  const isAlone = withinWindow(policies).length === 0;
  return {
    title: "Dollars so far",
    series: policies.map((policy) => seriesOf(policy, ({ cost }) => cost, false)),
    maximum: (isAlone ? all : Math.min(all, highest * MAX_COST_MULTIPLE)) * HEADROOM,
    format: shortDollars,
  };
}

const withinWindow = (policies: readonly PolicyReplay[]): readonly PolicyReplay[] =>
  policies.filter(({ policy }) => policy !== "everything");

function seriesOf(
  { policy, turns }: PolicyReplay,
  figure: (turn: PolicyReplay["turns"][number]) => number,
  hasMarks: boolean,
): Series {
  const marks = hasMarks ? turns.flatMap(({ isRewritten }, index) => (isRewritten ? [index] : [])) : [];
  return { policy, values: turns.map(figure), marks };
}

interface LineStyle {
  readonly light: string;
  readonly dark: string;
  /** The line of longhaul is wider. The line of a policy that needs a larger window is dotted. */
  readonly width: number;
  readonly dash?: string;
}

/** Lightness and dashes distinguish the lines for readers who cannot see red or green. */
const LINES: Readonly<Record<ReplayPolicyName, LineStyle>> = {
  longhaul: { light: "#0057b8", dark: "#58a6ff", width: 2.5 },
  "longhaul-built-in": { light: "#0057b8", dark: "#58a6ff", width: 1.5, dash: "6 3" },
  "drop-oldest": { light: "#b35900", dark: "#f0a85c", width: 1.5 },
  "keep-last": { light: "#8a3ffc", dark: "#be95ff", width: 1.2 },
  "clear-results": { light: "#00796b", dark: "#4dd0c0", width: 1.5, dash: "8 2 2 2" },
  "plain-summary": { light: "#c2185b", dark: "#ff7eb6", width: 1.5 },
  everything: { light: "#707070", dark: "#a0a0a0", width: 1.2, dash: "2 3" },
};

const rulesOf = (tone: "light" | "dark"): string =>
  Object.entries(LINES)
    .map(([policy, style]) => `.${policy}{stroke:${style[tone]};fill:${style[tone]}}`)
    .join("");

const widths = Object.entries(LINES)
  .map(
    ([policy, { width, dash }]) =>
      `.line.${policy}{stroke-width:${width}${dash === undefined ? "" : `;stroke-dasharray:${dash}`}}`,
  )
  .join("");

/** Follows the reader's color scheme. A viewer without color schemes shows the light colors. */
const STYLE: string = [
  "text{font:12px system-ui,sans-serif;fill:#1f2328}",
  ".title{font-size:15px;font-weight:600}.dim{fill:#59636e}.strong{font-weight:600}",
  ".paper{fill:#fff}.axis{stroke:#818b98}.grid{stroke:#d8dee4}.limit{stroke:#818b98;stroke-dasharray:4 3}",
  rulesOf("light"),
  ".line{fill:none!important;stroke-linejoin:round}.mark{stroke:none}",
  widths,
  `@media (prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#9198a1}.paper{fill:#0d1117}.axis,.limit{stroke:#6e7681}.grid{stroke:#30363d}${rulesOf("dark")}}`,
].join("");
