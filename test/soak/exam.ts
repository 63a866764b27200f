import type { LoggedRequest } from "@longhaul/simulator";
import type { Journal, Said } from "./journal.ts";
import type { SessionView } from "./session-view.ts";
import { charactersKept, markersIn, roughTokens } from "./texts.ts";

/** A broken promise of the engine. */
export interface Violation {
  readonly kind: string;
  readonly detail: string;
  /** Number of the step in which the violation was found. */
  readonly step: number;
}

/** Faults that the host makes on purpose, to prove that the examiner notices them. */
export const PLANTS = ["drop-message", "break-pairing", "never-settle"] as const;
export type Plant = (typeof PLANTS)[number];

export type Finding = Omit<Violation, "step">;

/**
 * Tokens that must remain of a shortened result. The engine keeps 2,000 by its own count, which may be off by
 * a fifth.
 */
const MIN_RESULT_TOKENS = 1_600;
/**
 * A request is full if it has at least this share of the window by the engine's count. Auto-compact starts at
 * 67%.
 */
const FULL_SHARE = 0.63;
/**
 * Shortened results share the tokens of a full request. Each keeps at least this share of the longest result,
 * and at least `MIN_FULL_TOKENS`.
 */
const EQUAL_SHARE = 0.5;
const MIN_FULL_TOKENS = 250;
/**
 * Allowed error of the engine's count after a correct usage report. It is this factor, plus the number of
 * tokens below.
 */
const HONEST_FACTOR = 2;
const HONEST_SLACK_TOKENS = 2_000;
/** The engine's count is never lower than this share of the true value, however wrong the reports were. */
const MIN_SHARE = 0.45;

const STATED_TOKENS = /prompt is too long: (\d+) tokens/;
const OVERFLOW = /prompt is too long|exceed context limit/i;

export const isOverflow = ({ error, fault }: LoggedRequest): boolean =>
  fault === undefined && error !== undefined && OVERFLOW.test(error.message);

export const isAccepted = ({ status, error }: LoggedRequest): boolean =>
  status === 200 && error === undefined;

/** Reports a request that the simulator's rules refused without an injected fault. */
export function refusal(request: LoggedRequest, who: string): Finding | undefined {
  const { error, fault } = request;
  if (error === undefined || fault !== undefined || isOverflow(request)) return undefined;
  if (error.code?.startsWith("thread_")) return undefined;
  return {
    kind: `refused ${who} request: ${error.rule ?? error.type}`,
    detail: `${error.status} ${error.message}`,
  };
}

/** Checks that every text of the host is in the request, or in the session file that the request names. */
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

/** Returns true if the request still has a result for the call, so the result was cleared in place. */
const isClearedInPlace = ({ toolUseId }: Said, text: string): boolean =>
  toolUseId !== undefined && text.includes(`"tool_use_id":${JSON.stringify(toolUseId)}`);

/** The figures that the engine knew when it created a request. */
export interface Figures {
  /** The engine's largest token count since the last accepted request. */
  readonly countedTokens: number;
  /** Factor by which an injected error overstated the prompt before this request. 1 if there was no error. */
  readonly statedFactor: number;
  readonly windowTokens: number;
  /** Tokens per character of the provider's tokenizer. */
  readonly tokensPerCharacter: number;
}

/**
 * Checks the results that the model has not seen. The request must contain each of them in full or with at
 * least 2,000 tokens. If the request is full by the engine's count, shortened results share its tokens
 * equally.
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
  const shareTokens = Math.max(MIN_FULL_TOKENS, longest * EQUAL_SHARE);
  const least = isFull ? Math.min(MIN_RESULT_TOKENS, shareTokens) : MIN_RESULT_TOKENS;
  const cut = shortened.filter(({ tokens, kept }) => kept < Math.min(least, tokens));
  return [
    ...findings,
    ...cut.map(({ marker, tokens, kept }) => ({
      kind: "unseen result cut short",
      detail: `${marker} (${tokens} tokens): ${kept} tokens are left${isFull ? " in a full request" : ""}`,
    })),
  ];
}

/** Returns the prompt size that an injected error states. 0 if there is no error. */
export function statedTokens({ fault }: Pick<LoggedRequest, "fault">): number {
  const stated = fault?.kind === "status" ? STATED_TOKENS.exec(fault.message ?? "")?.[1] : undefined;
  return Number(stated ?? 0);
}

/**
 * Returns the tool results in a request. The key is the id of the call, the value is the text of the result.
 */
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
  /** The engine's token count of the turn. */
  readonly counted: number;
  /** The simulator's token count of the same request. */
  readonly actual: number;
  /** True if every usage report so far was correct. */
  readonly isTrusted: boolean;
}

export function wrongCount({ counted, actual, isTrusted }: Count): readonly Finding[] {
  const detail = `counted ${counted}, actual ${actual}`;
  if (counted + HONEST_SLACK_TOKENS < actual * MIN_SHARE) return [{ kind: "count far too low", detail }];
  if (!isTrusted) return [];
  if (counted * HONEST_FACTOR + HONEST_SLACK_TOKENS < actual) return [{ kind: "count too low", detail }];
  if (counted > actual * HONEST_FACTOR + HONEST_SLACK_TOKENS) return [{ kind: "count too high", detail }];
  return [];
}
