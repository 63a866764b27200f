import { field, firstString } from "../../messages/untrusted.ts";

/** Questions to a host, each with a time limit: every question ends with an answer or a reason. */

/** How long a host may take for one answer: what comes later than this would hold up the whole turn. */
const ANSWER_TIMEOUT_MS = 10_000;

export type Answer =
  /** The host has nobody to ask. */
  | { readonly state: "absent" }
  | { readonly state: "answered"; readonly value: unknown }
  | { readonly state: "unanswered"; readonly reason: "failed" | "timed-out" | "aborted" | "invalid" };

/**
 * Calls what the host has under this name. Never rejects, and always ends: what goes wrong over there is an
 * answer like any other.
 */
export type Ask = (owner: unknown, name: string, ...about: readonly string[]) => Promise<Answer>;

export interface AskOptions {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export function asker({ timeoutMs = ANSWER_TIMEOUT_MS, signal }: AskOptions): Ask {
  const onAbort = oneListener(signal);
  return (owner, name, ...about) => {
    const question = questionOf(owner, name);
    if (question === undefined || question === null) return Promise.resolve({ state: "absent" });
    if (typeof question !== "function") return Promise.resolve(unanswered("invalid"));
    if (signal?.aborted) return Promise.resolve(unanswered("aborted"));
    return answerWithin(() => Reflect.apply(question, owner, about), timeoutMs, onAbort);
  };
}

/** Calls back when the signal fires; what it returns takes that back. */
type OnAbort = (fired: () => void) => () => void;

/** One listener for all questions: many files are asked for at once, and a signal with many listeners is taken for a leak. */
function oneListener(signal: AbortSignal | undefined): OnAbort {
  const waiting = new Set<() => void>();
  const fire = (): void => {
    for (const fired of waiting) fired();
  };
  return (fired) => {
    if (waiting.size === 0) signal?.addEventListener("abort", fire, { once: true });
    waiting.add(fired);
    return () => {
      waiting.delete(fired);
      if (waiting.size === 0) signal?.removeEventListener("abort", fire);
    };
  };
}

/** A property of the host may be computed, and fail at that. */
function questionOf(owner: unknown, name: string): unknown {
  try {
    return (owner as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  } catch (error) {
    return () => Promise.reject(error);
  }
}

function answerWithin(question: () => unknown, timeoutMs: number, onAbort: OnAbort): Promise<Answer> {
  return new Promise((resolve) => {
    const end = (answer: Answer): void => {
      clearTimeout(timer);
      release();
      resolve(answer);
    };
    const release = onAbort(() => end(unanswered("aborted")));
    const timer = setTimeout(() => end(unanswered("timed-out")), timeoutMs);
    // Within a promise, so that a question which throws at once fails like one that rejects.
    new Promise((answer) => answer(question())).then(
      (value) => end({ state: "answered", value }),
      () => end(unanswered("failed")),
    );
  });
}

/** What was answered about a file, or why there is none: nobody to ask, no answer, or one that says so. */
export function valueOrReason(answer: Answer): { readonly value: unknown } | { readonly reason: string } {
  if (answer.state !== "answered") return { reason: answer.state === "absent" ? "invalid" : answer.reason };
  const { value } = answer;
  if (field(value, "state") !== "unavailable") return { value };
  return { reason: firstString(value, "reason") ?? "invalid" };
}

const unanswered = (reason: Extract<Answer, { state: "unanswered" }>["reason"]): Answer => ({
  state: "unanswered",
  reason,
});
