import type { LoggedRequest } from "@longhaul/simulator";
import type { Journal, Said } from "./journal.ts";
import type { SessionView } from "./session-view.ts";
import { charactersKept, markersIn, roughTokens } from "./texts.ts";

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

/** Tokens of a shortened result that must stay: 2,000 by the engine's count, which may be off by a fifth. */
const LEAST_RESULT_TOKENS = 1_600;
/** From this share of the window on, by the engine's count, a request is full: auto-compact starts at 67%. */
const FULL_SHARE = 0.63;
/** In a full request shortened results share the room: each has this share of the longest, and this many tokens. */
const EQUAL_SHARE = 0.5;
const LEAST_FULL_TOKENS = 250;
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
  /** The engine's largest count since the last request that was accepted. */
  readonly countedTokens: number;
  /** By this factor an injected error overstated the prompt before this request; 1 without such an error. */
  readonly statedFactor: number;
  readonly windowTokens: number;
  /** Of the provider's tokenizer. */
  readonly tokensPerCharacter: number;
}

/**
 * A result that no model has seen answers its call in the request, whole or with at least 2,000 tokens. In a request that
 * is full by the figures that the engine was given, shortened results share the room equally.
 */
export function unseenResults(
  request: LoggedRequest,
  journal: Journal,
  { countedTokens, statedFactor, windowTokens, tokensPerCharacter }: Figures,
): readonly Finding[] {
  const unseen = journal.given.filter(({ kind, isSeen }) => kind === "result" && !isSeen);
  if (unseen.length === 0) return [];
  const sent = resultsIn(request.body?.messages);
  const findings: Finding[] = [];
  const shortened: { readonly marker: string; readonly tokens: number; readonly kept: number }[] = [];
  for (const { marker, text, toolUseId = "" } of unseen) {
    const content = sent.get(toolUseId);
    const tokens = Math.round(text.length * tokensPerCharacter);
    if (content === undefined) {
      findings.push({ kind: "unseen result dropped", detail: `${marker} (${tokens} tokens)` });
    } else if (!content.includes(text)) {
      const kept = Math.round(charactersKept(text, content) * tokensPerCharacter);
      shortened.push({ marker, tokens, kept });
    }
  }
  const isFull = countedTokens * statedFactor >= windowTokens * FULL_SHARE;
  const longest = Math.max(0, ...shortened.map(({ kept }) => kept));
  const shareTokens = Math.max(LEAST_FULL_TOKENS, longest * EQUAL_SHARE);
  const least = isFull ? Math.min(LEAST_RESULT_TOKENS, shareTokens) : LEAST_RESULT_TOKENS;
  const cut = shortened.filter(({ tokens, kept }) => kept < Math.min(least, tokens));
  return [
    ...findings,
    ...cut.map(({ marker, tokens, kept }) => ({
      kind: "unseen result cut short",
      detail: `${marker} (${tokens} tokens): ${kept} tokens are left${isFull ? " in a full request" : ""}`,
    })),
  ];
}

/** Tokens of the prompt by an injected error; 0 where there was none. */
export function statedTokens({ fault }: Pick<LoggedRequest, "fault">): number {
  const stated = fault?.kind === "status" ? STATED_TOKENS.exec(fault.message ?? "")?.[1] : undefined;
  return Number(stated ?? 0);
}

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
