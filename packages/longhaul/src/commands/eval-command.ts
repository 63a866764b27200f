import type { PolicyName } from "@longhaul/lab";
import {
  asStream,
  type ChainEvaluation,
  type EvaluateOptions,
  type Evaluation,
  evaluateSession,
  evaluateStream,
  type MissingProbe,
  type PolicyEvaluation,
  PROBE_KINDS,
  type Tally,
  totalOf,
} from "@longhaul/lab";
import { createDemoSession } from "@longhaul/simulator/internal";
import type { Composition } from "../composition.ts";
import { eachSession, GENERATED_SESSION } from "../each-session.ts";
import type { Terminal } from "../terminal.ts";
import { pricesWords } from "../view/cost-view.ts";
import { formatCount, formatDollars, formatShort, plural } from "../view/numbers.ts";
import { factsTitle, titled } from "../view/sections.ts";
import { fitText, foldText, padEnd, textWidth } from "../view/text-width.ts";
import { windowWords } from "../window-report.ts";

export interface EvalOptions {
  readonly json?: boolean;
  /** The session of the demonstration, for those who have none at hand. */
  readonly generated?: boolean;
  readonly policies?: readonly PolicyName[];
  readonly compactions?: readonly number[];
  readonly window?: number;
  /** List what is not in the context. */
  readonly missing?: boolean;
}

/** What is still known of sessions after compactions in a chain, by this and by other ways to compact. */
export async function evaluate(
  queries: readonly string[],
  options: EvalOptions,
  composition: Composition,
): Promise<void> {
  const { terminal } = composition;
  const evaluations: Evaluation[] = [
    ...(await eachSession(queries, composition, (session) =>
      evaluateSession(session, evaluateOptions(session.id, options, composition)),
    )),
  ];
  if (options.generated) {
    const generated = evaluateOptions(GENERATED_SESSION.id, options, composition);
    evaluations.push(await evaluateStream(GENERATED_SESSION, asStream(createDemoSession()), generated));
  }
  const report = { sessions: evaluations, total: totalOf(evaluations) };
  terminal.print(options.json ? JSON.stringify(report, null, 2) : evalView(report, options, terminal));
}

function evaluateOptions(
  id: string,
  options: EvalOptions,
  { terminal, prices }: Composition,
): EvaluateOptions {
  return {
    policies: options.policies,
    compactions: options.compactions,
    windowTokens: options.window,
    prices,
    onProgress: ({ policy, compactions, done, total }) =>
      terminal.progress(
        `${id.slice(0, 8)}: ${policy}, ${plural(compactions, "compaction")} (${done + 1} of ${total}) …`,
      ),
  };
}

export interface EvalReport {
  readonly sessions: readonly Evaluation[];
  /** All sessions as one. */
  readonly total: readonly ChainEvaluation[];
}

/** Ours stand out among the others. */
const OURS: ReadonlySet<string> = new Set(["longhaul", "longhaul-hostile"]);

const HINT =
  "A probe is something that was said or done and that the agent needs again: what a person asked for, files, errors, answers, figures, open items. Active: what people asked for and nobody has settled. Costs: calls that wrote summaries, and what the cache had to take in anew.";

export function evalView(
  report: EvalReport,
  options: Pick<EvalOptions, "missing">,
  terminal: Terminal,
): string {
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
  { missing }: Pick<EvalOptions, "missing">,
  terminal: Terminal,
): readonly string[] {
  const { session, window, chains } = evaluation;
  const facts = `a ${windowWords(window)}, full at ${formatCount(window.autoCompact)} · ${pricesWords(evaluation)}`;
  return [
    factsTitle("Session", session.id, facts, terminal),
    ...chains.flatMap((chain) => [
      chainSection(chain, terminal),
      ...(missing ? [missingSection(chain, terminal)] : []),
    ]),
  ].filter((section) => section !== "");
}

/** In a narrow terminal only what matters most is shown. */
const WHOLE_WIDTH = 78;
const COLUMNS = ["policy", ">in context", ">recall", ">lost", ">active", ">tokens", ">cost"];
const LESSER_COLUMNS = [">recall", ">cost"];

function chainSection(chain: ChainEvaluation, terminal: Terminal, sessions = 1): string {
  const said = `${plural(chain.messages, "message")}, ${formatShort(chain.tokens)} tokens, ${plural(chain.probes, "probe")}`;
  const title = `After ${plural(chain.compactions, "compaction")} of ${said}`;
  const rows = chain.policies.map((policy) => policyRow(policy, chain.compactions * sessions, terminal));
  const isNarrow = terminal.width < WHOLE_WIDTH;
  const isShown = (_: unknown, column: number): boolean =>
    !isNarrow || !LESSER_COLUMNS.includes(COLUMNS[column] ?? "");
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
  const columns = ["in context", ...kinds.map((kind) => `>${kind}s`)];
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
