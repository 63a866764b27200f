import { type AppliedClearing, applyClearing, type Clearing } from "../compaction/clear/stale-results.ts";
import { withOldMediaAsMarks } from "../compaction/plan/shrink-messages.ts";
import { recentlyReadPaths } from "../compaction/restore/read-state.ts";
import { type Entry, isCompactBoundary, type MicrocompactBoundaryEntry } from "../messages/entry.ts";
import { timeOf } from "../messages/lines.ts";
import { withoutThinkingFrom } from "../messages/without-thinking.ts";
import { MAX_REQUEST_BYTES, maxMediaFor } from "../request/check/limits.ts";
import type { Finding } from "../request/check/rule.ts";
import { withoutBlocks } from "./bound-thinking.ts";
import type { EventDetail } from "./events.ts";
import type { Message } from "./options.ts";
import type { Needs } from "./parts.ts";

/**
 * Functions that change the engine's conversation: they read the host's messages, rewrite sent messages, or
 * start a new conversation. They notify all parts that know the old conversation.
 */

type RewriteParts = Needs<
  "thread" | "gauge" | "turn" | "cache" | "pace" | "modules" | "reporter" | "newLink" | "transcript"
>;

export interface Rewrite {
  /** The entries to rewrite. */
  readonly entries: readonly Entry[];
  /** Parent of the next entry's line. */
  readonly leaf: string | null;
  /** Marks for the transcript, to write before the other lines of the rewrite. */
  readonly marks: readonly Entry[];
  /** Continues with these entries. `marks` are marks of the caller that record the saved tokens. */
  apply(entries: readonly Entry[], thinking: RemovedThinking, marks?: readonly Entry[]): void;
}

interface RemovedThinking {
  readonly blocks: number;
  readonly reason?: Extract<EventDetail, { readonly type: "thinking-left-out" }>["reason"];
}

/** Reads the host's list, writes new entries to the transcript, and notifies all parts. */
export function ingest(parts: RewriteParts, messages: readonly Message[]): void {
  const { thread, turn, transcript, reporter, modules, cache } = parts;
  const { reply } = turn;
  const taken = thread.ingest(messages, reply);
  // Computes the positions of new thinking blocks before their lines are written, because the lines record
  // them.
  thread.misplacedThinking();
  const { added, findings, hasEarlierChanges, thinkingBlocks } = taken;
  turn.setHostMessages(messages);
  transcript.add(taken.lines, taken.rewrittenLines);
  if (thinkingBlocks > 0) {
    reporter.emit({ type: "thinking-left-out", blocks: thinkingBlocks, reason: "rewrite" });
  }
  if (hasEarlierChanges) onHistoryChanged(parts);
  modules.onChange({ kind: "read", added, hasEarlierChanges });
  if (added.some(({ type }) => type === "assistant")) turn.clearReply();
  recordAdded(parts, added, reply !== undefined);
  cache.recordPause();
  noteFindings(parts, findings);
  removeMisplacedThinking(parts);
}

function recordAdded(
  { gauge, turn, cache }: Needs<"gauge" | "turn" | "cache">,
  entries: readonly Entry[],
  isCallTimeKnown: boolean,
): void {
  for (const entry of entries) {
    gauge.add(entry);
    if (isCompactBoundary(entry)) turn.recordBoundary();
    const at = entry.type === "assistant" && !isCallTimeKnown ? Date.parse(timeOf(entry) ?? "") : Number.NaN;
    if (Number.isFinite(at)) cache.recordCallTime(at);
  }
}

/**
 * Starts a change of messages that were already sent. After a change, the provider would no longer drop the
 * tool results that it drops now. So the rewrite starts from messages in which these results are cleared.
 * Nothing changes before {@link Rewrite.apply}.
 */
