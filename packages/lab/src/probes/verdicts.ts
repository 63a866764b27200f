import type { Passage } from "./read-context.ts";
import { isNegation } from "./words.ts";

export type Verdict = "passed" | "failed";

const PASSED =
  "pass passes passed passing green clean succeed succeeds succeeded success successful successfully ok works worked fixed resolved repaired solved gone";
const FAILED =
  "fail fails failed failing failure failures broken broke error errors problems issues warnings complains complain crash crashes crashed red";
const VERDICTS: ReadonlyMap<string, Verdict> = new Map([
  ...PASSED.split(" ").map((word) => [word, "passed"] as const),
  ...FAILED.split(" ").map((word) => [word, "failed"] as const),
]);
const NEGATION_REACH = 3;
const NONE = new Set(["0", "zero"]);
/** "Should pass now" is a hope and no result. "Got it to pass" is a result. */
const HOPES = new Set(
  "should will would must might may could to until whether expect expected expects".split(" "),
);

interface SeenVerdict {
  readonly verdict: Verdict | "open";
  readonly at: number;
}

function verdictsIn(tokens: readonly string[]): SeenVerdict[] {
  return tokens.flatMap((token, at): SeenVerdict[] => {
    const verdict = VERDICTS.get(token);
    if (verdict === undefined) return [];
    const before = tokens.slice(Math.max(0, at - NEGATION_REACH), at);
    if (verdict === "passed" && !before.includes("got") && before.some((word) => HOPES.has(word)))
      return [{ verdict: "open", at }];
    const isTurned = before.some((word) => word !== "only" && (isNegation(word) || NONE.has(word)));
    return [{ verdict: isTurned ? turned(verdict) : verdict, at }];
  });
}

const turned = (verdict: Verdict): Verdict => (verdict === "passed" ? "failed" : "passed");

/** The words of a line, with the place behind the last mention of a check. */
interface Mention {
  readonly tokens: readonly string[];
  readonly from: number;
}

function mentionIn(tokens: readonly string[], forms: readonly string[]): Mention | undefined {
  let from = -1;
  for (const form of forms) {
    const words = form.split(" ");
    for (let at = tokens.length - words.length; at >= 0 && at + words.length > from; at--) {
      if (words.every((word, index) => tokens[at + index] === word)) from = at + words.length;
    }
  }
  return from === -1 ? undefined : { tokens, from };
}

/**
 * Returns the last verdict that a line gives to a check: the last one behind the mention of the check and before
 * that of another check, or else the last one of the line.
 *
 * @param forms Names of the check in normal form.
 * @param rivals Names of other checks in normal form.
 */
export function lastVerdict(
  line: readonly Passage[],
  forms: readonly string[],
  rivals: readonly string[],
): Verdict | "open" | undefined {
  const mention = mentionIn(tokensOfLine(line), forms);
  if (mention === undefined) return undefined;
  const found = verdictsIn(mention.tokens);
  const next = mention.tokens.findIndex((token, at) => at >= mention.from && rivals.includes(token));
  const own = found.filter(({ at }) => at >= mention.from && (next === -1 || at < next));
  return (own.at(-1) ?? found.at(-1))?.verdict;
}

/** Words that say when a verdict was reached. A verdict in the past may have changed since. */
const FINAL = new Set("last latest final finally still currently now remains".split(" "));
const FINAL_REACH = 5;
/** Verbs of failure. A noun such as "test failure" names an event. */
const FAILS = new Set("fail fails failed failing complains complain problems".split(" "));
const PRESENT = new Set("fails complains complain".split(" "));
const PAST = new Set("was were".split(" "));
/** Words that open another statement. */
const BREAKS = new Set(
  "when if that which where expect expects expected for whether because until unless as and but".split(" "),
);
const SUBJECT_REACH = 5;

/** Returns true if a sentence states that a check fails at the end. Its verdict stands near the check. */
export function claimsFailure(sentence: Passage, forms: readonly string[]): boolean {
  const mention = mentionIn(sentence.form.split(" "), forms);
  if (mention === undefined) return false;
  const { tokens, from } = mention;
  const [own] = verdictsIn(tokens).filter(({ at }) => at >= from);
  if (own?.verdict !== "failed" || !FAILS.has(tokens[own.at] ?? "")) return false;
  const between = tokens.slice(from, own.at);
  if (between.length > SUBJECT_REACH || between.some((word) => BREAKS.has(word) || PAST.has(word)))
    return false;
  const near = tokens.slice(Math.max(0, from - FINAL_REACH), own.at + FINAL_REACH);
  return near.some((word) => FINAL.has(word)) || PRESENT.has(tokens[own.at] ?? "");
}

const tokensOfLine = (line: readonly Passage[]): string[] => line.flatMap(({ form }) => form.split(" "));
