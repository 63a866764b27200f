import { tagOf } from "../../message.ts";
import type { Draft, DraftMessage } from "../draft.ts";
import type { CheckSettings } from "../rule.ts";

/**
 * Today the API merges messages of one role in a row by itself, but its own tools still list the old
 * refusal. Merging here is right under both readings. System messages in a row are one section as they are.
 */
export function mergeSameRole(draft: Draft, settings: CheckSettings): void {
  const hasNeighbours = draft.messages.some((message, index) => {
    const previous = draft.messages[index - 1];
    return previous !== undefined && canMerge(previous, message);
  });
  if (!hasNeighbours) return;
  const runs: DraftMessage[][] = [];
  for (const message of draft.messages) {
    const run = runs.at(-1);
    const previous = run?.[0];
    if (run === undefined || previous === undefined || !canMerge(previous, message)) {
      runs.push([message]);
      continue;
    }
    run.push(message);
    if (settings.consecutiveRoles === "accepted") continue;
    const text = `Two ${message.role} messages in a row became one.`;
    draft.report({ rule: "same-role", at: message.origin, message: text, action: "merged" });
  }
  draft.messages = runs.flatMap(mergeRun);
}

function canMerge(first: DraftMessage, second: DraftMessage): boolean {
  return first.role === second.role && first.role !== "system" && !isCompaction(first);
}

/** A message that is the provider's own summary may have the assistant's first kept message after it. */
function isCompaction(message: DraftMessage): boolean {
  return message.parts.length > 0 && message.parts.every((part) => tagOf(part.block) === "compaction");
}

function mergeRun(run: readonly DraftMessage[]): DraftMessage[] {
  const [first, ...rest] = run;
  if (first === undefined || rest.length === 0) return [...run];
  return [{ ...first, parts: run.flatMap((message) => message.parts) }];
}