export function beginRewrite(parts: RewriteParts): Rewrite {
  const { thread, reporter } = parts;
  const cleared = withHiddenCleared(parts);
  const marks = cleared === undefined ? [] : [cleared.mark];
  return {
    entries: cleared === undefined ? thread.entries : [...cleared.entries, cleared.mark],
    leaf: cleared?.mark.uuid ?? thread.leaf,
    marks,
    apply(entries, { blocks, reason = "rewrite" }, own = []) {
      noteFindings(parts, thread.rewrite(entries, { kind: "rewritten", marks: [...own, ...marks] }));
      onHistoryChanged(parts);
      const leftOut = blocks + (cleared?.removedThinkingBlocks ?? 0);
      if (leftOut > 0) reporter.emit({ type: "thinking-left-out", blocks: leftOut, reason });
    },
  };
}

/**
 * Notifies the parts that sent messages were changed. A pending response and the prompt cache belong to the
 * old messages.
 */
export function onHistoryChanged({
  turn,
  cache,
  pace,
  gauge,
  modules,
}: Needs<"turn" | "cache" | "pace" | "gauge" | "modules">): void {
  turn.abandonAnswer();
  cache.invalidate();
  pace.rewritten();
  gauge.setProviderClearedTokens(0);
  modules.onChange({ kind: "rewritten" });
}

/**
 * Replaces the conversation. Drops everything that is known about the old conversation or was prepared for
 * it.
 */
export function restart(
  parts: RewriteParts & Needs<"background" | "agentId">,
  entries: readonly Entry[],
): void {
  const { thread, cache, modules, background, turn, agentId, reporter } = parts;
  noteFindings(parts, thread.rewrite(entries, { kind: "restarted" }));
  onHistoryChanged(parts);
  cache.reset();
  modules.onChange({ kind: "restarted" });
  background.reset();
  // A subagent must not reset shared state, but it may clear its own caches.
  if (turn.ownsSharedState || agentId !== undefined) reporter.host.clearCaches();
}

/**
 * Reports the files in these entries to the host. The agent no longer sees their content, so its next read of
 * such a file must return the content again.
 */
export function forgetFiles(
  { reporter, options }: Needs<"reporter" | "options">,
  gone: readonly Entry[],
  pairs?: Parameters<typeof recentlyReadPaths>[2],
): void {
  const paths = recentlyReadPaths(gone, options.fileTools, pairs);
  if (paths.length > 0) reporter.host.filesForgotten(paths);
}

export function noteFindings(
  { turn, reporter }: Needs<"turn" | "reporter">,
  findings: readonly Finding[],
): void {
  if (findings.length === 0) return;
  turn.addFindings(findings);
  const rules: Record<string, number> = {};
  for (const { rule } of findings) rules[rule] = (rules[rule] ?? 0) + 1;
  reporter.emit({ type: "request-repaired", rules });
}

/** Messages with cleared results, and the mark that records the clearing. */
export interface ClearedMessages extends AppliedClearing {
  readonly mark: MicrocompactBoundaryEntry;
}

export function withCleared(
  { thread, gauge, modules, newLink }: Needs<"thread" | "gauge" | "modules" | "newLink">,
  clearing: Clearing,
): ClearedMessages {
  const { bindsThinking } = gauge;
  const { hiddenTokens, hiddenSinceReport } = modules.omittedTokens();
  // The last usage report excludes results that the provider drops. It still includes results that the
  // provider dropped after that report.
  const saved = tokensFreedBy(thread, clearing) - (hiddenTokens - hiddenSinceReport);
  const mark: MicrocompactBoundaryEntry = {
    ...newLink(thread.leaf),
    type: "system",
    subtype: "microcompact_boundary",
    microcompactMetadata: {
      compactedToolIds: clearing.results.map(({ id }) => id),
      preTokens: gauge.size().tokens,
      tokensSaved: Math.round(saved * gauge.ratio),
      ...(bindsThinking ? { longhaul: { bindsThinking: true } } : {}),
    },
  };
  return { ...applyClearing(thread.entries, clearing, { bindsThinking }), mark };
}

