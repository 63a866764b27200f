import type { LoggedRequest } from "../../src/testing/index.ts";
import type { Journal, Said } from "./journal.ts";
import type { SessionView } from "./session-view.ts";
import { markersIn, roughTokens, tokensKept } from "./texts.ts";

/** A broken promise of the engine. */
export interface Violation {
  readonly kind: string;
  readonly detail: string;
  /** Number of the step in which it was found. */
  readonly step: number;
}

/** Damages of the host that prove that the examiner notices them. */
export const PLANTS = ["drop-message", "break-pairing", "never-settle"] as const;
export type Plant = (typeof PLANTS)[number];

export type Finding = Omit<Violation, "step">;

/** Tokens of a result that must stay when it is shortened, by the rough count of this examiner. */
const LEAST_RESULT_TOKENS = 1_500;
/**
 * A report or an error that lied makes the engine take each text for larger than it is. It then sees less room in the
 * window, and keeps the least part of a result by its own count.
 */
const LIE_FACTOR = 2.5;
/** The engine fills this share of the window at most: the rest is for the answer. */
const FILLED_SHARE = 0.75;
/** The engine's count may be off by this factor after an honest usage report, and by this many tokens besides. */
const HONEST_FACTOR = 2;
const HONEST_SLACK_TOKENS = 2_000;
/** The count is never lower than this share of the truth, however wrong the reports were. */
const LEAST_SHARE = 0.45;

const STATED_TOKENS = /prompt is too long: (\d+) tokens/;
const OVERFLOW = /prompt is too long|exceed context limit/i;

export const isOverflow = ({ error, fault }: LoggedRequest): boolean =>
  fault === undefined && error !== undefined && OVERFLOW.test(error.message);

export const isAccepted = ({ status, error }: LoggedRequest): boolean =>
  status === 200 && error === undefined;

/** A request that the simulator's rules refused, without a fault that the schedule injected. */
export function refusal(request: LoggedRequest, who: string): Finding | undefined {
  const { error, fault } = request;
  if (error === undefined || fault !== undefined || isOverflow(request)) return undefined;
  if (error.code?.startsWith("thread_")) return undefined;
  return {
    kind: `refused ${who} request: ${error.rule ?? error.type}`,
    detail: `${error.status} ${error.message}`,
  };
}

/** Everything that the host said is in the request, or in the session file that the request points to. */
export function lostMessages(
  request: LoggedRequest,
  journal: Journal,
  view: SessionView,
): readonly Finding[] {
  const text = JSON.stringify(request.body?.messages ?? []);
  const visible = markersIn(text);
  journal.show(visible);
  const missing = journal.given.filter(({ marker }) => !visible.has(marker));
  if (missing.length === 0) return [];
  const pointsToFile = text.includes(view.shownPath);
  return missing.flatMap((said): Finding[] => {
    const about = `${said.kind} ${said.marker} (${roughTokens(said.text)} tokens)`;
    if (!view.holds(said.marker)) {
      return [{ kind: `lost ${said.kind}`, detail: `${about} is neither in the request nor in the file` }];
    }
    if (pointsToFile || said.isPointerRemoved || isClearedInPlace(said, text)) return [];
    return [
      { kind: `${said.kind} without a pointer`, detail: `${about}: the request does not name the file` },
    ];
  });
}

/** The call still has an answer in the request: the result was emptied in its place. */
const isClearedInPlace = ({ toolUseId }: Said, text: string): boolean =>
  toolUseId !== undefined && text.includes(`"tool_use_id":${JSON.stringify(toolUseId)}`);

/** The figures that the engine knew when it made a request. */
export interface Figures {
  /** All reports and errors so far were right. */
  readonly areFiguresTrue: boolean;
  /** By this factor an injected error overstated the prompt before this request; 1 without such an error. */
  readonly statedFactor: number;
  readonly windowTokens: number;
}

/**
 * A result that no model has seen answers its call in the request, whole or with at least 2,000 tokens. It may have fewer
 * only in a request that fills the window already, by the figures that the engine was given.
 */
export function unseenResults(
  request: LoggedRequest,
  journal: Journal,
  { areFiguresTrue, statedFactor, windowTokens }: Figures,
): readonly Finding[] {
  const least = LEAST_RESULT_TOKENS / (areFiguresTrue ? 1 : LIE_FACTOR);
  const unseen = journal.given.filter(({ kind, isSeen }) => kind === "result" && !isSeen);
  if (unseen.length === 0) return [];
  const sent = resultsIn(request.body?.messages);
  let missing = 0;
  const findings = unseen.flatMap(({ marker, text, toolUseId = "" }): Finding[] => {
    const content = sent.get(toolUseId);
    const about = `${marker} (${roughTokens(text)} tokens)`;
    if (content === undefined) return [{ kind: "unseen result dropped", detail: about }];
    if (content.includes(text)) return [];
    const kept = tokensKept(text, content);
    const needed = Math.min(least, roughTokens(text));
    if (kept >= needed) return [];
    missing += needed - kept;
    return [{ kind: CUT_SHORT, detail: `${about}: ${kept} tokens are left` }];
  });
  const isFull = ((request.inputTokens ?? 0) + missing) * statedFactor > windowTokens * FILLED_SHARE;
  return isFull ? findings.filter(({ kind }) => kind !== CUT_SHORT) : findings;
}

/** Tokens of the prompt by an injected error; 0 where there was none. */
export function statedTokens({ error, fault }: LoggedRequest): number {
  const stated = fault === undefined ? undefined : STATED_TOKENS.exec(error?.message ?? "")?.[1];
  return Number(stated ?? 0);
}

const CUT_SHORT = "unseen result cut short";

/** The text of each tool result in a request, by the id of its call. */
function resultsIn(messages: unknown): ReadonlyMap<string, string> {
  const results = new Map<string, string>();
  for (const { content } of Array.isArray(messages) ? (messages as { content: unknown }[]) : []) {
    for (const block of Array.isArray(content) ? (content as Record<string, unknown>[]) : []) {
      if (block.type !== "tool_result") continue;
      results.set(String(block.tool_use_id), textIn(block.content));
    }
  }
  return results;
}

function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as Record<string, unknown>[])
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("\n");
}

export interface Count {
  /** The engine's figure for the turn. */
  readonly counted: number;
  /** The figure of the simulator for the same request. */
  readonly actual: number;
  /** Every report so far was right. */
  readonly isTrusted: boolean;
}

export function wrongCount({ counted, actual, isTrusted }: Count): readonly Finding[] {
  const detail = `counted ${counted}, actual ${actual}`;
  if (counted + HONEST_SLACK_TOKENS < actual * LEAST_SHARE) return [{ kind: "count far too low", detail }];
  if (!isTrusted) return [];
  if (counted * HONEST_FACTOR + HONEST_SLACK_TOKENS < actual) return [{ kind: "count too low", detail }];
  if (counted > actual * HONEST_FACTOR + HONEST_SLACK_TOKENS) return [{ kind: "count too high", detail }];
  return [];
}
