import type { CompactionPlan, LeastSaving, Snapshot, SummarySource } from "@longhaul/core/compaction";
import { KEEP_RECENT_TOKENS } from "@longhaul/core/compaction";
import {
  firstAfterSummary,
  isWorthSummarizing,
  keepRecentUnder,
  measureConversation,
  planAt,
  type SizedConversation,
  type SizeOptions,
  savingOf,
  unseenCut,
} from "@longhaul/core/internal/compaction";
import {
  entryBlocks,
  indexOfMessage,
  isSynthetic,
  previousSoundCut,
  soundCuts,
} from "@longhaul/core/internal/messages";
import type { CountText } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import type { SummaryInstructions } from "@longhaul/core/summary";
import { type ContinuationInput, continuationMessage } from "@longhaul/core/summary";
import { notedUpTo } from "./notes-format.ts";

/** Reason why a compaction did not use the notes. */
export type NotesDecline =
  /** Notes are switched off, or were never set up. */
  | "disabled"
  | "no-file"
  | "unreadable"
  /** The notes are empty. */
  | "only-template"
  | "message-not-found"
  /** Everything in the notes has already been compacted. */
  | "nothing-new-noted"
  /** The user gave instructions that the notes do not cover. */
  | "instructions"
  | "hook-instructions"
  /**
   * The user wants to compact only a part of the conversation. Notes always replace everything up to a
   * message.
   */
  | "partial-compaction"
  /**
   * The user set the number of recent tokens to keep. With notes, the newest noted message determines what is
   * kept.
   */
  | "keep-recent-tokens"
  /**
   * After a compaction from notes, the conversation would still be above the threshold and would be compacted
   * again at once.
   */
  | "above-threshold"
  | "does-not-pay";

/**
 * Limits for the recent messages that a compaction from notes keeps. Tokens are counted as the provider
 * counts them.
 */
export interface NotesKeep {
  readonly leastTokens: number;
  /** Minimum number of messages with text. Tool calls and results alone do not show what the user wants. */
  readonly leastMessages: number;
  /**
   * Maximum tokens of kept messages, if some of them are in the notes. The notes contain those messages in
   * fewer words. A message that is not in the notes is always kept.
   */
  readonly mostTokens: number;
}

/** Default values for common windows. In smaller windows, the token values are reduced proportionally. */
export const NOTES_KEEP: NotesKeep = Object.freeze({
  leastTokens: KEEP_RECENT_TOKENS,
  leastMessages: 5,
  mostTokens: 40_000,
});

/**
 * Maximum share of the threshold for kept messages. In common windows, this share is larger than `mostTokens`
 * and has no effect. In small windows, it leaves space to continue.
 */
const MAX_SHARE = 0.25;

/**
 * Input of {@link planFromNotes}. The transcript path, the recall tool and the autonomy setting are needed to
 * count the text around the notes.
 */
export interface NotesPlanRequest
  extends SizeOptions,
    Pick<ContinuationInput, "transcriptPath" | "recallTool" | "autonomous"> {
  readonly trigger?: "manual" | "auto" | undefined;
  /** Newest message that the notes cover. Undefined if they cover all messages. */
  readonly coveredUuid: string | undefined;
  /** The notes as they will appear in the conversation. */
  readonly text: string;
  /**
   * Threshold of the next compaction. If the conversation would have this many tokens or more after the
   * compaction, the notes are declined.
   */
  readonly thresholdTokens?: number | undefined;
  /** Minimum saving. By default, notes that save too little are declined. With `none`, the caller decides. */
  readonly leastSaving?: LeastSaving | undefined;
  /** Default: {@link NOTES_KEEP}, reduced for a low threshold. */
  readonly keep?: Partial<NotesKeep> | undefined;
}

export type NotesPlan = { readonly plan: CompactionPlan } | { readonly declined: NotesDecline };

/**
 * Plans a compaction in which the notes replace the messages that they cover. Keeps all messages after the
 * newest noted message. Also keeps as many messages before it as the agent needs to continue. Never removes a
 * message that is not in the notes.
 */
export function planFromNotes(snapshot: Snapshot, request: NotesPlanRequest): NotesPlan {
  const sized = measureConversation(snapshot, request);
  const { coveredUuid } = request;
  const { entries } = sized;
  const noted = coveredUuid === undefined ? entries.length : notedUpTo(entries, coveredUuid);
  if (noted === undefined) return { declined: whyNotFound(snapshot, coveredUuid) };
  const { thresholdTokens = Number.POSITIVE_INFINITY } = request;
  const keep = { ...keepUnder(thresholdTokens), ...request.keep };
  const notes = countNotes(sized, request);
  const besides = sized.overheadTokens + notes.tokens;
  const tail = tailToKeep(sized, noted, { ...keep, belowTokens: thresholdTokens - besides });
  if (tail === undefined || !entries.slice(0, tail.cut).some(isWorthSummarizing)) {
    return { declined: "nothing-new-noted" };
  }
  const tokensAfter = besides + tail.tokens;
  if (tokensAfter >= thresholdTokens) return { declined: "above-threshold" };
  const { trigger = "manual", leastSaving = "worthwhile" } = request;
  const plan = planAt(sized, { trigger, variant: "whole", cut: tail.cut });
  if (leastSaving === "worthwhile" && !savingOf(plan, tokensAfter).pays) return { declined: "does-not-pay" };
  // Returns the known count of the notes text, because the compaction counts this long text again.
  const countTokens: CountText = (text) => (text === notes.text ? notes.tokens : plan.countTokens(text));
  return { plan: { ...plan, countTokens } };
}

