import { headOf } from "../../../messages/text.ts";
import type { CommandRun } from "./command-runs.ts";

/** Finds out whether a test that a text names was seen to pass. */

/** Words that can name a test. Shorter words are ordinary ones. */
const NAMES = /[\p{L}_][\p{L}\p{N}_]{7,}/gu;
/** A name with an underscore or a change of case inside. An ordinary word has neither. */
const LOOKS_LIKE_NAME = /_|\p{Ll}\p{Lu}/u;
const SCANNED_CHARS = 1_000;
/** Words of a text about a test that fails. */
const ABOUT_FAILURE =
  /\b(?:fail\w*|fix(?:ing|es)?|investigat\w*|debug\w*|troubleshoot\w*|broken|red|error)\b/i;

/** Returns true if the text is about a failing test, and the last run of this test after `since` passed. */
export function isNamedTestSeenToPass(text: string, runs: readonly CommandRun[], since = -1): boolean {
  const scanned = headOf(text, SCANNED_CHARS);
  if (!ABOUT_FAILURE.test(scanned)) return false;
  const names = (scanned.match(NAMES) ?? []).filter((word) => LOOKS_LIKE_NAME.test(word));
  return names.some((name) => {
    const results = runs.filter(({ at }) => at > since).flatMap((run) => resultOf(name, run) ?? []);
    return results.at(-1) === "passed";
  });
}

/** Returns the result of the test in a command, or nothing if the output does not show it. */
function resultOf(name: string, { runs }: CommandRun): "passed" | "failed" | undefined {
  const isNamed = (title: string): boolean => title === name || title.split(/::| > |\/| /).includes(name);
  const tests = runs.filter(({ scope }) => scope.kind === "test");
  if (tests.some(({ failedNames }) => failedNames.some(isNamed))) return "failed";
  if (tests.some(({ passedNames }) => passedNames.some(isNamed))) return "passed";
  const own = tests.filter(({ scope }) => scope.filters.some((filter) => filter.includes(name)));
  if (own.some(({ state }) => state === "failed")) return "failed";
  return own.length > 0 && own.every(({ state }) => state === "passed") ? "passed" : undefined;
}
