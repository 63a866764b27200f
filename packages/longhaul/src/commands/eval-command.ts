import { PROMPT_VERSION } from "@longhaul/core/summary";
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
import { formatCount, formatDollars, formatShort, ID_SHOWN, plural } from "../view/numbers.ts";
import { type Columns, factsTitle, type Glossary, glossaryLines, titled } from "../view/sections.ts";
import { fitText, padEnd, textWidth } from "../view/text-width.ts";
import { windowWords } from "../window-report.ts";

export interface EvalOptions {
  readonly json?: boolean;
  /** True to use the generated demo session, for users without sessions. */
  readonly generated?: boolean;
  readonly policies?: readonly PolicyName[];
  readonly compactions?: readonly number[];
  readonly window?: number;
  /** True to list the probes that are not in the context. */
  readonly missing?: boolean;
}

/** Measures what is still known after a chain of compactions, for longhaul and for other methods. */
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
  const report = { promptVersion: PROMPT_VERSION, sessions: evaluations, total: totalOf(evaluations) };
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
        `${id === GENERATED_SESSION.id ? id : id.slice(0, ID_SHOWN)}: ${policy}, ${plural(compactions, "compaction")} (${done + 1} of ${total}) …`,
      ),
  };
}

export interface EvalReport {
  /** Version of the prompts that longhaul's policies use. */
  readonly promptVersion: number;
  readonly sessions: readonly Evaluation[];
  /** All sessions combined. */
  readonly total: readonly ChainEvaluation[];
}

/** Our own policies, which the table highlights. */
const OURS: ReadonlySet<string> = new Set(["longhaul", "longhaul-hostile"]);

const GLOSSARY: Glossary = [
  ["probe", "something that the agent needs again: a request, a file, an error, an answer, a number, a task"],
  ["in context", "probes that are still in the context"],
  ["recall", "probes that only a search finds"],
  ["lost", "probes that nothing finds"],
  ["active", "open requests that are still in the context"],
  ["cost", "summary calls, and rewrites of the prompt cache"],
];

export function evalView(
  report: EvalReport,
  options: Pick<EvalOptions, "missing">,
  terminal: Terminal,
): string {
  const { promptVersion, sessions, total } = report;
  const parts = sessions.flatMap((session) => sessionSections(session, options, terminal));
  if (sessions.length > 1) {
    parts.push(terminal.colors.bold(`All ${sessions.length} sessions`));
    parts.push(...total.map((chain) => chainSection(chain, terminal, sessions.length)));
  }
  const version = terminal.colors.dim(`Prompts of longhaul: version ${promptVersion}.`);
  return [...parts, `${glossaryLines(GLOSSARY, terminal)}\n${version}`].join("\n\n");
}

function sessionSections(
  evaluation: Evaluation,
  { missing }: Pick<EvalOptions, "missing">,
  terminal: Terminal,
): readonly string[] {
  const { session, window, chains } = evaluation;
  const facts = `${windowWords(window)}, full at ${formatCount(window.autoCompact)} · ${pricesWords(evaluation)}`;
  return [
    factsTitle("Session", session.id, facts, terminal),
    ...chains.flatMap((chain) => [
      chainSection(chain, terminal),
      ...(missing ? [missingSection(chain, terminal)] : []),
    ]),
  ].filter((section) => section !== "");
}

/** Minimum width for the whole table. In a narrower terminal, the figures by kind are omitted. */
const WHOLE_WIDTH = 78;
const COLUMNS: Columns = [
  "policy",
  ">in context",
  { title: ">recall", rank: 2 },
  ">lost",
  { title: ">active", rank: 4 },
  { title: ">tokens", rank: 3 },
  { title: ">cost", rank: 1 },
];

function chainSection(chain: ChainEvaluation, terminal: Terminal, sessions = 1): string {
  const said = `${plural(chain.messages, "message")}, ${formatShort(chain.tokens)} tokens, ${plural(chain.probes, "probe")}`;
  const title = `After ${plural(chain.compactions, "compaction")} (${said})`;
  const rows = chain.policies.map((policy) => policyRow(policy, chain.compactions * sessions, terminal));
  const main = titled(title, COLUMNS, rows, terminal);
  const isNarrow = terminal.width < WHOLE_WIDTH;
  return isNarrow || chain.probes === 0 ? main : `${main}\n\n${kindsSection(chain, terminal)}`;
}

function policyRow(result: PolicyEvaluation, wished: number, { colors }: Terminal): readonly string[] {
  const { policy, probes, activeDirectives, tokens, cost } = result;
  const often = result.compactions === wished ? "" : colors.dim(` ×${result.compactions}`);
  const isKept = activeDirectives.inContext === activeDirectives.total;
  return [
    `${OURS.has(policy) ? colors.bold(policy) : policy}${often}`,
    share(probes.inContext, probes),
    share(probes.recoverable, probes),
    probes.lost === 0 ? share(0, probes) : colors.red(share(probes.lost, probes)),
    (isKept ? colors.green : colors.red)(ofTotal(activeDirectives)),
    formatCount(tokens.last),
    formatDollars(cost.total),
  ];
}

function kindsSection(chain: ChainEvaluation, terminal: Terminal): string {
  const kinds = PROBE_KINDS.filter((kind) => chain.policies.some((policy) => policy.kinds[kind].total > 0));
  const columns = ["policy", ...kinds.map((kind) => `>${kind}s`)];
  const rows = chain.policies.map(({ policy, kinds: tallies }) => [
    policy,
    ...kinds.map((kind) => ofTotal(tallies[kind])),
  ]);
  return titled("In context, by kind", columns, rows, terminal);
}

function missingSection(chain: ChainEvaluation, terminal: Terminal): string {
  const { colors } = terminal;
  const parts = chain.policies.flatMap(({ policy, missing }) => {
    if (missing.length === 0) return [];
    const lines = missing.map((probe) => missingLine(probe, terminal));
    return [[`${colors.bold(policy)}: not in the context`, ...lines].join("\n")];
  });
  return parts.join("\n\n");
}

function missingLine({ id, text, fate, isActive }: MissingProbe, { colors, width }: Terminal): string {
  const where = padEnd(fate === "lost" ? colors.red("lost") : "recall", "recall".length);
  const name = `${where} ${id}${isActive ? colors.red(" active") : ""}`;
  return `  ${name} ${colors.dim(fitText(text, width - textWidth(name) - 3))}`;
}

/** Formats a share in percent. Never rounds up to 100% or down to 0%. */
function share(count: number, { total }: Tally): string {
  if (total === 0) return "–";
  const percent = (count / total) * 100;
  if (percent > 99 && percent < 100) return `${(Math.floor(percent * 10) / 10).toFixed(1)}%`;
  return percent > 0 && percent < 1 ? "<1%" : `${Math.round(percent)}%`;
}

const ofTotal = ({ inContext, total }: Tally): string => `${inContext}/${total}`;
