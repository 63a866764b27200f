import {
  clip,
  type ErrorRecord,
  earlierItems,
  errorForms,
  failureText,
  type HumanMessage,
  isLaterSuccess,
  isSeenFixed,
  NOT_SEEN_TO_PASS,
  oneLine,
  quoted,
  readCommand,
  resolutionText,
  type SessionDigest,
  soundsLikeCorrection,
  successOf,
} from "@longhaul/core/internal/summary";
import type { UpdateInput } from "./news.ts";
import { asBullet, foreignItem, keptItem, type NoteItem, ownItem, putLast } from "./note-items.ts";

/** This file writes the section "Errors & Corrections" of the built-in notes. */

const CORRECTED = "- Correction by the user: ";
const MAX_CORRECTION_CHARS = 240;
/**
 * Maximum length of a correction by the user. A longer message may contain the words of a correction, but
 * mean something else.
 */
const LONGEST_CORRECTION_CHARS = 300;
const MAX_EARLIER_ERROR_CHARS = 320;
const MAX_EDITED_FILES = 4;
/** The agent must not repeat a mistake that a person corrected. */
const CORRECTION_WORTH = 20;
const FAILURE_WORTH = 8;
/** Horizontal lines and borders in the output of programs. */
const RULES = /[ \t]*[\u2500-\u257f=*_-]{4,}[ \t]*/g;
const OPEN = NOT_SEEN_TO_PASS;
/** Earlier versions wrote this text for an open failure. */
const FORMER_OPEN = " → no passing run since";
const OURS =
  /^- `([^`\n]*)`(?: \((\d{1,9})×\))?: ([^\n]*?)( → (?:no passing run since|not seen to pass since(?: \(a later commit with its hooks succeeded\))?|committed later without the hooks[^\n]*|a later (?:attempt|commit|push) succeeded|fixed[^\n]*|(?:did not occur|not|gone) in the next run[^\n]*))?$/;

/** A failure as the notes describe it. */
interface NotedError {
  readonly source: string;
  readonly times: number;
  readonly text: string;
  /** Text about the end of the failure, starting with an arrow. Empty if unknown. */
  readonly end: string;
}

type Slots = Map<string, NotedError | NoteItem>;

/** Lists failures with their outcomes, and the person's corrections. */
export function errorsAndCorrections(before: readonly string[], news: UpdateInput): readonly NoteItem[] {
  const { digest } = news;
  const slots: Slots = new Map();
  const known = [...before, ...newErrorsInSummary(before, digest)];
  for (const item of known) {
    const error = readError(item);
    if (error === undefined) slots.set(item, otherItem(item));
    else {
      const now = error.end.startsWith(OPEN) ? settled(error, digest) : error;
      // Drops a failure without an explanation if the failure no longer occurs.
      if (now.end === error.end || isExplained(error.text)) slots.set(keyOf(error), now);
    }
  }
  const fresh = [...digest.errors.filter(isWorthNoting), ...corrections(news)].sort((a, b) => a.at - b.at);
  for (const found of fresh) {
    if ("source" in found) takeError(slots, found);
    else takeCorrection(slots, found);
  }
  return [...slots.values()].map((slot) => ("forms" in slot ? slot : errorItem(slot)));
}

/** Returns errors that an earlier summary contains and the notes do not. */
function newErrorsInSummary(before: readonly string[], { earlier }: SessionDigest): readonly string[] {
  const slotOf = (item: string): string => {
    const error = readError(item);
    return error === undefined ? item : keyOf(error);
  };
  const noted = new Set(before.map(slotOf));
  return earlierItems(earlier, "Errors and Fixes")
    .map((item) => asBullet(clip(oneLine(item), MAX_EARLIER_ERROR_CHARS)))
    .filter((item) => !noted.has(slotOf(item)));
}

function otherItem(item: string): NoteItem {
  return item.startsWith(CORRECTED) ? keptItem(item, CORRECTION_WORTH) : foreignItem(item);
}

const isExplained = (text: string): boolean => failureText(text)?.telling === true;

/**
 * Decides whether a failure is noted. Errors about a wrong folder are not noted. Explained failures are
 * noted. Unexplained failures are noted only if they are severe and still open.
 */
function isWorthNoting({ text, resolution, weight }: ErrorRecord): boolean {
  if (/\bcd: [^\n]*: No such file/.test(text)) return false;
  return isExplained(text) || (weight === 3 && resolution === undefined);
}

/** Adds an error. If the notes already contain the error, increases its count and moves it to the end. */
function takeError(slots: Slots, record: ErrorRecord): void {
  const text = record.text.replace(RULES, " ");
  const error = readError(errorForms({ ...record, text, source: oneLine(record.source) })[0] ?? "");
  if (error === undefined) return;
  const known = slots.get(keyOf(error));
  const times = error.times + (known !== undefined && "times" in known ? known.times : 0);
  putLast(slots, keyOf(error), { ...error, times });
}

function takeCorrection(slots: Slots, { text }: HumanMessage): void {
  const line = `${CORRECTED}${quoted(clip(oneLine(text), MAX_CORRECTION_CHARS))}`;
  putLast(slots, line, ownItem([line, clip(line, 160)], CORRECTION_WORTH));
}

function readError(item: string): NotedError | undefined {
  const [, source, times = "1", text = "", end = ""] = OURS.exec(item) ?? [];
  return source === undefined
    ? undefined
    : { source, times: Number(times), text, end: end === FORMER_OPEN ? OPEN : end };
}

const keyOf = ({ source, text }: NotedError): string => `${source}: ${text}`;

function errorItem({ source, times, text, end }: NotedError): NoteItem {
  const often = times > 1 ? ` (${times}×)` : "";
  const forms = [
    `- \`${source}\`${often}: ${text}${end}`,
    `- \`${clip(source, 60)}\`${often}: ${clip(text, 120)}${clip(end, 80)}`,
  ];
  return ownItem(forms, end === "" ? 0 : FAILURE_WORTH);
}

/** Updates the error if what failed was seen to pass since. */
function settled(error: NotedError, digest: SessionDigest): NotedError {
  const failed = readCommand(0, error.source, undefined, undefined, false, digest.cwd);
  const edited = new Set<string>();
  for (const action of digest.exchanges.flatMap(({ actions }) => actions)) {
    if (action.kind === "edit") edited.add(action.path);
    if (action.kind !== "command") continue;
    const isFixed = isSeenFixed(action.run, failed);
    if (!isFixed && !isLaterSuccess(action.run, failed)) continue;
    const editedFiles = [...edited].slice(-MAX_EDITED_FILES);
    const end = resolutionText(
      { at: action.at, how: isFixed ? "passed" : successOf(failed), editedFiles },
      3,
    );
    // The new text may contain a path with a line break. In that case the noted error stays as it was,
    // because it must fit on one line.
    return end.includes("\n") ? error : { ...error, end };
  }
  return error;
}

/**
 * Returns the messages with which the person corrected the agent. The first message of a session is never a
 * correction.
 */
function corrections({ digest, before }: UpdateInput): readonly HumanMessage[] {
  const messages = digest.exchanges.flatMap(({ message }) => message ?? []);
  return messages.filter((message, index) => {
    if (message.afterInterruption || message.kind === "remark") return true;
    if (message.kind !== "request" || (index === 0 && !before.isBegun)) return false;
    return message.text.length <= LONGEST_CORRECTION_CHARS && soundsLikeCorrection(message);
  });
}
