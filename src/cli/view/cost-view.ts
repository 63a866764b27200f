import type { CompactCost } from "../compact-cost.ts";
import type { CostReport, OptionReport } from "../cost-report.ts";
import type { Terminal } from "../terminal.ts";
import { formatCount, formatDollars, plural } from "./numbers.ts";
import type { Column } from "./table.ts";
import { foldText, oneLine } from "./text-width.ts";
import { titled } from "./titled-table.ts";

const NAMES: Readonly<Record<OptionReport["name"], string>> = {
  nothing: "go on",
  clear: "clear",
  compact: "compact",
};

const COLUMNS: readonly Column[] = [
  { title: "" },
  { title: "now", align: "right" },
  { title: "a turn", align: "right" },
  { title: "in all", align: "right" },
  { title: "frees", align: "right" },
  { title: "pays after", align: "right" },
];

/** What the next calls will cost, on each way to go on, and which of them is worth it. */
export function costSection(
  cost: CostReport | null | undefined,
  model: string | null,
  terminal: Terminal,
): string {
  if (cost === undefined) return "";
  const folded = (text: string): string => foldText(`  ${text}`, terminal.width, "  ");
  if (cost === null) {
    if (model === null) return "";
    const unknown = `The prices of ${oneLine(model)} are not known; longhaul's settings.json takes your own as "prices".`;
    return [terminal.colours.bold("What it costs"), terminal.colours.dim(folded(unknown))].join("\n");
  }
  const rows = cost.options.map((option) => [
    NAMES[option.name],
    formatDollars(option.costNow),
    formatDollars(option.costPerTurn),
    formatDollars(option.total),
    option.name === "nothing" ? "" : formatCount(option.tokensSaved),
    option.name === "nothing" ? "" : breakEvenWords(option.breakEvenTurns),
  ]);
  const title = `What it costs ${terminal.colours.dim(`(prompts over the next ${plural(cost.expectedTurns, "turn")})`)}`;
  return [
    titled(title, COLUMNS, rows, terminal),
    terminal.colours.dim(folded(nextTurnWords(cost))),
    folded(recommendation(cost)),
  ].join("\n");
}

/** What a compaction costs and brings. */
export function compactCostSection(cost: CompactCost | null, { colours, width }: Terminal): string {
  if (cost === null) return "";
  const { rewrite, savedPerTurn, breakEvenTurns, expectedTurns, netSaving } = cost;
  const lines = [
    callWords(cost),
    rewrite === 0
      ? "no rewrite to pay for: the provider's cache has gone cold"
      : `${formatDollars(rewrite)} to write the result to the provider's cache`,
    `${formatDollars(savedPerTurn)} less for each prompt after it; pays ${breakEvenTurns === null ? "never" : afterWords(breakEvenTurns)}`,
    netSaving < 0
      ? `${formatDollars(-netSaving)} more than it saves over the next ${plural(expectedTurns, "turn")}`
      : `${formatDollars(netSaving)} saved over the next ${plural(expectedTurns, "turn")}, net of all that`,
  ];
  const indent = " ".repeat(12);
  return lines
    .map((line, at) =>
      foldText(`${at === 0 ? colours.bold("Cost".padEnd(12)) : indent}${line}`, width, indent),
    )
    .join("\n");
}

const afterWords = (turns: number): string =>
  turns <= 1 ? breakEvenWords(turns) : `after ${breakEvenWords(turns)}`;

function callWords({ call }: CompactCost): string {
  if (call === null) return "no call for the summary";
  const { model, inputTokens, outputTokens, cost, isEstimate } = call;
  const size = `${formatCount(inputTokens)} tokens in, ${formatCount(outputTokens)} out`;
  const name = oneLine(model);
  return isEstimate
    ? `about ${formatDollars(cost)} for a summary by ${name} (${size}); nothing by the built-in summariser`
    : `${formatDollars(cost)} for the summary by ${name} (${size})`;
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
  if (chosen === "nothing") return "Best left as it is: a rewrite would cost more than it saves.";
  const saved = (options[0]?.total ?? 0) - (options.find(({ name }) => name === chosen)?.total ?? 0);
  const command = `longhaul ${chosen} SESSION`;
  return saved > 0
    ? `Best: ${command} (about ${formatDollars(saved)} less over these turns).`
    : `Best: ${command}. The window is full.`;
}
