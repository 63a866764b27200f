import type { CompactionPlan, LeastSaving, Snapshot, SummarySource } from "@longhaul/core/compaction";
import { KEEP_RECENT_TOKENS } from "@longhaul/core/compaction";
import {
  firstAfterSummary,
  isWorthSummarising,
  keepRecentUnder,
  planAt,
  type SizedConversation,
  type SizeOptions,
  savingOf,
  sizeUp,
  unseenCut,
} from "@longhaul/core/internal/compaction";
import {
  entryBlocks,
  indexOfMessage,
  isSynthetic,
  previousSound,
  soundCuts,
} from "@longhaul/core/internal/messages";
import type { CountText } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import type { SummaryWishes } from "@longhaul/core/summary";
import { type ContinuationInput, continuationMessage } from "@longhaul/core/summary";
import { notedUpTo } from "./notes-format.ts";

/** Why notes were not used for a compaction. */
export type NotesDecline =
  /** Nobody set notes up, or they are switched off. */
  | "disabled"
  | "no-file"
  | "unreadable"
  /** Nothing has been noted. */
  | "only-template"
  | "message-not-found"
  /** All that is noted has been compacted away already. */
  | "nothing-new-noted"
  /** The user asked for something that notes do not know about. */
  | "instructions"
  | "hook-instructions"
  /** Only a part of the conversation is compacted. Notes stand for all of it up to a message. */
  | "partial-compaction"
  /** The user said how many recent tokens are kept. Notes decide that by the newest noted message. */
  | "keep-recent-tokens"
  /** The result would be due for the next compaction at once. */
  | "above-threshold"
  | "does-not-pay";

/** Limits for the newest messages kept beside the notes, in tokens as the provider counts them. */
export interface NotesKeep {
  readonly leastTokens: number;
  /** Calls and results alone do not show what is wanted: so many messages have words in them. */
  readonly leastMessages: number;
  /** The end of reaching back for the least: messages further back are in the notes, in fewer words. */
  readonly mostTokens: number;
}

/** For the usual windows; smaller ones have the tokens in proportion. */
export const NOTES_KEEP: NotesKeep = Object.freeze({
  leastTokens: KEEP_RECENT_TOKENS,
  leastMessages: 5,
  mostTokens: 40_000,
});

/** Of the threshold: more than the most in the usual windows, and what leaves room to go on in a small one. */
const MOST_SHARE = 0.25;

/** Transcript, recall tool and autonomy make the words around the notes longer. */
export interface NotesPlanRequest
  extends SizeOptions,
    Pick<ContinuationInput, "transcriptPath" | "recallTool" | "autonomous"> {
  readonly trigger?: "manual" | "auto" | undefined;
  /** The newest message that is in the notes; undefined where they do not say: then all of them are. */
  readonly coveredUuid: string | undefined;
  /** The notes as they will stand in the conversation. */
  readonly text: string;
  /** A result at or above it would be due for the next compaction at once. */
  readonly thresholdTokens?: number | undefined;
  /** By default notes that save less than is worthwhile are declined; `none` leaves the verdict to the caller. */
  readonly leastSaving?: LeastSaving | undefined;
  /** By default {@link NOTES_KEEP}, or less where the threshold is low. */
  readonly keep?: Partial<NotesKeep> | undefined;
}

export type NotesPlan = { readonly plan: CompactionPlan } | { readonly declined: NotesDecline };

/**
 * The plan by which the notes take the place of what they know: messages after the newest noted one are kept, and
 * as many before it as the agent needs to go on. Nothing that was not noted is ever summarised by it.
 */