/** Returns the estimated tokens that a clearing frees. */
export function tokensFreedBy({ contents }: Needs<"thread">["thread"], { results }: Clearing): number {
  const { placeholderTokens } = contents.results;
  return results.reduce((sum, { tokens }) => sum + tokens - placeholderTokens, 0);
}

/** Clears the results that the provider drops. Returns undefined if there are none. */
function withHiddenCleared(
  parts: Needs<"thread" | "gauge" | "modules" | "newLink">,
): ClearedMessages | undefined {
  const hidden = parts.modules.hiddenToolUseIds();
  if (hidden.size === 0) return undefined;
  const { results } = parts.thread.contents;
  const edited = results.results().filter(({ id }) => hidden.has(id));
  return edited.length === 0 ? undefined : withCleared(parts, results.describe("cached", edited));
}

interface ShortenedEntries {
  readonly entries: readonly Entry[];
  readonly blocks: number;
}

/** Removes thinking blocks whose preceding messages have changed since the model wrote the blocks. */
export function removeMisplacedThinking(parts: RewriteParts): void {
  // Removing thinking can change a sent message, so that later thinking is misplaced too.
  for (;;) {
    const misplaced = parts.thread.misplacedThinking();
    if (misplaced.size === 0) return;
    removeBlocks(parts, "rewrite", (entries) => withoutBlocks(entries, misplaced));
  }
}

/** Removes all thinking. Returns false if there is none. */
export function removeAllThinking(parts: RewriteParts): boolean {
  const withoutAny = (entries: readonly Entry[]): ShortenedEntries => withoutThinkingFrom(entries, 0);
  if (withoutAny(parts.thread.entries).blocks === 0) return false;
  removeBlocks(parts, "mismatch", withoutAny);
  return true;
}

/** Removes blocks, and writes the shortened lines again to the session file under the same ids. */
function removeBlocks(
  parts: RewriteParts,
  reason: "rewrite" | "mismatch",
  shorten: (entries: readonly Entry[]) => ShortenedEntries,
): void {
  const rewrite = beginRewrite(parts);
  const { entries, blocks } = shorten(rewrite.entries);
  const rewritten = entries.filter((entry, at) => entry !== rewrite.entries[at]);
  rewrite.apply(entries, { blocks, reason });
  parts.transcript.add([...rewrite.marks, ...rewritten], new Set(rewritten));
}

/** Byte limit for images and documents. The rest of the request is for texts. */
const MEDIA_BYTES = MAX_REQUEST_BYTES * 0.75;
/**
 * Share of the limits that the remaining media may use after a batch. The share is low, so that batches are
 * rare: each batch rewrites the cached prefix.
 */
const REMAINING_SHARE = 0.75;

/**
 * Replaces old images in a batch before the provider's limits are reached. Replacing them one by one would
 * break the cache on every turn.
 */
export function limitMedia(parts: RewriteParts): void {
  const { thread, gauge } = parts;
  const { count, bytes } = thread.contents.media;
  const maxCount = maxMediaFor(gauge.facts.windowTokens);
  if (count <= maxCount && bytes <= MEDIA_BYTES) return;
  const left = { maxCount: Math.floor(maxCount * REMAINING_SHARE), maxBytes: MEDIA_BYTES * REMAINING_SHARE };
  if (withOldMediaAsMarks(thread.entries, left) === thread.entries) return;
  const rewrite = beginRewrite(parts);
  const marked = withOldMediaAsMarks(rewrite.entries, left);
  const first = marked.findIndex((entry, index) => entry !== rewrite.entries[index]);
  // `first` is -1 if the cleared results already contained all surplus media.
  const { entries, blocks } =
    gauge.bindsThinking && first !== -1 ? withoutThinkingFrom(marked, first) : { entries: marked, blocks: 0 };
  rewrite.apply(entries, { blocks });
  parts.transcript.add(rewrite.marks);
  const { count: leftCount } = thread.contents.media;
  parts.reporter.emit({ type: "media-replaced", replaced: count - leftCount, left: leftCount });
}
