import {
  committedSpanIds,
  contentText,
  copiedIds,
  expandedSpanIds,
  isCollapsedSpan,
  isCompactBoundary,
  isSettled,
  isSnipMarker,
  isStandIn,
  isSummaryEntry,
  isUndoMark,
  rawContent,
  standInUuids,
  stringField,
  undoRecordOf,
  withoutRefusedThinking,
} from "@longhaul/core/internal/messages";
import type { Entry, StepBack, StepKind, UndoRecord } from "@longhaul/core/messages";
import { withClearedResults } from "@longhaul/core/messages";
import { conversationBefore, withHostEdits } from "./conversation-before.ts";
import type { EntryIndex } from "./entry-index.ts";
import { type ConversationLines, currentLines, indexedLinesBefore, stretchBefore } from "./relink.ts";

/** Something that was done to the conversation as a whole and is in effect. */
export interface Step {
  readonly kind: StepKind;
  /** The boundary, the first marker, the mark of a commit: what the step is known by. */
  readonly line: Entry;
  /** Set where it is an undo: of which step. That is taken back by a redo, not by a further undo. */
  readonly undo?: UndoRecord;
  /** The first line that was written for it: before this one everything was as it had been. */
  readonly first: Entry;
  /** What came since, oldest first and as it is sent. Messages only. */
  since(): readonly Entry[];
}

export interface StepChoice {
  readonly redo?: boolean | undefined;
  /** The step's line: it is taken back with all that is newer. The newest step unless given. */
  readonly uuid?: string | undefined;
}

/**
 * Undefined where there is no such step, or nothing is left of what was before it.
 *
 * @param lines all lines of the file, also those that are repeated, to find edits of the host.
 */
export function stepBack(
  index: EntryIndex,
  { redo = false, uuid }: StepChoice,
  lines: readonly Entry[] = [],
): (StepBack & { readonly step: Step }) | undefined {
  for (const step of stepsOf(index)) {
    const isUndo = step.undo !== undefined;
    // What was done after an undo would be lost by taking that undo back.
    if (redo && !isUndo) return undefined;
    if (isUndo !== redo || (uuid !== undefined && step.line.uuid !== uuid)) continue;
    const { before, moved } = conversationBefore(index, step.first, lines);
    if (before.entries.length === 0) return undefined;
    const there = new Set(before.entries.flatMap(({ uuid }) => uuid ?? []));
    const { entries, edited, standsFor } = withHostEdits(before.entries, currentLines(index).lines, lines);
    const isThere = (entry: Entry): boolean =>
      there.has(entry.uuid ?? "") ||
      standsFor.has(entry.uuid) ||
      copiedIds(entry).some((uuid) => there.has(uuid)) ||
      (isStandIn(entry) && standInUuids(entry).every((uuid) => there.has(uuid)));
    const since = step.since().filter((entry) => !isThere(entry));
    const withEdits = new Map(edited.map((line) => [line.uuid, line]));
    const isMoved = new Set(moved.map(({ uuid }) => uuid));
    return {
      step,
      before: { ...before, entries },
      edited: edited.filter(({ uuid }) => !isMoved.has(uuid)),
      moved: moved.map((line) => withMessageOf(line, withEdits.get(line.uuid))),
      since,
    };
  }
  return undefined;
}

const withMessageOf = (line: Entry, edited: Entry | undefined): Entry =>
  edited !== undefined && "message" in edited ? ({ ...line, message: edited.message } as Entry) : line;

/** The steps that led to the current conversation, newest first. Each is found where it is asked for. */
export function* stepsOf(index: EntryIndex): Generator<Step> {
  let stretch = currentLines(index);
  let later: () => readonly Entry[] = () => [];
  const seen = new Set<Entry>();
  while (stretch.lines.length > 0) {
    const { boundary } = stretch;
    const [here, newer] = [stretch, later];
    yield* stepsWithin(index, here, newer);
    if (boundary === undefined || seen.has(boundary)) return;
    seen.add(boundary);
    const undo = undoRecordOf(boundary);
    const past = indexedLinesBefore(index, boundary);
    // A session that begins with a boundary has no past of its own.
    if (past.lines.length === 0) return;
    if (undo?.direction !== "redo") {
      const kind = undo?.step ?? "compaction";
      const since = (): readonly Entry[] => [...cameSince(index, here, boundary), ...newer()];
      yield { kind, line: boundary, first: boundary, since, ...(undo === undefined ? {} : { undo }) };
    }
    // Who lists all steps asks each what came since, and much of that is the same.
    let sinceThen: readonly Entry[] | undefined;
    later = () => {
      sinceThen ??= [...carriedAndSince(index, here), ...newer()];
      return sinceThen;
    };
    stretch = undo === undefined ? past : stretchBefore(index, boundary);
  }
}

/** Those since the last boundary, which are lines among others. */
function* stepsWithin(
  index: EntryIndex,
  stretch: ConversationLines,
  newer: () => readonly Entry[],
): Generator<Step> {
  const { lines } = stretch;
  let sent: readonly Entry[] | undefined;
  const shown = (): readonly Entry[] => {
    sent ??= asSent(stretch);
    return sent;
  };
  for (let at = lines.length - 1; at >= 0; at--) {
    const step = stepEndingAt(lines, at);
    if (step === undefined || isFromBefore(index, stretch, step.first)) continue;
    const end = at;
    const isCopy = (line: Entry): boolean =>
      isUndoMark(step.line) && stringField(line, "writtenWith") === step.line.uuid;
    const isSince = (line: Entry, place: number): boolean => place > end && isMessage(line) && !isCopy(line);
    yield { ...step, since: () => [...shown().filter(isSince), ...newer()] };
    // In a damaged file it may stand further down, and the step would be found again for ever.
    at = Math.min(at, lines.indexOf(step.first));
  }
}

