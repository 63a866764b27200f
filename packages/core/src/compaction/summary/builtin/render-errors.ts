import { bulleted, clip, clipMarkdown, oneLine, quoted } from "../clip.ts";
import {
  AFTER_BYPASS,
  BYPASSED,
  type CommandRun,
  commandsIn,
  type ErrorRecord,
  earlierItems,
  errorForms,
  isBypass,
  isLaterSuccess,
  isNamedTestSeenToPass,
  isSeenFixed,
  LABELS,
  laterSuccess,
  NOT_SEEN_TO_PASS,
  readCommand,
  type SessionDigest,
  soundsLikeCorrection,
  successOf,
} from "../readers/readers.ts";
import { type Piece, piece, rising } from "./budget.ts";

/** Renders the section "Errors and Fixes". */

const MAX_BY_WEIGHT: Readonly<Record<ErrorRecord["weight"], number>> = { 1: 4, 2: 6, 3: 16 };
const MAX_CORRECTIONS = 8;
const MAX_EARLIER_ERROR_CHARS = 320;

export function renderErrors(digest: SessionDigest): Piece[] {
  const chosen = digest.errors
    .toSorted((a, b) => errorImportance(b, digest) - errorImportance(a, digest))
    .filter(withinLimits())
    .sort((a, b) => a.at - b.at);
  const errors = chosen.map((error) =>
    piece(errorForms(error), errorImportance(error, digest), LABELS.failures),
  );
  return [...earlierErrors(digest, chosen), ...errors, ...corrections(digest)];
}

/** Limits the number of small command-line mistakes, which are worth a line only while they are few. */
function withinLimits(): (error: ErrorRecord) => boolean {
  const taken = { 1: 0, 2: 0, 3: 0 };
  return ({ weight }) => ++taken[weight] <= MAX_BY_WEIGHT[weight];
}

/**
 * Returns the importance of an error. Open failures of tests, builds and checks are most important. Recent
 * errors are more important than old ones.
 */
function errorImportance(error: ErrorRecord, digest: SessionDigest): number {
  const recency = (60 * error.at) / Math.max(1, lastPosition(digest));
  const open = error.resolution === undefined && error.weight === 3 ? 120 : 0;
  return 50 + error.weight * 25 + recency + open;
}

function lastPosition(digest: SessionDigest): number {
  const last = digest.exchanges.at(-1);
  return Math.max(last?.actions.at(-1)?.at ?? 0, last?.texts.at(-1)?.at ?? 0, last?.message?.at ?? 0);
}

function corrections(digest: SessionDigest): Piece[] {
  // Before its first work, the agent has done nothing that the user could correct.
  const worked = digest.exchanges.findIndex(({ actions, texts }) => actions.length + texts.length > 0);
  const since = digest.earlier === undefined ? worked : -1;
  const messages = digest.exchanges.flatMap(({ message }, at) =>
    message && at > since && soundsLikeCorrection(message) ? [message] : [],
  );
  return messages.slice(-MAX_CORRECTIONS).map(({ text, afterInterruption }, index) => {
    const how = afterInterruption ? "after interrupting the assistant: " : "";
    return piece([`- ${how}${quoted(clip(oneLine(text), 180))}`], 160 + index, LABELS.corrections);
  });
}

/** Returns the key of an error's item: its command and text, without its state. */
const errorKey = (item: string): string =>
  oneLine(item)
    .replace(/ → [^→]*$/, "")
    .replace(/^(- `[^`]*`) \(\d+×\)/, "$1");

/** Ending of an earlier error about a test that a later run was seen to pass. */
const SEEN_TO_PASS = " → seen to pass since";
/** State at the end of an error's item. A shortened item keeps it. */
const STATE_END = / → (?:fixed|(?:not )?seen to pass|a later|committed later|did not occur)[^→]{0,200}$/;

/** An item of {@link corrections}. Earlier versions wrote "interrupted". */
const CORRECTION_ITEM = /^- (?:(?:after interrupting the assistant|interrupted): )?"[\s\S]*"$/;

/** Renders the errors of the earlier summary, except those that `newer` lists with their newer state. */
function earlierErrors({ earlier, exchanges, cwd }: SessionDigest, newer: readonly ErrorRecord[]): Piece[] {
  const runs = exchanges.flatMap(commandsIn);
  const known = new Set(newer.flatMap((error) => errorForms(error).map(errorKey)));
  const items = earlierItems(earlier, "Errors and Fixes").filter(
    (item) => !CORRECTION_ITEM.test(item) && !known.has(errorKey(item)),
  );
  return items.map((item, index) => {
    const end = STATE_END.exec(item)?.[0] ?? "";
    const bullet = bulleted(item.slice(0, item.length - end.length));
    const state = stateSince(bullet, end, runs, cwd);
    return piece(
      [
        clipMarkdown(bullet, MAX_EARLIER_ERROR_CHARS - state.length) + state,
        clip(oneLine(bullet), 140) + state,
      ],
      rising(70, 84, index, items.length),
      LABELS.earlierErrors,
    );
  });
}

/** Returns the state of an earlier error after these runs. */
function stateSince(
  item: string,
  state: string,
  runs: readonly CommandRun[],
  cwd: string | undefined,
): string {
  if (state === "" && isNamedTestSeenToPass(item, runs)) return SEEN_TO_PASS;
  const source = /^- `([^`]+)`/.exec(item)?.[1];
  const isUnproven = state === "" || state.startsWith(NOT_SEEN_TO_PASS) || state === BYPASSED;
  if (!isUnproven || source === undefined) return state;
  // The agent's description replaces a long command.
  const failed = readCommand(0, source, source, undefined, false, cwd);
  const success = runs.find((run) => isSeenFixed(run, failed) || isLaterSuccess(run, failed));
  if (success === undefined) return runs.some((run) => isBypass(run, failed)) ? BYPASSED : state;
  if (isSeenFixed(success, failed)) return SEEN_TO_PASS;
  return state === BYPASSED ? AFTER_BYPASS : laterSuccess(successOf(failed));
}
