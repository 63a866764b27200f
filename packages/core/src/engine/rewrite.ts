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
 * Every change of the engine's conversation: messages of the host come in, messages that were sent before are
 * rewritten, or the conversation starts anew. Each change is told to all parts that know something about the old one.
 */

type Rewritten = Needs<
  "thread" | "gauge" | "turn" | "cache" | "pace" | "modules" | "reporter" | "newLink" | "transcript"
>;

export interface Rewrite {
  /** The entries to be rewritten. */
  readonly entries: readonly Entry[];
  /** The line on which the next entry hangs. */
  readonly leaf: string | null;
  /** For the transcript, before the other lines of the rewrite. */
  readonly marks: readonly Entry[];
  /** Continues with these entries. `marks` are new ones of the caller that say what was saved. */
  goOnWith(entries: readonly Entry[], thinking: LeftOutThinking, marks?: readonly Entry[]): void;
}

interface LeftOutThinking {
  readonly blocks: number;
  readonly reason?: Extract<EventDetail, { readonly type: "thinking-left-out" }>["reason"];
}

/** Reads the host's list, writes what is new to the transcript, and tells everybody who must know. */
export function takeIn(parts: Rewritten, messages: readonly Message[]): void {
  const { thread, turn, transcript, reporter, modules, cache } = parts;
  const { reply } = turn;
  const taken = thread.take(messages, reply);
  // The lines of new thinking carry the place at which it was written.
  thread.misplacedThinking();
  const { added, findings, isAnotherConversation: isAnother, thinkingBlocks } = taken;
  turn.take(messages);
  transcript.add(taken.lines, taken.again);
  if (thinkingBlocks > 0) {
    reporter.emit({ type: "thinking-left-out", blocks: thinkingBlocks, reason: "rewrite" });
  }
  if (isAnother) historyChanged(parts);
  modules.changed({ kind: "read", added, isAnother });
  if (added.some(({ type }) => type === "assistant")) turn.replyTaken();
  noteAdded(parts, added, reply !== undefined);
  cache.notePause();
  noteFindings(parts, findings);
  leaveOutMisplacedThinking(parts);
}

function noteAdded(
  { gauge, turn, cache }: Needs<"gauge" | "turn" | "cache">,
  entries: readonly Entry[],
  isCallTimeKnown: boolean,
): void {
  for (const entry of entries) {
    gauge.add(entry);
    if (isCompactBoundary(entry)) turn.foundBoundary();
    const at = entry.type === "assistant" && !isCallTimeKnown ? Date.parse(timeOf(entry) ?? "") : Number.NaN;
    if (Number.isFinite(at)) cache.called(at);
  }
}

/**
 * Begins a change of messages that were sent before. Results that a request has the provider leave out would come back
 * at once, which may be far more than the window holds, so a rewrite starts from messages in which they are cleared.
 * Nothing changes before {@link Rewrite.goOnWith}.
 */
export function beginRewrite(parts: Rewritten): Rewrite {
  const { thread, reporter } = parts;
  const cleared = withHiddenCleared(parts);
  const marks = cleared === undefined ? [] : [cleared.mark];
  return {
    entries: cleared === undefined ? thread.entries : [...cleared.entries, cleared.mark],
    leaf: cleared?.mark.uuid ?? thread.leaf,
    marks,
    goOnWith(entries, { blocks, reason = "rewrite" }, own = []) {
      noteFindings(parts, thread.rewrite(entries, { kind: "rewritten", marks: [...own, ...marks] }));
      historyChanged(parts);
      const leftOut = blocks + (cleared?.thinkingLeftOut ?? 0);
      if (leftOut > 0) reporter.emit({ type: "thinking-left-out", blocks: leftOut, reason });
    },
  };
}

/** Messages that were sent before are another now: an answer under way and the cache are about the old ones. */
export function historyChanged({
  turn,
  cache,
  pace,
  gauge,
  modules,
}: Needs<"turn" | "cache" | "pace" | "gauge" | "modules">): void {
  turn.abandonAnswer();
  cache.invalidate();
  pace.rewritten();
  gauge.providerFreed(0);
  modules.changed({ kind: "rewritten" });
}

/** From here on the conversation is this one: everything known of the old one, or made ready for it, is forgotten. */
export function restart(parts: Rewritten & Needs<"background" | "agentId">, entries: readonly Entry[]): void {
  const { thread, cache, modules, background, turn, agentId, reporter } = parts;
  noteFindings(parts, thread.rewrite(entries, { kind: "restarted" }));
  historyChanged(parts);
  cache.restart();
  modules.changed({ kind: "restarted" });
  background.reset();
  // A subagent must not reset what others share; caches that it was given are its own.
  if (turn.ownsSharedState || agentId !== undefined) reporter.host.cleanCaches();
}