function stepEndingAt(lines: readonly Entry[], at: number): Omit<Step, "since"> | undefined {
  const line = lines[at];
  if (line === undefined) return undefined;
  if (isUndoMark(line)) {
    const { undo } = line;
    return undo.direction === "redo" ? undefined : { kind: undo.step, line, first: line, undo };
  }
  if (isSnipMarker(line) && !isSettled(line)) {
    let first = at;
    while (first > 0 && isSnipMarker(lines[first - 1] as Entry)) first -= 1;
    return { kind: "snip", line, first: lines[first] as Entry };
  }
  const committed = new Set(committedSpanIds(line));
  if (committed.size > 0) {
    const isSpan = (entry: Entry): boolean =>
      isCollapsedSpan(entry) && committed.has(entry.collapsed.spanId) && !isSettled(entry);
    return { kind: "collapse", line, first: lines.find(isSpan) ?? line };
  }
  if (expandedSpanIds(line).length === 0) return undefined;
  // Of spans within spans each level has a mark of its own.
  const first = lines.find(({ uuid }) => uuid !== undefined && uuid === stringField(line, "writtenWith"));
  return { kind: "expansion", line, first: first ?? line };
}

/** Of messages that a compaction kept in their place, the marks among them are no steps of this stretch. */
function isFromBefore(index: EntryIndex, { boundary }: ConversationLines, line: Entry): boolean {
  return placeOf(index, line) < placeOf(index, boundary);
}

const placeOf = ({ positions }: EntryIndex, line: Entry | undefined): number =>
  positions.get(line?.uuid ?? "") ?? -1;

/** What was said after a compaction, or after a conversation was written again, and is no part of that. */
function cameSince(index: EntryIndex, stretch: ConversationLines, boundary: Entry): readonly Entry[] {
  const isAfter = (line: Entry): boolean => !isFromBefore(index, stretch, line);
  const isPart = isOfCompaction(stretch.lines.filter(isAfter), boundary);
  return asSent(stretch).filter((line) => isMessage(line) && isAfter(line) && !isPart(line));
}

/** The same, with the copies that an undo wrote of what had come since the step that it took back. */
function carriedAndSince(index: EntryIndex, stretch: ConversationLines): readonly Entry[] {
  const { boundary, lines } = stretch;
  if (boundary === undefined) return [];
  const carriedFrom = undoRecordOf(boundary)?.carriedFrom;
  const from = carriedFrom === undefined ? -1 : lines.findIndex(({ uuid }) => uuid === carriedFrom);
  if (from === -1) return cameSince(index, stretch, boundary);
  return asSent(stretch).filter((line, place) => isMessage(line) && place >= from);
}

/** Every line as it is sent: emptied results, and without thinking that would be refused. */
function asSent({ lines, boundary, clearedToolUseIds }: ConversationLines): readonly Entry[] {
  return withClearedResults(withoutRefusedThinking(lines, boundary), clearedToolUseIds);
}

/** The messages of a stand-in come back in its place, unless it is settled. */
function isMessage(entry: Entry): boolean {
  if ((isStandIn(entry) && !isSettled(entry)) || isCompactBoundary(entry)) return false;
  return entry.type === "user" || entry.type === "assistant" || entry.type === "attachment";
}

/**
 * Which of the lines after a boundary were written for its compaction: the summary, messages that were written again
 * to be kept, what was put back, what hooks said. Lines of ours name their boundary. With other agents it is what
 * follows the summary, as far as nobody has said anything.
 */
function isOfCompaction(after: readonly Entry[], boundary: Entry): (line: Entry) => boolean {
  const isNamed = (line: Entry): boolean => stringField(line, "writtenWith") === boundary.uuid;
  const namesItsLines =
    isCompactBoundary(boundary) && stringField(boundary.compactMetadata?.longhaul, "endsWith") !== undefined;
  // A boundary that a host's change wrote again no longer names its last line.
  if (namesItsLines || after.some(isNamed)) return (line) => line.uuid === boundary.uuid || isNamed(line);
  const firstSaid = after.findIndex(isSaid);
  const beginning = new Set(after.slice(0, firstSaid === -1 ? undefined : firstSaid).map(({ uuid }) => uuid));
  return ({ uuid }) => beginning.has(uuid);
}

/** What a person types to have it compacted, and what is answered on the screen. */
const COMPACT_COMMAND = /^\s*<(?:command-name>\/compact\b|command-message>compact\b|local-command-)/;

function isSaid(line: Entry): boolean {
  if (line.type !== "user" && line.type !== "assistant") return false;
  if (isSummaryEntry(line) || line.isMeta === true) return false;
  return line.type === "assistant" || !COMPACT_COMMAND.test(contentText(rawContent(line)));
}

/** The current conversation, what was before its boundary, and so on. */
export function* stretchesBack(index: EntryIndex): Generator<ConversationLines> {
  const seen = new Set<Entry>();
  for (let stretch = currentLines(index); stretch.lines.length > 0; ) {
    yield stretch;
    const { boundary } = stretch;
    if (boundary === undefined || seen.has(boundary)) return;
    seen.add(boundary);
    stretch = stretchBefore(index, boundary);
  }
}
