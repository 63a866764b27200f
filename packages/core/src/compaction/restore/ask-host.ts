import { field, firstString } from "../../messages/untrusted.ts";

/** Asks the host, with a time limit for each question. Every question ends with an answer or a reason. */

/** Time limit for one answer of the host. A later answer would delay the whole turn. */
const ANSWER_TIMEOUT_MS = 10_000;

export type Answer =
  /** The host does not have this function. */
  | { readonly state: "absent" }
  | { readonly state: "answered"; readonly value: unknown }
  | { readonly state: "unanswered"; readonly reason: "failed" | "timed-out" | "aborted" | "invalid" };

/**
 * Calls the host's function of this name. The promise always ends and never rejects, because an error of the
 * host is an answer like any other.
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

/** Registers a callback for the abort signal. The returned function unregisters it. */
type OnAbort = (fired: () => void) => () => void;

/**
 * Shares one listener for all questions. Many files are requested at once, and a signal with many listeners
 * looks like a leak.
 */
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

/** Reads a property of the host. A getter may throw. */
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
    // Call the question inside a promise. If the question throws at once, the promise then rejects, as if the
    // question had rejected.
    new Promise((answer) => answer(question())).then(
      (value) => end({ state: "answered", value }),
      () => end(unanswered("failed")),
    );
  });
}

/**
 * Returns the answer about a file, or the reason why there is none. The host may have no callback, it may not
 * answer, or the file may be unavailable.
 */
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