/** The agent no longer sees the files that these entries showed, so its next read must be a real one. */
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

/** Results cleared in the messages, and the mark that says so. */
export interface ClearedMessages extends AppliedClearing {
  readonly mark: MicrocompactBoundaryEntry;
}

export function withCleared(
  { thread, gauge, modules, newLink }: Needs<"thread" | "gauge" | "modules" | "newLink">,
  clearing: Clearing,
): ClearedMessages {
  const { bindsThinking } = gauge;
  const { hiddenTokens, hiddenSinceReport } = modules.leftOut();
  // The last usage is without the hidden results, but for the newest of them.
  const saved = gainOf(thread, clearing) - (hiddenTokens - hiddenSinceReport);
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

/** Tokens of the estimate that a clearing frees. */
export function gainOf({ contents }: Needs<"thread">["thread"], { results }: Clearing): number {
  const { placeholderTokens } = contents.results;
  return results.reduce((sum, { tokens }) => sum + tokens - placeholderTokens, 0);
}

/** Undefined if the provider leaves nothing out. */
function withHiddenCleared(
  parts: Needs<"thread" | "gauge" | "modules" | "newLink">,
): ClearedMessages | undefined {
  const hidden = parts.modules.hiddenToolUseIds();
  if (hidden.size === 0) return undefined;
  const { results } = parts.thread.contents;
  const edited = results.results().filter(({ id }) => hidden.has(id));
  return edited.length === 0 ? undefined : withCleared(parts, results.describe("cached", edited));
}

interface Shortened {
  readonly entries: readonly Entry[];
  readonly blocks: number;
}

/** Leaves out thinking that the model wrote behind other messages than those that are sent before it now. */
export function leaveOutMisplacedThinking(parts: Rewritten): void {
  // Without its thinking a message may be sent otherwise, which moves the thinking behind it.
  for (;;) {
    const misplaced = parts.thread.misplacedThinking();
    if (misplaced.size === 0) return;
    leaveOut(parts, "rewrite", (entries) => withoutBlocks(entries, misplaced));
  }
}

/** Leaves out all thinking. False if there is none. */
export function leaveOutAllThinking(parts: Rewritten): boolean {
  const withoutAny = (entries: readonly Entry[]): Shortened => withoutThinkingFrom(entries, 0);
  if (withoutAny(parts.thread.entries).blocks === 0) return false;
  leaveOut(parts, "mismatch", withoutAny);
  return true;
}

/** The session file gets the shortened lines again, under the same ids. */
function leaveOut(
  parts: Rewritten,
  reason: "rewrite" | "mismatch",
  shorten: (entries: readonly Entry[]) => Shortened,
): void {
  const rewrite = beginRewrite(parts);
  const { entries, blocks } = shorten(rewrite.entries);
  const again = entries.filter((entry, at) => entry !== rewrite.entries[at]);
  rewrite.goOnWith(entries, { blocks, reason });
  parts.transcript.add([...rewrite.marks, ...again], new Set(again));
}

/** Share of the request's bytes for pictures and documents: texts need the rest. */
const MEDIA_BYTES = MAX_REQUEST_BYTES * 0.75;
/** A batch leaves this share, so that the next one is far off: each costs a rewrite of the cached prefix. */
const LEFT_SHARE = 0.75;

/** Old pictures give way before the provider's limits are passed; one by one they would break the cache each turn. */
export function limitMedia(parts: Rewritten): void {
  const { thread, gauge } = parts;
  const { count, bytes } = thread.contents.media;
  const maxCount = maxMediaFor(gauge.facts.windowTokens);
  if (count <= maxCount && bytes <= MEDIA_BYTES) return;
  const left = { maxCount: Math.floor(maxCount * LEFT_SHARE), maxBytes: MEDIA_BYTES * LEFT_SHARE };
  if (withOldMediaAsMarks(thread.entries, left) === thread.entries) return;
  const rewrite = beginRewrite(parts);
  const marked = withOldMediaAsMarks(rewrite.entries, left);
  const first = marked.findIndex((entry, index) => entry !== rewrite.entries[index]);
  // The cleared results may have held all that was too much.
  const { entries, blocks } =
    gauge.bindsThinking && first !== -1 ? withoutThinkingFrom(marked, first) : { entries: marked, blocks: 0 };
  rewrite.goOnWith(entries, { blocks });
  parts.transcript.add(rewrite.marks);
  const { count: leftCount } = thread.contents.media;
  parts.reporter.emit({ type: "media-replaced", replaced: count - leftCount, left: leftCount });
}
