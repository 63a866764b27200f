import type { LoggedRequest, LogTotals, Switches } from "@longhaul/simulator";
import {
  coder,
  createRunningClock,
  noteTaker,
  type SimulatorOptions,
  spanSummaries,
  startSimulator,
  summaries,
} from "@longhaul/simulator";
import { CODER_TURNS } from "@longhaul/simulator/internal";
import type { Composition } from "../composition.ts";
import { readScript, readSimConfig, type SimConfig } from "../sim-config.ts";
import type { Terminal } from "../terminal.ts";
import { formatCount, formatDollars, formatShort, plural } from "../view/numbers.ts";
import { oneLine, padEnd, padStart } from "../view/text-width.ts";

export interface SimOptions {
  readonly port?: number;
  readonly window?: number;
  readonly turns?: number;
  readonly script?: string;
  readonly config?: string;
  readonly json?: boolean;
}

/** A real client brings conversations that this simulator did not write, and rewrites its own history. */
const SWITCHES_FOR_CLIENTS: Partial<Switches> = { enforceBinding: false, foreignSignatures: "accepted" };

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
      if (options.json) return terminal.print(JSON.stringify(requestReport(request)));
      const news = request.unknownBetas.filter((beta) => !warned.has(beta));
      for (const beta of news) terminal.print(unknownBetaLine(warned.add(beta) && beta, terminal));
      terminal.print(requestLine(request, terminal));
    },
  });
  simulator.reply(...turns);
  for (const { fault, ...conditions } of config.faults ?? []) simulator.fail(fault, conditions);
  const { url, counter } = simulator;
  terminal.print(
    options.json
      ? JSON.stringify({ type: "listening", url, counter: counter.source })
      : simGreeting(simulator, terminal),
  );
  await untilStopped();
  await simulator.close();
  const { totals } = simulator.requests;
  terminal.print(options.json ? JSON.stringify({ type: "totals", ...totals }) : simTotals(totals, terminal));
}

/** A flag wins over the configuration. */
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
    behaviours: [
      summaries(summary),
      noteTaker(notes),
      spanSummaries(spans),
      coder({ ...played, ...(options.turns !== undefined && { turns: options.turns }) }),
    ],
  };
}

/** A second signal ends the process the hard way: the listeners are gone by then. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve();
    };
    process.on("SIGINT", stop).on("SIGTERM", stop);
  });
}

/** What the first lines tell of the running simulator. */
interface Greeting {
  readonly url: string;
  readonly counter: { readonly source: string };
}

const COUNTERS: Readonly<Record<string, string>> = {
  o200k: "with gpt-tokenizer",
  estimate: "with the built-in estimator (install gpt-tokenizer for a real one)",
};

function simGreeting({ url, counter }: Greeting, { colours }: Terminal): string {
  const { bold, dim, green } = colours;
  return [
    `${green("●")} ${bold("Simulating the Anthropic API")} at ${bold(url)}`,
    dim(`  Tokens are counted ${COUNTERS[counter.source] ?? "by a counter of your own"}. Any key will do.`),
    "",
    "  Point a client at it:",
    `    ANTHROPIC_BASE_URL=${url} ANTHROPIC_API_KEY=simulated …`,
    "",
    dim("  Ctrl-C ends it."),
    "",
  ].join("\n");
}

/** A line for a beta that came for the first time. */
function unknownBetaLine(beta: string, { colours }: Terminal): string {
  return colours.yellow(
    `Warning: unknown beta "${oneLine(beta)}" is accepted. The real API may refuse it; the switch unknownBetas does.`,
  );
}

/** One request, one line: what was asked, what it cost, how it ended. */
function requestLine(request: LoggedRequest, { colours }: Terminal): string {
  const { dim } = colours;
  return [
    padEnd(`${request.method} ${endpointName(request)}`, 17),
    padEnd(oneLine(request.model ?? ""), 17),
    tokens(request, colours),
    padStart(request.costDollars === undefined ? "" : formatDollars(request.costDollars), 8),
    ending(request, colours),
    ...(isBesideConversation(request) ? [dim(`(${request.purpose})`)] : []),
    dim(`${Math.round(request.durationMs)} ms`),
  ].join("  ");
}