export function planFromNotes(snapshot: Snapshot, request: NotesPlanRequest): NotesPlan {
  const sized = sizeUp(snapshot, request);
  const { coveredUuid } = request;
  const { entries } = sized;
  const noted = coveredUuid === undefined ? entries.length : notedUpTo(entries, coveredUuid);
  if (noted === undefined) return { declined: whyNotFound(snapshot, coveredUuid) };
  const { thresholdTokens = Number.POSITIVE_INFINITY } = request;
  const keep = { ...keepUnder(thresholdTokens), ...request.keep };
  const notes = countNotes(sized, request);
  const besides = sized.overheadTokens + notes.tokens;
  const tail = tailToKeep(sized, noted, { ...keep, belowTokens: thresholdTokens - besides });
  if (tail === undefined || !entries.slice(0, tail.cut).some(isWorthSummarising)) {
    return { declined: "nothing-new-noted" };
  }
  const tokensAfter = besides + tail.tokens;
  if (tokensAfter >= thresholdTokens) return { declined: "above-threshold" };
  const { trigger = "manual", leastSaving = "worthwhile" } = request;
  const plan = planAt(sized, { trigger, variant: "whole", cut: tail.cut });
  if (leastSaving === "worthwhile" && !savingOf(plan, tokensAfter).pays) return { declined: "does-not-pay" };
  // Carrying it out asks for the very same text, which is as long as a small conversation.
  const countTokens: CountText = (text) => (text === notes.text ? notes.tokens : plan.countTokens(text));
  return { plan: { ...plan, countTokens } };
}

/** Notes, and the standing instructions that they were taken by. */
export interface NotesText extends SummaryWishes {
  /** As it will stand in the conversation. */
  readonly text: string;
}

/** Notes as the summary of a compaction. They know nothing of what is asked for now: then somebody has to write. */
export function notesSource({ text, instructions: standing }: NotesText): SummarySource {
  const decline = (given: string | undefined, instructions: string | undefined): NotesDecline | undefined => {
    if (text.trim() === "") return "only-template";
    const [known, asked] = [standing, given].map((words) => words?.trim() || undefined);
    if (asked !== undefined && asked !== known) return "instructions";
    return instructions === asked ? undefined : "hook-instructions";
  };
  return { text, decline };
}

/** A host may still hold what lies before the last boundary: there it has been compacted away. */
function whyNotFound({ entries }: Snapshot, coveredUuid: string | undefined): NotesDecline {
  const isHeld = coveredUuid !== undefined && indexOfMessage(entries, coveredUuid) !== -1;
  return isHeld ? "nothing-new-noted" : "message-not-found";
}

function keepUnder(thresholdTokens: number): NotesKeep {
  return {
    leastTokens: keepRecentUnder(thresholdTokens),
    leastMessages: NOTES_KEEP.leastMessages,
    mostTokens: Math.min(NOTES_KEEP.mostTokens, Math.floor(thresholdTokens * MOST_SHARE)),
  };
}

/** As they will be sent, with our words around them. */
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
  /** How many of its messages have words in them. */
  readonly messages: number;
}

/**
 * All that was not noted, back to where nothing is torn apart; then round by round further back until there is
 * enough. Only the second gives way to the limits. An earlier summary is never kept as it is; undefined where what
 * was not noted reaches across one, which the notes then do not know either.
 */
function tailToKeep(
  sized: SizedConversation,
  noted: number,
  keep: NotesKeep & { readonly belowTokens: number },
): Tail | undefined {
  const first = firstAfterSummary(sized.entries);
  const sound = soundCuts(sized.entries, sized.pairs());
  const nothing = { cut: sized.entries.length, tokens: 0, messages: 0 };
  let tail = longer(sized, nothing, previousSound(sound, Math.min(noted, unseenCut(sized))));
  if (tail.cut < first) return undefined;
  while (tail.tokens < keep.leastTokens || tail.messages < keep.leastMessages) {
    const next = longer(sized, tail, previousSound(sound, tail.cut - 1));
    if (next.cut < first || Math.round(next.tokens) >= keep.belowTokens) break;
    // However large it is: an agent that does not see the result it has just asked for asks again.
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

/** Said by a person or by the model, and not by the host in their name. */
function hasWords(entry: Entry): boolean {
  if (entry.type !== "user" && entry.type !== "assistant") return false;
  if (entry.isMeta === true || (entry.type === "assistant" && isSynthetic(entry))) return false;
  return entryBlocks(entry).some((block) => block.type === "text" && isFilled(block.text));
}

const isFilled = (text: unknown): boolean => typeof text === "string" && text.trim() !== "";
