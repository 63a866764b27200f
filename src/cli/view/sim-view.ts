import type { LoggedRequest, LogTotals } from "../../testing/simulator/server/request-log.ts";
import type { Terminal } from "../terminal.ts";
import { formatCount, formatDollars, formatShort, plural } from "./numbers.ts";
import { oneLine, padEnd, padStart } from "./text-width.ts";

/** What the first lines tell of the running simulator. */
export interface Greeting {
  readonly url: string;
  readonly counter: { readonly source: string };
}

const COUNTERS: Readonly<Record<string, string>> = {
  o200k: "with gpt-tokenizer",
  estimate: "with the built-in estimator (install gpt-tokenizer for a real one)",
};

export function simGreeting({ url, counter }: Greeting, { colours }: Terminal): string {
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
export function unknownBetaLine(beta: string, { colours }: Terminal): string {
  return colours.yellow(
    `Warning: unknown beta "${oneLine(beta)}" is accepted. The real API may refuse it; --betas strict does.`,
  );
}

/** One request, one line: what was asked, what it cost, how it ended. */
export function requestLine(request: LoggedRequest, { colours }: Terminal): string {
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
export function requestReport(request: LoggedRequest): Readonly<Record<string, unknown>> {
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

export function simTotals(totals: LogTotals, { colours }: Terminal): string {
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
