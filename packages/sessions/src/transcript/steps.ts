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

/** Operation on the whole conversation that can be undone, such as a compaction. */
export interface Step {
  readonly kind: StepKind;
  /**
   * Line that identifies the step: the boundary, the last marker of a snip, or the mark of a collapse, an
   * expansion or an undo.
   */
  readonly line: Entry;
  /**
   * Record of the undone step, if this step is an undo. Only a redo reverts an undo. A second undo does not.
   */
  readonly undo?: UndoRecord;
  /** First line that was written for the step. Everything before it is the previous state. */
  readonly first: Entry;
  /** Returns the messages since the step, oldest first, in the form in which they are sent to the model. */
  since(): readonly Entry[];
}

export interface StepChoice {
  readonly redo?: boolean | undefined;
  /**
   * Uuid of the line that identifies a step. The undo includes this step and all newer steps. Default: the
   * newest step.
   */
  readonly uuid?: string | undefined;
}

/**
 * Returns the step to undo. Returns undefined if there is no such step, or if the conversation before it no
 * longer exists.
 * @param lines all lines of the file, including repeated ones, to find edits of the host
 */
export function stepBack(
  index: EntryIndex,
  { redo = false, uuid }: StepChoice,
  lines: readonly Entry[] = [],
): (StepBack & { readonly step: Step }) | undefined {
  for (const step of stepsOf(index)) {
    const isUndo = step.undo !== undefined;
    // A redo is possible only right after an undo, because reverting an earlier undo would lose the steps
    // after it.
    if (redo && !isUndo) return undefined;
    if (isUndo !== redo || (uuid !== undefined && step.line.uuid !== uuid)) continue;
    const { before, moved } = conversationBefore(index, step.first, lines);
    if (before.entries.length === 0) return undefined;
    const there = new Set(before.entries.flatMap(({ uuid }) => uuid ?? []));
    const { entries, edited, replacesMessage } = withHostEdits(
      before.entries,
      currentLines(index).lines,
      lines,
    );
    const fileExists = (entry: Entry): boolean =>
      there.has(entry.uuid ?? "") ||
      replacesMessage.has(entry.uuid) ||
      copiedIds(entry).some((uuid) => there.has(uuid)) ||
      (isStandIn(entry) && standInUuids(entry).every((uuid) => there.has(uuid)));
    const since = step.since().filter((entry) => !fileExists(entry));
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

/** Yields the steps that led to the current conversation, newest first. Each step is computed on demand. */
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
    // A session that starts with a boundary has no earlier conversation.
    if (past.lines.length === 0) return;
    if (undo?.direction !== "redo") {
      const kind = undo?.step ?? "compaction";
      const since = (): readonly Entry[] => [...messagesSince(index, here, boundary), ...newer()];
      yield { kind, line: boundary, first: boundary, since, ...(undo === undefined ? {} : { undo }) };
    }
    // Caches the messages, because a list of all steps needs them for every step, and the steps share most of
    // them.
    let sinceThen: readonly Entry[] | undefined;
    later = () => {
      sinceThen ??= [...messagesSinceWithCopies(index, here), ...newer()];
      return sinceThen;
    };
    stretch = undo === undefined ? past : stretchBefore(index, boundary);
  }
}

