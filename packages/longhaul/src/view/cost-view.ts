import type { CallCost } from "@longhaul/sessions/internal";
import type { CompactCost } from "../compact-cost.ts";
import type { CostReport, OptionReport } from "../cost-report.ts";
import type { Terminal } from "../terminal.ts";
import { formatCount, formatDollars, plural } from "./numbers.ts";
import { type Columns, indented, labeled, titled } from "./sections.ts";
import { oneLine } from "./text-width.ts";

const NAMES: Readonly<Record<OptionReport["name"], string>> = {
  nothing: "do nothing",
  clear: "clear",
  compact: "compact",
};

const COLUMNS: Columns = [
  "",
  { title: ">now", rank: 2 },
  { title: ">per turn", rank: 3 },
  ">total",
  { title: ">tokens freed", rank: 1 },
  ">pays off",
];

/** Names the model whose prices are used, and says whether these prices are only assumed. */
export function pricesWords({ session, pricesOf, arePricesAssumed }: Priced): string {
  const words = `prices of ${oneLine(pricesOf)}`;
  if (!arePricesAssumed) return words;
  return session.model === null
    ? `${words} (assumed: the session names no model)`
    : `${words} (assumed: the prices of ${oneLine(session.model)} are unknown)`;
}

interface Priced {
  readonly session: { readonly model: string | null };
  readonly pricesOf: string;
  readonly arePricesAssumed: boolean;
}

/** Compares the cost of the next calls for each option, and says which option is worthwhile. */
export function costSection(
  cost: CostReport | null | undefined,
  model: string | null,
  terminal: Terminal,
): string {
  if (!cost) return "";
  const { dim } = terminal.colors;
  const dimmed = (text: string): string => dim(indented(text, terminal));
  const rows = cost.options.map((option) => [
    NAMES[option.name],
    formatDollars(option.costNow),
    formatDollars(option.costPerTurn),
    formatDollars(option.total),
    option.name === "nothing" ? "" : formatCount(option.tokensSaved),
    option.name === "nothing" ? "" : breakEvenWords(option.breakEvenTurns),
  ]);
  const title = `Cost of the next ${plural(cost.expectedTurns, "turn")} ${dim("(input only)")}`;
  return [
    titled(title, COLUMNS, rows, terminal),
    ...assumedPrices(cost, model).map(dimmed),
    dimmed(nextTurnWords(cost)),
    ...(cost.options.some(({ name }) => name === "compact") ? [dimmed(callWords(cost))] : []),
    indented(recommendation(cost), terminal),
  ].join("\n");
}

/** Shows the cost and benefit of a compaction. */
export function compactCostSection(
  cost: CompactCost | null,
  model: string | null,
  terminal: Terminal,
): string {
  if (cost === null) return labeled("Cost", UNKNOWN_CALL, terminal);
  const { rewrite, savedPerTurn, breakEvenTurns, expectedTurns, netSaving } = cost;
  const lines = [
    ...assumedPrices(cost, model),
    callWords(cost),
    rewrite === 0
      ? "The prompt cache is cold, so there is nothing to rewrite."
      : `Writing the result to the prompt cache costs ${formatDollars(rewrite)}.`,
    `Each later call costs ${formatDollars(Math.abs(savedPerTurn))} ${savedPerTurn < 0 ? "more" : "less"}. ${payingWords(breakEvenTurns)}`,
    netSaving < 0
      ? `In total it costs ${formatDollars(-netSaving)} more over the next ${plural(expectedTurns, "turn")}.`
      : `In total it saves ${formatDollars(netSaving)} over the next ${plural(expectedTurns, "turn")}.`,
  ];
  return lines.map((line, at) => labeled(at === 0 ? "Cost" : "", line, terminal)).join("\n");
}

const OWN_PRICES = `Set your own prices in settings.json under "prices".`;
const UNKNOWN_CALL = `The price of the summary call is unknown. ${OWN_PRICES}`;

/** Returns a sentence about assumed prices. Empty if the prices are those of the session's model. */
function assumedPrices(
  { model: pricesOf, arePricesAssumed }: Pick<CostReport, "model" | "arePricesAssumed">,
  model: string | null,
): readonly string[] {
  if (!arePricesAssumed) return [];
  return [`With ${pricesWords({ session: { model }, pricesOf, arePricesAssumed })}. ${OWN_PRICES}`];
}

function payingWords(turns: number | null): string {
  if (turns === null) return "It never pays off.";
  return `It pays off ${turns <= 1 ? "at once" : `after ${plural(turns, "turn")}`}.`;
}

/** Shows the author and price of the summary. Marks a model that is only assumed. */
function callWords({ call, assumedCall }: Pick<CompactCost, "call" | "assumedCall">): string {
  const figures = ({ cost, inputTokens, outputTokens }: CallCost): string =>
    `${formatDollars(cost)} (${formatCount(inputTokens)} tokens in, ${formatCount(outputTokens)} out)`;
  if (call !== null)
    return call.isEstimate
      ? `A summary by ${oneLine(call.model)} costs about ${figures(call)}.`
      : `The summary by ${oneLine(call.model)} cost ${figures(call)}.`;
  if (assumedCall === null) return "The summary needs no model call.";
  return `The built-in summarizer is free. A summary by ${oneLine(assumedCall.model)} costs about ${figures(assumedCall)}.`;
}

function breakEvenWords(turns: number | null): string {
  if (turns === null) return "never";
  return turns <= 1 ? "at once" : `after ${plural(turns, "turn")}`;
}

function nextTurnWords({ nextTurn, cache }: CostReport): string {
  const { warm, cold } = nextTurn;
  const state = cache.isCold ? "cold" : "warm";
  return `The next call costs ${formatDollars(warm)} with a warm prompt cache and ${formatDollars(cold)} with a cold one. The cache is ${state} now.`;
}

function recommendation({ chosen, options }: CostReport): string {
  if (options.length === 1) return "There is nothing to clear or compact now.";
  if (chosen === "nothing") return "Recommended: do nothing. A compaction costs more than it saves.";
  const saved = (options[0]?.total ?? 0) - (options.find(({ name }) => name === chosen)?.total ?? 0);
  const command = `longhaul ${chosen} SESSION`;
  return saved > 0
    ? `Recommended: ${command} (saves about ${formatDollars(saved)}).`
    : `Recommended: ${command}. The window is full.`;
}