/** Notes, and the user's permanent instructions that applied when they were written. */
export interface NotesText extends SummaryInstructions {
  /** Text as it will appear in the conversation. */
  readonly text: string;
}

/**
 * Returns a source that uses the notes as the summary of a compaction. If the compaction has other
 * instructions than the notes, the source declines, because the notes do not follow these instructions.
 */
export function notesSource({ text, instructions: standing }: NotesText): SummarySource {
  const decline = (given: string | undefined, instructions: string | undefined): NotesDecline | undefined => {
    if (text.trim() === "") return "only-template";
    const [known, asked] = [standing, given].map((words) => words?.trim() || undefined);
    if (asked !== undefined && asked !== known) return "instructions";
    return instructions === asked ? undefined : "hook-instructions";
  };
  return { text, decline };
}

/**
 * Returns the reason why the newest noted message is not in the compacted range. A message before the last
 * boundary has already been compacted.
 */
function whyNotFound({ entries }: Snapshot, coveredUuid: string | undefined): NotesDecline {
  const isHeld = coveredUuid !== undefined && indexOfMessage(entries, coveredUuid) !== -1;
  return isHeld ? "nothing-new-noted" : "message-not-found";
}

function keepUnder(thresholdTokens: number): NotesKeep {
  return {
    leastTokens: keepRecentUnder(thresholdTokens),
    leastMessages: NOTES_KEEP.leastMessages,
    mostTokens: Math.min(NOTES_KEEP.mostTokens, Math.floor(thresholdTokens * MAX_SHARE)),
  };
}

/** Counts the notes as they will be sent, including the fixed text around them. */
function countNotes(
  sized: SizedConversation,
  request: NotesPlanRequest,
): { readonly text: string; readonly tokens: number } {
  const { text: summary, transcriptPath, recallTool, autonomous, trigger = "manual" } = request;
  const { countText, ratio } = sized;
  const unseen = unseenCut(sized) < sized.entries.length ? ("whole" as const) : undefined;
  const words = { isNotes: true, keptRecent: true, trigger, transcriptPath, recallTool, autonomous, unseen };
  const text = continuationMessage({ summary, ...words });
  return { text, tokens: Math.ceil(countText(text) * ratio) };
}

interface Tail {
  readonly cut: number;
  readonly tokens: number;
  /** Number of messages with text. */
  readonly messages: number;
}

/**
 * Selects the messages to keep. First keeps all messages that are not noted, starting at a place where the
 * conversation can be cut. Adds earlier rounds until there are enough tokens and messages. The limits apply
 * only to these added rounds. Never keeps an earlier summary. If messages before a summary are not noted,
 * returns undefined, because the notes do not cover that summary either.
 */
function tailToKeep(
  sized: SizedConversation,
  noted: number,
  keep: NotesKeep & { readonly belowTokens: number },
): Tail | undefined {
  const first = firstAfterSummary(sized.entries);
  const sound = soundCuts(sized.entries, sized.pairs());
  const nothing = { cut: sized.entries.length, tokens: 0, messages: 0 };
  let tail = longer(sized, nothing, previousSoundCut(sound, Math.min(noted, unseenCut(sized))));
  if (tail.cut < first) return undefined;
  while (tail.tokens < keep.leastTokens || tail.messages < keep.leastMessages) {
    const next = longer(sized, tail, previousSoundCut(sound, tail.cut - 1));
    if (next.cut < first || Math.round(next.tokens) >= keep.belowTokens) break;
    // Keeps the newest round at any size. An agent that does not see the result of its last call would make
    // the call again.
    const isNewest = tail.tokens === 0;
    if (next.tokens > keep.mostTokens && !isNewest) break;
    tail = next;
  }
  return { ...tail, tokens: Math.round(tail.tokens) };
}

function longer({ entries, tokens }: SizedConversation, tail: Tail, cut: number): Tail {
  let { tokens: total, messages } = tail;
  for (let at = tail.cut - 1; at >= cut; at--) {
    total += tokens[at] ?? 0;
    const entry = entries[at];
    if (entry !== undefined && hasWords(entry)) messages++;
  }
  return { cut, tokens: total, messages };
}

/**
 * True if the entry contains text that a person or the model wrote. Text that the host added does not count.
 */
function hasWords(entry: Entry): boolean {
  if (entry.type !== "user" && entry.type !== "assistant") return false;
  if (entry.isMeta === true || (entry.type === "assistant" && isSynthetic(entry))) return false;
  return entryBlocks(entry).some((block) => block.type === "text" && isFilled(block.text));
}

const isFilled = (text: unknown): boolean => typeof text === "string" && text.trim() !== "";
