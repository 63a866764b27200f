import { type Entry, isCompactBoundary } from "../conversation/entry.ts";
import { timeOf } from "../conversation/lines.ts";
import type { BeforeOptions, Message } from "./options.ts";
import type { Needs } from "./parts.ts";
import { historyChanged, leaveOutMisplacedThinking, noteFindings } from "./rewrite.ts";

type Read = Needs<
  | "thread"
  | "gauge"
  | "turn"
  | "cache"
  | "pace"
  | "modules"
  | "reporter"
  | "newLink"
  | "transcript"
  | "memory"
  | "chain"
>;

/** A turn begins: with its caller, and another request around the messages if the host passes one. */
export function beginTurn(
  parts: Needs<"turn" | "frame" | "gauge" | "thread" | "health" | "reporter">,
  { caller, request }: BeforeOptions,
): void {
  const { turn, frame, gauge, thread, health, reporter } = parts;
  turn.begin(caller);
  const { isNew, isCheckedAnew } = frame.replace(request);
  if (isNew) gauge.forgetOverhead();
  if (isCheckedAnew) noteFindings(parts, thread.reframe());
  reporter.emitAll(health.onTurn());
}

/** Reads the host's list, writes what is new to the transcript, and tells everybody who must know. */
export function takeIn(parts: Read, messages: readonly Message[]): void {
  const { thread, turn, transcript, reporter, modules, memory, cache } = parts;
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
  if (isAnother) {
    historyChanged(parts);
    memory?.attachedIn(thread.entries);
  }
  modules.changed({ kind: "read", added, isAnother });
  // What had been attached may have gone with the conversation that it stood in.
  memory?.touched(isAnother ? thread.entries : added);
  if (added.some(({ type }) => type === "assistant")) turn.replyTaken();
  noteAdded(parts, added, reply !== undefined);
  cache.notePause();
  noteFindings(parts, findings);
  leaveOutMisplacedThinking(parts);
}

function noteAdded(
  { gauge, chain, cache }: Needs<"gauge" | "chain" | "cache">,
  entries: readonly Entry[],
  isCallTimeKnown: boolean,
): void {
  for (const entry of entries) {
    gauge.add(entry);
    if (isCompactBoundary(entry)) chain.foundEarlier();
    const at = entry.type === "assistant" && !isCallTimeKnown ? Date.parse(timeOf(entry) ?? "") : Number.NaN;
    if (Number.isFinite(at)) cache.called(at);
  }
}
