import { PROMPT_VERSION } from "@longhaul/core/summary";
import type { PolicyName } from "@longhaul/lab";
import {
  asStream,
  type ChainEvaluation,
  type EvaluateOptions,
  type Evaluation,
  evaluateSession,
  evaluateStream,
  type FalseStatement,
  type MissingProbe,
  type Points,
  type PolicyEvaluation,
  PROBE_KINDS,
  type RecordedEvaluation,
  scoreOf,
  type Tally,
  totalOf,
} from "@longhaul/lab";
import { createDemoSession } from "@longhaul/simulator/internal";
import type { Composition } from "../composition.ts";
import { eachSession, GENERATED_SESSION } from "../each-session.ts";
import { untilInterrupted } from "../interrupts.ts";
import { chooseModel } from "../model-choice.ts";
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
  /** True to list the probes that are not in the context, and the false statements. */
  readonly missing?: boolean;
  /** Name of a model that answers the questions of the probes. */
  readonly judge?: string;
  readonly baseUrl?: string;
}

/** Measures what is still known after a chain of compactions, for longhaul and for other methods. */
export async function evaluate(
  queries: readonly string[],
  options: EvalOptions,
  composition: Composition,
): Promise<void> {
  const { terminal } = composition;
  const { judge, baseUrl } = options;
  const model = await chooseModel({ ...(judge && { model: judge }), ...(baseUrl && { baseUrl }) });
  const evaluations = await untilInterrupted(async (signal) => {
    const settings = (id: string): EvaluateOptions => ({
      ...evaluateOptions(id, options, composition),
      judge: model,
      signal,
    });
    const recorded = await eachSession(queries, composition, (session) =>
      evaluateSession(session, settings(session.id)),
    );
    if (!options.generated) return recorded;
    const stream = asStream(createDemoSession());
    return [...recorded, await evaluateStream(GENERATED_SESSION, stream, settings(GENERATED_SESSION.id))];
  }, "Run the command again to start over.");
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
  ["probe", "a question about something that the agent needs again, with its answer from the session"],
  ["kept", "probes that the context answers"],
  ["recall", "other probes that one page of recall answers"],
  ["lost", "probes that nothing answers"],
  ["false", "false statements in the summary"],
  [
    "summary",
    "score of the summary alone: answers minus false statements, as a share of the probes that nothing else in the context answers",
  ],
  ["+facts", "the same with the facts that longhaul quotes after the summary"],
  ["all", "score of the whole context"],
  ["cost", "summary calls, and rewrites of the prompt cache"],
];
const JUDGE_GLOSSARY: Glossary = [["judge", "probes that the judge answered right from the context alone"]];

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
  const glossary = isJudged(sessions) ? [...GLOSSARY, ...JUDGE_GLOSSARY] : GLOSSARY;
  return [...parts, `${glossaryLines(glossary, terminal)}\n${version}`].join("\n\n");
}

const isJudged = (sessions: readonly Evaluation[]): boolean =>
  sessions.some(({ chains }) =>
    chains.some(({ policies }) => policies.some(({ judge }) => judge !== undefined)),
  );

function sessionSections(
  evaluation: Evaluation,
  { missing }: Pick<EvalOptions, "missing">,
  terminal: Terminal,
): readonly string[] {
  const { session, window, chains, recorded } = evaluation;
  const facts = `${windowWords(window)}, full at ${formatCount(window.autoCompact)} · ${pricesWords(evaluation)}`;
  return [
    factsTitle("Session", session.id, facts, terminal),
    ...chains.flatMap((chain) => [
      chainSection(chain, terminal),
      ...(missing ? [missingSection(chain, terminal)] : []),
    ]),
    ...recorded.flatMap((chain) => [
      recordedSection(chain, terminal),
      ...(missing ? [missingSection(chain, terminal)] : []),
    ]),
  ].filter((section) => section !== "");
}

/** Minimum width for the whole table. In a narrower terminal, the figures by kind are omitted. */
const WHOLE_WIDTH = 78;
const COLUMNS: Columns = [
  "policy",
  ">kept",
  { title: ">recall", rank: 5 },
  { title: ">lost", rank: 6 },
  { title: ">false", rank: 8 },
  { title: ">summary", rank: 7 },
  { title: ">+facts", rank: 4 },
  { title: ">all", rank: 1 },
  { title: ">tokens", rank: 2 },
  { title: ">cost", rank: 3 },
];
const JUDGE_COLUMN: Columns = [{ title: ">judge", rank: 9 }];