const isBesideConversation = ({ purpose }: LoggedRequest): boolean =>
  purpose !== undefined && purpose !== "conversation";

const endpointName = ({ endpoint, path }: LoggedRequest): string =>
  endpoint === "other" ? oneLine(path) : endpoint;

function tokens({ usage, inputTokens, endpoint }: LoggedRequest, { dim, cyan }: Terminal["colours"]): string {
  const read = figure(usage?.cache_read_input_tokens);
  const written = figure(usage?.cache_creation_input_tokens);
  const input = inputTokens === undefined ? "" : `${formatShort(inputTokens)} in`;
  const cache = [
    read > 0 ? `${formatShort(read)} read` : "",
    written > 0 ? `${formatShort(written)} written` : "",
  ]
    .filter(Boolean)
    .join(", ");
  const output =
    endpoint === "messages" && usage !== undefined ? `${formatShort(figure(usage.output_tokens))} out` : "";
  return `${padStart(input, 8)}  ${cyan(padEnd(cache, 24))}${dim(padStart(output, 9))}`;
}

function ending(request: LoggedRequest, { dim, green, red, yellow }: Terminal["colours"]): string {
  const { error, fault, outcome, status, stopReason, findings } = request;
  const found = findings?.length ? yellow(` (${plural(findings.length, "finding")})`) : "";
  const byFault = fault === undefined ? "" : yellow(` [fault: ${fault.kind}]`);
  if (error !== undefined) return `${red(`${error.status} ${oneLine(error.message)}`)}${byFault}${found}`;
  if (outcome === "cut" || outcome === "abandoned") return `${red(outcome)}${byFault}${found}`;
  if (request.endpoint === "other") return dim(String(status ?? ""));
  return `${green(stopReason ?? String(status ?? ""))}${byFault}${found}`;
}

/** The shape of a line of `sim --json`. The body is left out: it is as long as the conversation. */
function requestReport(request: LoggedRequest): Readonly<Record<string, unknown>> {
  return {
    type: "request",
    index: request.index,
    requestId: request.requestId,
    method: request.method,
    path: request.path,
    endpoint: request.endpoint,
    status: request.status ?? null,
    outcome: request.outcome,
    version: request.version ?? null,
    betas: request.betas,
    unknownBetas: request.unknownBetas,
    purpose: request.purpose ?? null,
    model: request.model ?? null,
    stream: request.isStream,
    bytes: request.bytes,
    inputTokens: request.inputTokens ?? null,
    usage: request.usage ?? null,
    costDollars: request.costDollars ?? null,
    stopReason: request.stopReason ?? null,
    appliedEdits: request.appliedEdits,
    fault: request.fault ?? null,
    error: request.error ?? null,
    findings: request.findings ?? [],
    durationMs: Math.round(request.durationMs * 10) / 10,
  };
}

function simTotals(totals: LogTotals, { colours }: Terminal): string {
  const { bold, dim } = colours;
  const parts = [
    plural(totals.requests, "request"),
    ...(totals.errors > 0 ? [plural(totals.errors, "error")] : []),
    ...(totals.bindingRefusals > 0 ? [`${totals.bindingRefusals} of them for bound thinking`] : []),
    `${formatCount(totals.inputTokens)} tokens in (${formatCount(totals.cacheReadTokens)} read from the cache, ${formatCount(totals.cacheWriteTokens)} written)`,
    `${formatCount(totals.outputTokens)} out`,
  ];
  return `\n${bold("Total")}  ${parts.join(", ")}, ${bold(formatDollars(totals.costDollars))}\n${dim("What the same calls would have cost at the published prices; nothing was charged.")}`;
}

const figure = (value: unknown): number => (typeof value === "number" ? value : 0);
