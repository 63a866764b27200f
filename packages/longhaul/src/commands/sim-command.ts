import type { LoggedRequest, LogTotals, SimulatorSwitches } from "@longhaul/simulator";
import {
  coder,
  createRunningClock,
  noteTaker,
  type SimulatorOptions,
  spanSummaries,
  startSimulator,
  summaries,
} from "@longhaul/simulator";
import { CODER_TURNS, requestReport, usageFigures } from "@longhaul/simulator/internal";
import type { Composition } from "../composition.ts";
import { readScript, readSimConfig, type SimConfig } from "../sim-config.ts";
import type { Terminal } from "../terminal.ts";
import { formatCount, formatDollars, formatShort, plural } from "../view/numbers.ts";
import { indented } from "../view/sections.ts";
import { foldText, oneLine, padEnd, padStart, textWidth } from "../view/text-width.ts";

export interface SimOptions {
  readonly port?: number;
  readonly window?: number;
  readonly turns?: number;
  readonly script?: string;
  readonly config?: string;
  readonly json?: boolean;
}

/**
 * Defaults for real clients. The conversations of such a client contain answers that this simulator did not
 * write. The client may also rewrite its history.
 */
const SWITCHES_FOR_CLIENTS: Partial<SimulatorSwitches> = {
  enforceBinding: false,
  foreignSignatures: "accepted",
  foreignReasoning: "accepted",
};

/** Runs the simulator in the foreground until a signal stops it. */
export async function sim(
  options: SimOptions,
  { terminal }: Pick<Composition, "terminal">,
  untilStopped: () => Promise<void> = untilSignal,
): Promise<void> {
  const turns = options.script === undefined ? [] : await readScript(options.script);
  const config = options.config === undefined ? {} : await readSimConfig(options.config);
  const warned = new Set<string>();
  const simulator = await startSimulator({
    ...simulatorOptions(options, config),
    onRequest: (request) => {
      if (options.json) return terminal.print(JSON.stringify({ type: "request", ...requestReport(request) }));
      const news = request.unknownBetas.filter((beta) => !warned.has(beta));
      for (const beta of news) terminal.print(unknownBetaLine(warned.add(beta) && beta, terminal));
      terminal.print(requestLine(request, terminal));
    },
  });
  simulator.reply(...turns);
  for (const { fault, ...conditions } of config.faults ?? []) simulator.fail(fault, conditions);
  const { url, openAiUrl, counter } = simulator;
  terminal.print(
    options.json
      ? JSON.stringify({ type: "listening", url, openAiUrl, counter: counter.source })
      : simGreeting(simulator, terminal),
  );
  await untilStopped();
  await simulator.close();
  const { totals } = simulator.requests;
  terminal.print(options.json ? JSON.stringify({ type: "totals", ...totals }) : simTotals(totals, terminal));
}

/** Merges the options and the configuration. A flag overrides the configuration. */
function simulatorOptions(options: SimOptions, config: SimConfig): SimulatorOptions {
  const { counter, summaries: summary, notes, spans, faults: _, port = 0, seed, ...given } = config;
  const window = options.window ?? config.windowTokens;
  const played = { turns: CODER_TURNS, ...(seed !== undefined && { seed }), ...config.coder };
  return {
    ...given,
    port: options.port ?? port,
    clock: createRunningClock(),
    ...(seed !== undefined && { seed }),
    ...(window !== undefined && { windowTokens: window }),
    ...(counter === "estimate" && { countText: counter }),
    switches: { ...SWITCHES_FOR_CLIENTS, ...config.switches },
    behaviors: [
      summaries(summary),
      noteTaker(notes),
      spanSummaries(spans),
      coder({ ...played, ...(options.turns !== undefined && { turns: options.turns }) }),
    ],
  };
}

/**
 * Resolves at the first signal. A second signal kills the process, because the listeners are removed by then.
 */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve();
    };
    process.on("SIGINT", stop).on("SIGTERM", stop);
  });
}

/** Facts about the running simulator that the first lines of the output show. */
interface Greeting {
  readonly url: string;
  readonly openAiUrl: string;
  readonly counter: { readonly source: string };
}

/** Minimum terminal width to show both environment variables of the example on one line. */
const WIDE_FROM = 80;

const COUNTERS: Readonly<Record<string, string>> = {
  o200k: "with gpt-tokenizer",
  estimate: "with the built-in estimator (install gpt-tokenizer for exact counts)",
};

