import type { CallCost } from "@longhaul/sessions/internal";
import type { CompactCost } from "../compact-cost.ts";
import type { CostReport, OptionReport } from "../cost-report.ts";
import type { Terminal } from "../terminal.ts";
import { formatCount, formatDollars, plural } from "./numbers.ts";
import { indented, labelled, titled } from "./sections.ts";
import { oneLine } from "./text-width.ts";

const NAMES: Readonly<Record<OptionReport["name"], string>> = {
  nothing: "go on",
  clear: "clear",
  compact: "compact",
};

const COLUMNS = ["", ">now", ">a turn", ">in all", ">frees", ">pays after"];

/** The model whose prices are used, and whether that is an assumption. */
export function pricesWords({ session, pricesOf, arePricesAssumed }: Priced): string {
  const words = `prices of ${oneLine(pricesOf)}`;
  if (!arePricesAssumed) return words;
  return session.model === null
    ? `${words} (assumed: the session names no model)`
    : `${words} (assumed: those of ${oneLine(session.model)} are not known)`;
}

interface Priced {
  readonly session: { readonly model: string | null };
  readonly pricesOf: string;
  readonly arePricesAssumed: boolean;
}

/** What the next calls will cost, on each way to go on, and which of them is worth it. */
export function costSection(
  cost: CostReport | null | undefined,
  model: string | null,
  terminal: Terminal,
): string {
  if (!cost) return "";
  const { dim } = terminal.colours;
  const dimmed = (text: string): string => dim(indented(text, terminal));
  const rows = cost.options.map((option) => [
    NAMES[option.name],
    formatDollars(option.costNow),
    formatDollars(option.costPerTurn),
    formatDollars(option.total),
    option.name === "nothing" ? "" : formatCount(option.tokensSaved),
    option.name === "nothing" ? "" : breakEvenWords(option.breakEvenTurns),
  ]);
  const title = `What it costs ${dim(`(prompts over the next ${plural(cost.expectedTurns, "turn")})`)}`;
  return [
    titled(title, COLUMNS, rows, terminal),
    ...assumedPrices(cost, model).map(dimmed),
    dimmed(nextTurnWords(cost)),
    ...(cost.options.some(({ name }) => name === "compact") ? [dimmed(`compact: ${callWords(cost)}.`)] : []),
    indented(recommendation(cost), terminal),
  ].join("\n");
}

/** What a compaction costs and brings. */
export function compactCostSection(
  cost: CompactCost | null,
  model: string | null,
  terminal: Terminal,
): string {
  if (cost === null) return labelled("Cost", UNKNOWN_CALL, terminal);
  const { rewrite, savedPerTurn, breakEvenTurns, expectedTurns, netSaving } = cost;
  const lines = [
    ...assumedPrices(cost, model),
    callWords(cost),
    rewrite === 0
      ? "no rewrite to pay for: the provider's cache has gone cold"
      : `${formatDollars(rewrite)} to write the result to the provider's cache`,
    `${formatDollars(savedPerTurn)} less for each prompt after it; pays ${breakEvenTurns === null ? "never" : afterWords(breakEvenTurns)}`,
    netSaving < 0
      ? `${formatDollars(-netSaving)} more than it saves over the next ${plural(expectedTurns, "turn")}`
      : `${formatDollars(netSaving)} saved over the next ${plural(expectedTurns, "turn")}, net of all that`,
  ];
  return lines.map((line, at) => labelled(at === 0 ? "Cost" : "", line, terminal)).join("\n");
}

const OWN_PRICES = `longhaul's settings.json takes your own as "prices"`;
const UNKNOWN_CALL = `The price of the call for the summary is not known; ${OWN_PRICES}.`;

/** Nothing where the prices are those of the session's model. */
function assumedPrices(
  { model: pricesOf, arePricesAssumed }: Pick<CostReport, "model" | "arePricesAssumed">,
  model: string | null,
): readonly string[] {
  if (!arePricesAssumed) return [];
  return [`${pricesWords({ session: { model }, pricesOf, arePricesAssumed })}; ${OWN_PRICES}`];
}

const afterWords = (turns: number): string =>
  turns <= 1 ? breakEvenWords(turns) : `after ${breakEvenWords(turns)}`;

/** Who writes the summary and for how much; a model that is only assumed is named as such. */
function callWords({ call, assumedCall }: Pick<CompactCost, "call" | "assumedCall">): string {
  const figures = ({ cost, model, inputTokens, outputTokens }: CallCost): string =>
    `${formatDollars(cost)} for a summary by ${oneLine(model)} (${formatCount(inputTokens)} tokens in, ${formatCount(outputTokens)} out)`;
  if (call !== null) return call.isEstimate ? `about ${figures(call)}` : figures(call);
  if (assumedCall === null) return "no call for the summary";
  return `no call (longhaul writes the summary itself); with a model about ${figures(assumedCall)}`;
}

function breakEvenWords(turns: number | null): string {
  if (turns === null) return "never";
  return turns <= 1 ? "at once" : plural(turns, "turn");
}

function nextTurnWords({ nextTurn, cache }: CostReport): string {
  const { warm, cold } = nextTurn;
  const state = cache.isCold ? "it has gone cold" : "it is warm";
  return `The next prompt: ${formatDollars(warm)} out of the provider's cache, ${formatDollars(cold)} once that is gone; ${state}.`;
}

function recommendation({ chosen, options }: CostReport): string {
  if (options.length === 1) return "Neither clearing nor compacting is possible now.";
  if (chosen === "nothing") return "Best left as it is: a rewrite would cost more than it saves.";
  const saved = (options[0]?.total ?? 0) - (options.find(({ name }) => name === chosen)?.total ?? 0);
  const command = `longhaul ${chosen} SESSION`;
  return saved > 0
    ? `Best: ${command} (about ${formatDollars(saved)} less over these turns).`
    : `Best: ${command}. The window is full.`;
}