function chainSection(chain: ChainEvaluation, terminal: Terminal, sessions = 1): string {
  const title = `After ${plural(chain.compactions, "compaction")} (${chainWords(chain)})`;
  const main = titled(title, ...policyTable(chain, chain.compactions * sessions, terminal), terminal);
  const isNarrow = terminal.width < WHOLE_WIDTH;
  return isNarrow || chain.probes === 0 ? main : `${main}\n\n${kindsSection(chain, terminal)}`;
}

/** Compares the recorded summary with ours. */
function recordedSection(chain: RecordedEvaluation, terminal: Terminal): string {
  const program = chain.version === null ? "the session's program" : `Claude Code ${chain.version}`;
  const title = `Summary ${chain.compactions} that ${program} wrote, and ours at the same place (${chainWords(chain)})`;
  return titled(title, ...policyTable(chain, chain.compactions, terminal), terminal);
}

const chainWords = ({ messages, tokens, probes }: ChainEvaluation): string =>
  `${plural(messages, "message")}, ${formatShort(tokens)} tokens, ${plural(probes, "probe")}`;

function policyTable(
  { policies }: ChainEvaluation,
  wished: number,
  terminal: Terminal,
): [Columns, readonly (readonly string[])[]] {
  const judged = policies.some(({ judge }) => judge !== undefined);
  const rows = policies.map((policy) => policyRow(policy, wished, terminal));
  return [judged ? [...COLUMNS, ...JUDGE_COLUMN] : COLUMNS, rows];
}

function policyRow(result: PolicyEvaluation, wished: number, { colors }: Terminal): readonly string[] {
  const { policy, probes, scores, tokens, cost, judge } = result;
  const often = result.compactions === wished ? "" : colors.dim(` ×${result.compactions}`);
  const lies = scores.withFacts.false;
  return [
    `${OURS.has(policy) ? colors.bold(policy) : policy}${often}`,
    share(probes.inContext, probes),
    share(probes.recoverable, probes),
    probes.lost === 0 ? share(0, probes) : colors.red(share(probes.lost, probes)),
    lies === 0 ? "0" : colors.red(formatCount(lies)),
    points(scores.summary),
    points(scores.withFacts),
    points(scores.context),
    formatCount(tokens.last),
    formatDollars(cost.total),
    judge === undefined ? "" : share(judge.right, { total: judge.asked }),
  ];
}

/** Formats a score from 1 (everything, nothing false) to below 0 (more false than true). */
function points(of: Points): string {
  const score = scoreOf(of);
  return score === undefined ? "–" : score.toFixed(2).replace("-0.00", "0.00");
}

function kindsSection(chain: ChainEvaluation, terminal: Terminal): string {
  const kinds = PROBE_KINDS.filter((kind) => chain.policies.some((policy) => policy.kinds[kind].total > 0));
  const columns: Columns = [
    "policy",
    ...kinds.map((kind, index) => ({ title: `>${kind}`, rank: kinds.length - index })),
  ];
  const rows = chain.policies.map(({ policy, kinds: tallies }) => [
    policy,
    ...kinds.map((kind) => ofTotal(tallies[kind])),
  ]);
  return titled("Kept, by kind", columns, rows, terminal);
}

function missingSection(chain: ChainEvaluation, terminal: Terminal): string {
  const { colors } = terminal;
  const parts = chain.policies.flatMap(({ policy, missing, falseStatements }) => {
    const lies = falseStatements.map((statement) => falseLine(statement, terminal));
    const lines = missing.map((probe) => missingLine(probe, terminal));
    return [
      ...(lines.length === 0 ? [] : [[`${colors.bold(policy)}: not in the context`, ...lines].join("\n")]),
      ...(lies.length === 0 ? [] : [[`${colors.bold(policy)}: false statements`, ...lies].join("\n")]),
    ];
  });
  return parts.join("\n\n");
}

function missingLine({ id, text, fate }: MissingProbe, { colors, width }: Terminal): string {
  const where = padEnd(fate === "lost" ? colors.red("lost") : "recall", "recall".length);
  const name = `${where} ${id}`;
  return `  ${name} ${colors.dim(fitText(text, width - textWidth(name) - 3))}`;
}

function falseLine({ kind, passage }: FalseStatement, { colors, width }: Terminal): string {
  const name = colors.red(kind);
  return `  ${name} ${colors.dim(fitText(passage, width - textWidth(name) - 3))}`;
}

/** Formats a share in percent. Never rounds up to 100% or down to 0%. */
function share(count: number, { total }: Pick<Tally, "total">): string {
  if (total === 0) return "–";
  const percent = (count / total) * 100;
  if (percent > 99 && percent < 100) return `${(Math.floor(percent * 10) / 10).toFixed(1)}%`;
  return percent > 0 && percent < 1 ? "<1%" : `${Math.round(percent)}%`;
}

const ofTotal = ({ inContext, total }: Tally): string => `${inContext}/${total}`;