function simGreeting({ url, openAiUrl, counter }: Greeting, terminal: Terminal): string {
  const { colors, width } = terminal;
  const { bold, dim, green } = colors;
  const variables = [
    [`ANTHROPIC_BASE_URL=${url}`, "ANTHROPIC_API_KEY=simulated"],
    [`OPENAI_BASE_URL=${openAiUrl}`, "OPENAI_API_KEY=simulated"],
  ];
  return [
    foldText(
      `${green("●")} ${bold("Simulating the APIs of Anthropic and OpenAI")} at ${bold(url)}`,
      width,
      "  ",
    ),
    dim(
      indented(
        `Tokens are counted ${COUNTERS[counter.source] ?? "with your own counter"}. Any API key works.`,
        terminal,
      ),
    ),
    "",
    "  Point a client at it:",
    ...(width < WIDE_FROM
      ? variables.flat().map((variable) => `  ${variable}`)
      : variables.map((pair) => `    ${pair.join(" ")} …`)),
    "",
    dim(indented(`Read the requests and add answers at ${url}/__longhaul.`, terminal)),
    dim("  Press Ctrl-C to stop."),
    "",
  ].join("\n");
}

/** Returns the line about an unknown beta at its first use. */
function unknownBetaLine(beta: string, { colors, width }: Terminal): string {
  const words = `Warning: accepted the unknown beta "${oneLine(beta)}". The real API may refuse it. Set unknownBetas to "refused" to refuse it here too.`;
  return colors.yellow(foldText(words, width));
}

/** Describes a request in one line: its purpose, its cost, and its outcome. */
function requestLine(request: LoggedRequest, { colors, width }: Terminal): string {
  const { dim } = colors;
  const parts = [
    padEnd(`${request.method} ${endpointName(request)}`, 17),
    padEnd(oneLine(request.model ?? ""), 17),
    tokens(request, colors),
    padStart(request.costDollars === undefined ? "" : formatDollars(request.costDollars), 8),
    ending(request, colors),
    ...(isBesideConversation(request) ? [dim(`(${request.purpose})`)] : []),
    dim(`${Math.round(request.durationMs)} ms`),
  ];
  const line = parts.join("  ");
  // Use columns only if the whole line fits.
  return textWidth(line) <= width ? line : foldText(line.replace(/ {2,}/g, "  ").trim(), width, "    ");
}

const isBesideConversation = ({ purpose }: LoggedRequest): boolean =>
  purpose !== undefined && purpose !== "conversation";

const endpointName = ({ endpoint, path }: LoggedRequest): string =>
  endpoint === "other" ? oneLine(path) : endpoint;

function tokens(request: LoggedRequest, { dim, cyan }: Terminal["colors"]): string {
  const { usage, inputTokens } = request;
  const { cacheRead, cacheWrite, output: written } = usageFigures(usage);
  const input = inputTokens === undefined ? "" : `${formatShort(inputTokens)} in`;
  const cache = [
    cacheRead > 0 ? `${formatShort(cacheRead)} read` : "",
    cacheWrite > 0 ? `${formatShort(cacheWrite)} written` : "",
  ]
    .filter(Boolean)
    .join(", ");
  const output = usage === undefined ? "" : `${formatShort(written)} out`;
  return `${padStart(input, 8)}  ${cyan(padEnd(cache, 24))}${dim(padStart(output, 9))}`;
}

function ending(request: LoggedRequest, { dim, green, red, yellow }: Terminal["colors"]): string {
  const { error, fault, outcome, status, stopReason, findings } = request;
  const found = findings?.length ? yellow(` (${plural(findings.length, "finding")})`) : "";
  const byFault = fault === undefined ? "" : yellow(` [fault: ${fault.kind}]`);
  if (error !== undefined) return `${red(`${error.status} ${oneLine(error.message)}`)}${byFault}${found}`;
  if (outcome === "cut" || outcome === "abandoned") return `${red(outcome)}${byFault}${found}`;
  if (request.endpoint === "other") return dim(String(status ?? ""));
  return `${green(stopReason ?? String(status ?? ""))}${byFault}${found}`;
}

function simTotals(totals: LogTotals, { colors, width }: Terminal): string {
  const { bold, dim } = colors;
  const parts = [
    plural(totals.requests, "request"),
    ...(totals.errors > 0 ? [plural(totals.errors, "error")] : []),
    ...(totals.bindingRefusals > 0
      ? [`${totals.bindingRefusals} of them because a thinking block does not match its conversation`]
      : []),
    `${formatCount(totals.inputTokens)} tokens in (${formatCount(totals.cacheReadTokens)} read from the cache, ${formatCount(totals.cacheWriteTokens)} written to it)`,
    `${formatCount(totals.outputTokens)} out`,
  ];
  const line = `${bold("Total")}  ${parts.join(", ")}, ${bold(formatDollars(totals.costDollars))}`;
  return `\n${foldText(line, width, "  ")}\n${dim(foldText(PRICES, width))}`;
}

const PRICES = "The cost is an estimate at published prices. Nothing was charged.";