/** Yields the steps since the last boundary. Each of them is marked by lines between the messages. */
function* stepsWithin(
  index: EntryIndex,
  stretch: ConversationLines,
  newer: () => readonly Entry[],
): Generator<Step> {
  const { lines } = stretch;
  let sent: readonly Entry[] | undefined;
  const shown = (): readonly Entry[] => {
    sent ??= toWireEntries(stretch);
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
    // In a damaged file, the first line of the step may be after `at`. Without `Math.min`, the loop would
    // find the same step forever.
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
  // Nested spans have a separate mark for each level, so the step may begin at an earlier mark.
  const first = lines.find(({ uuid }) => uuid !== undefined && uuid === stringField(line, "writtenWith"));
  return { kind: "expansion", line, first: first ?? line };
}

/**
 * Returns true for a line above the boundary. A mark above the boundary is among messages that the compaction
 * kept in place, so it belongs to a step before the compaction.
 */
function isFromBefore(index: EntryIndex, { boundary }: ConversationLines, line: Entry): boolean {
  return placeOf(index, line) < placeOf(index, boundary);
}

const placeOf = ({ positions }: EntryIndex, line: Entry | undefined): number =>
  positions.get(line?.uuid ?? "") ?? -1;

/**
 * Returns the messages after a compaction, or after a conversation was written again. Omits the lines that
 * this operation wrote.
 */
function messagesSince(index: EntryIndex, stretch: ConversationLines, boundary: Entry): readonly Entry[] {
  const isAfter = (line: Entry): boolean => !isFromBefore(index, stretch, line);
  const isPart = isOfCompaction(stretch.lines.filter(isAfter), boundary);
  return toWireEntries(stretch).filter((line) => isMessage(line) && isAfter(line) && !isPart(line));
}

/**
 * Returns the messages since the boundary. If an undo wrote the boundary, also returns the messages after the
 * undone step, which the undo copied.
 */
function messagesSinceWithCopies(index: EntryIndex, stretch: ConversationLines): readonly Entry[] {
  const { boundary, lines } = stretch;
  if (boundary === undefined) return [];
  const carriedFrom = undoRecordOf(boundary)?.carriedFrom;
  const from = carriedFrom === undefined ? -1 : lines.findIndex(({ uuid }) => uuid === carriedFrom);
  if (from === -1) return messagesSince(index, stretch, boundary);
  return toWireEntries(stretch).filter((line, place) => isMessage(line) && place >= from);
}

/**
 * Returns lines in the form in which they are sent. Clears the results in `clearedToolUseIds`, and removes
 * thinking that the API would refuse.
 */
function toWireEntries({ lines, boundary, clearedToolUseIds }: ConversationLines): readonly Entry[] {
  return withClearedResults(withoutRefusedThinking(lines, boundary), clearedToolUseIds);
}

/**
 * Checks whether an entry is a message. A stand-in (a snip marker or a collapsed span) does not count while
 * an undo can restore the messages that it replaces.
 */
function isMessage(entry: Entry): boolean {
  if ((isStandIn(entry) && !isSettled(entry)) || isCompactBoundary(entry)) return false;
  return entry.type === "user" || entry.type === "assistant" || entry.type === "attachment";
}

/**
 * Returns a predicate for the lines after a boundary that belong to its compaction: the summary, copies of
 * kept messages, restored content and hook output. Our lines name their boundary. For lines of other agents,
 * the compaction ends before the first new message of the user or the model.
 */
function isOfCompaction(after: readonly Entry[], boundary: Entry): (line: Entry) => boolean {
  const isNamed = (line: Entry): boolean => stringField(line, "writtenWith") === boundary.uuid;
  const namesItsLines =
    isCompactBoundary(boundary) && stringField(boundary.compactMetadata?.longhaul, "endsWith") !== undefined;
  // If a boundary was written again after a change by the host, it no longer names its last line. But the
  // other lines of the compaction still name the boundary.
  if (namesItsLines || after.some(isNamed)) return (line) => line.uuid === boundary.uuid || isNamed(line);
  const firstMessage = after.findIndex(isSaid);
  const beginning = new Set(
    after.slice(0, firstMessage === -1 ? undefined : firstMessage).map(({ uuid }) => uuid),
  );
  return ({ uuid }) => beginning.has(uuid);
}

/** Pattern of the command with which a person requests a compaction, and of its output on the screen. */
const COMPACT_COMMAND = /^\s*<(?:command-name>\/compact\b|command-message>compact\b|local-command-)/;

function isSaid(line: Entry): boolean {
  if (line.type !== "user" && line.type !== "assistant") return false;
  if (isSummaryEntry(line) || line.isMeta === true) return false;
  return line.type === "assistant" || !COMPACT_COMMAND.test(contentText(rawContent(line)));
}

/**
 * Yields the current conversation, then the conversation before its boundary, and so on up to the start of
 * the file.
 */
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
