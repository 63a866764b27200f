import { type Entry, isCompactBoundary, isEntry } from "../conversation/entry.ts";
import { requireOwnShape } from "../conversation/given-messages.ts";
import { reportedUsage } from "../conversation/reported-usage.ts";
import { ContextMeter, type ContextSize } from "./context-meter.ts";
import type { CountText } from "./measure.ts";

/**
 * How many responses back the estimate is calibrated. More would not make it better (old samples fade),
 * and the cost of a count must not grow with the conversation.
 */
const CALIBRATION_RESPONSES = 64;

/** How many tokens the conversation occupies in the window now. */
export function contextTokens(entries: readonly Entry[]): number {
  return measureContext(entries).tokens;
}

/** The canonical count of a conversation at hand. A host that counts every turn keeps a {@link ContextMeter}. */
export function measureContext(entries: readonly Entry[], countText?: CountText): ContextSize {
  return meterFor(entries, countText).size();
}

/** A meter that has read as much of the conversation's end as it takes to count and to calibrate. */
export function meterFor(entries: readonly Entry[], countText?: CountText): ContextMeter {
  const meter = new ContextMeter(countText ? { countText } : {});
  const boundaryIndex = entries.findLastIndex((entry) => isEntry(entry) && isCompactBoundary(entry));
  const boundary = entries[boundaryIndex];
  if (boundary) meter.add(boundary);
  for (let index = startOfCount(entries, boundaryIndex + 1); index < entries.length; index++) {
    const entry = entries[index];
    requireOwnShape(entry, index);
    if (isEntry(entry)) meter.add(entry);
  }
  return meter;
}

/** Walks back from the end, past enough responses to learn from. */
function startOfCount(entries: readonly Entry[], first: number): number {
  let responses = 0;
  let messageId: string | undefined;
  for (let index = entries.length - 1; index >= first; index--) {
    const entry = entries[index];
    if (entry?.type !== "assistant" || reportedUsage(entry) === undefined) continue;
    if (entry.message.id === undefined || entry.message.id !== messageId) responses++;
    messageId = entry.message.id;
    if (responses > CALIBRATION_RESPONSES) return index + 1;
  }
  return first;
}
