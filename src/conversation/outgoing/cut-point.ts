import { type Draft, type DraftMessage, finishMessage } from "../check/draft.ts";
import type { RuleName } from "../check/finding.ts";
import { OpenServerCalls } from "./server-calls.ts";
import { itemIndexOf } from "./whole-rules.ts";

/**
 * The last assistant message that the checked conversation can be parted before: all that stands before it
 * came from before it, all after it from after it, and no call of a tool that the provider runs waits for its
 * answer. A turn that was ended because it lacks thinking stays on one side: it is whole again once the user speaks.
 * Undefined where there is none. Looks at the messages after `first` only.
 */
export function lastCut(draft: Draft, first: number): number | undefined {
  const { messages } = draft;
  const before = originsBefore(messages);
  const lostCalls = itemsOf(draft, "server-tool-unanswered");
  const newest = Math.min(...itemsOf(draft, "thinking-not-first"));
  let lowest = Number.POSITIVE_INFINITY;
  for (let index = messages.length - 1; index > first; index--) {
    const message = messages[index];
    if (message === undefined) continue;
    lowest = Math.min(lowest, lowestOrigin(message));
    const isStart = message.role === "assistant" && message.origin.message === lowest;
    if (!isStart || (before[index] ?? lowest) >= lowest || lowest > newest) continue;
    if (lostCalls.every((call) => isLostForGood(call, messages, index))) return index;
  }
  return undefined;
}

/** For each message the newest origin of all before it; infinite where a call is open. */
function originsBefore(messages: readonly DraftMessage[]): readonly number[] {
  const origins: number[] = [];
  const calls = new OpenServerCalls();
  let highest = -1;
  for (const message of messages) {
    origins.push(calls.areOpen ? Number.POSITIVE_INFINITY : highest);
    highest = Math.max(highest, message.origin.message);
    for (const { origin } of message.parts) highest = Math.max(highest, origin.message);
    calls.visit(message);
  }
  return origins;
}

function lowestOrigin(message: DraftMessage): number {
  let lowest = message.origin.message;
  for (const { origin } of message.parts) lowest = Math.min(lowest, origin.message);
  return lowest;
}

function itemsOf({ findings }: Draft, wanted: RuleName): readonly number[] {
  if (findings.length === 0) return [];
  const found = findings.filter(({ rule }) => rule === wanted);
  return found.flatMap((finding) => itemIndexOf(finding) ?? []);
}

/**
 * A call was dropped because somebody spoke before its answer came. If what was said is a repair of ours, it
 * may be gone with the next item, and the call be open again; so it takes a message that came as it is.
 */
function isLostForGood(call: number, messages: readonly DraftMessage[], cut: number): boolean {
  const start = messages[cut]?.origin.message ?? 0;
  if (call >= start) return true;
  return messages.some(
    (message, index) =>
      index < cut &&
      message.role !== "assistant" &&
      message.origin.message > call &&
      message.parts.some((part) => part.block.type !== "tool_result") &&
      message.source !== undefined &&
      finishMessage(message).content === message.source.content,
  );
}
