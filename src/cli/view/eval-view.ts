import { PROBE_KINDS } from "../../evaluate/probes/probe.ts";
import type {
  ChainEvaluation,
  Evaluation,
  MissingProbe,
  PolicyEvaluation,
  Tally,
} from "../../evaluate/result.ts";
import type { Terminal } from "../terminal.ts";
import { pricesWords } from "./cost-view.ts";
import { formatCount, formatDollars, formatShort, plural } from "./numbers.ts";
import type { Column } from "./table.ts";
import { fitText, foldText, padEnd, textWidth } from "./text-width.ts";
import { titled } from "./titled-table.ts";
import { windowWords } from "./window-gauge.ts";

export interface EvalReport {
  readonly sessions: readonly Evaluation[];
  /** All sessions as one. */
  readonly total: readonly ChainEvaluation[];
}

export interface EvalViewOptions {
  readonly missing?: boolean;
}

/** Ours stand out among the others. */
const OURS: ReadonlySet<string> = new Set(["longhaul", "longhaul-hostile"]);

const HINT =
  "A probe is something that was said or done and that the agent needs again: what a person asked for, files, errors, answers, figures, open items. Active: what people asked for and nobody has settled. Costs: calls that wrote summaries, and what the cache had to take in anew.";

export function evalView(report: EvalReport, options: EvalViewOptions, terminal: Terminal): string {
  const { sessions, total } = report;
  const parts = sessions.flatMap((session) => sessionSections(session, options, terminal));
  if (sessions.length > 1) {
    parts.push(terminal.colours.bold(`All ${sessions.length} sessions`));
    parts.push(...total.map((chain) => chainSection(chain, terminal, sessions.length)));
  }
  return [...parts, terminal.colours.dim(foldText(HINT, terminal.width))].join("\n\n");
}

function sessionSections(
  evaluation: Evaluation,
  { missing }: EvalViewOptions,
  terminal: Terminal,
): readonly string[] {
  const { colours, width } = terminal;
  const { session, window, chains } = evaluation;
  const facts = `a ${windowWords(window)}, full at ${formatCount(window.autoCompact)} · ${pricesWords(evaluation)}`;
  const header = [
    `${colours.bold("Session")} ${fitText(session.id, width - 8)}`,
    colours.dim(foldText(facts, width)),
  ].join("\n");
  return [
    header,
    ...chains.flatMap((chain) => [
      chainSection(chain, terminal),
      ...(missing ? [missingSection(chain, terminal)] : []),
    ]),
  ].filter((section) => section !== "");
}

/** In a narrow terminal only what matters most is shown. */
const WHOLE_WIDTH = 78;
const COLUMNS: readonly (Column & { readonly isLesser?: boolean })[] = [
  { title: "policy" },
  { title: "in context", align: "right" },
  { title: "recall", align: "right", isLesser: true },
  { title: "lost", align: "right" },
  { title: "active", align: "right" },
  { title: "tokens", align: "right" },
  { title: "cost", align: "right", isLesser: true },
];

function chainSection(chain: ChainEvaluation, terminal: Terminal, sessions = 1): string {
  const said = `${plural(chain.messages, "message")}, ${formatShort(chain.tokens)} tokens, ${plural(chain.probes, "probe")}`;
  const title = `After ${plural(chain.compactions, "compaction")} of ${said}`;
  const rows = chain.policies.map((policy) => policyRow(policy, chain.compactions * sessions, terminal));
  const isNarrow = terminal.width < WHOLE_WIDTH;
  const isShown = (_: unknown, column: number): boolean => !isNarrow || COLUMNS[column]?.isLesser !== true;
  const main = titled(
    title,
    COLUMNS.filter(isShown),
    rows.map((row) => row.filter(isShown)),
    terminal,
  );
  return isNarrow || chain.probes === 0 ? main : `${main}\n\n${kindsSection(chain, terminal)}`;
}

function policyRow(result: PolicyEvaluation, wished: number, { colours }: Terminal): readonly string[] {
  const { policy, probes, activeDirectives, tokens, cost } = result;
  const often = result.compactions === wished ? "" : colours.dim(` ×${result.compactions}`);
  const isKept = activeDirectives.inContext === activeDirectives.total;
  return [
    `${OURS.has(policy) ? colours.bold(policy) : policy}${often}`,
    share(probes.inContext, probes),
    share(probes.recoverable, probes),
    probes.lost === 0 ? share(0, probes) : colours.red(share(probes.lost, probes)),
    (isKept ? colours.green : colours.red)(ofTotal(activeDirectives)),
    formatCount(tokens.last),
    formatDollars(cost.total),
  ];
}

function kindsSection(chain: ChainEvaluation, terminal: Terminal): string {
  const kinds = PROBE_KINDS.filter((kind) => chain.policies.some((policy) => policy.kinds[kind].total > 0));
  const columns: readonly Column[] = [
    { title: "in context" },
    ...kinds.map((kind): Column => ({ title: `${kind}s`, align: "right" })),
  ];
  const rows = chain.policies.map(({ policy, kinds: tallies }) => [
    policy,
    ...kinds.map((kind) => ofTotal(tallies[kind])),
  ]);
  return titled("By kind", columns, rows, terminal);
}

function missingSection(chain: ChainEvaluation, terminal: Terminal): string {
  const { colours } = terminal;
  const parts = chain.policies.flatMap(({ policy, missing }) => {
    if (missing.length === 0) return [];
    const lines = missing.map((probe) => missingLine(probe, terminal));
    return [[`${colours.bold(policy)} does not have in its context`, ...lines].join("\n")];
  });
  return parts.join("\n\n");
}

function missingLine({ id, text, fate, isActive }: MissingProbe, { colours, width }: Terminal): string {
  const where = padEnd(fate === "lost" ? colours.red("lost") : "recall", "recall".length);
  const name = `${where} ${id}${isActive ? colours.red(" active") : ""}`;
  return `  ${name} ${colours.dim(fitText(text, width - textWidth(name) - 3))}`;
}

/** Never rounded up to all, nor down to nothing. */
function share(count: number, { total }: Tally): string {
  if (total === 0) return "–";
  const percent = (count / total) * 100;
  if (percent > 99 && percent < 100) return `${(Math.floor(percent * 10) / 10).toFixed(1)}%`;
  return percent > 0 && percent < 1 ? "<1%" : `${Math.round(percent)}%`;
}

const ofTotal = ({ inContext, total }: Tally): string => `${inContext}/${total}`;
