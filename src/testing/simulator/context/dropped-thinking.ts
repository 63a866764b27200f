import type { ApiMessage } from "../../../conversation/message.ts";
import { contentBlocks } from "../../../conversation/message.ts";
import { blockPath } from "./conversation.ts";
import type { SentThinking } from "./sent-thinking.ts";

/** What the provider did with a thinking block, as a response lists it. */
export interface InputTransformation {
  readonly type: "thinking_dropped" | "thinking_mismatch_allowed";
  readonly path: string;
  readonly reason: "model_binding_mismatch" | "prefix_binding_mismatch";
}

/** The thinking blocks right after a dropped one go with it: they continue the same thought. */
export function withTheRestOfTheRun(
  failed: readonly SentThinking[],
  thinking: readonly SentThinking[],
): readonly SentThinking[] {
  const dropped = new Set(failed);
  for (const [position, block] of thinking.entries()) {
    const before = thinking[position - 1];
    const isNext = before?.message === block.message && before.index === block.index - 1;
    if (before !== undefined && isNext && dropped.has(before)) dropped.add(block);
  }
  return [...dropped];
}

export function withoutBlocks(
  messages: readonly ApiMessage[],
  dropped: ReadonlySet<SentThinking>,
): readonly ApiMessage[] {
  const gone = new Map<number, Set<number>>();
  for (const { message, index } of dropped) {
    const indices = gone.get(message) ?? new Set();
    gone.set(message, indices.add(index));
  }
  return messages.flatMap((message, at) => {
    const indices = gone.get(at);
    if (indices === undefined) return [message];
    const content = contentBlocks(message.content).filter((_, index) => !indices.has(index));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

export function reportBlocks(
  thinking: readonly SentThinking[],
  found: {
    readonly unreadable: ReadonlySet<SentThinking>;
    readonly dropped: ReadonlySet<SentThinking>;
    readonly allowed: ReadonlySet<SentThinking>;
  },
): readonly InputTransformation[] {
  return thinking.flatMap((block): readonly InputTransformation[] => {
    const path = blockPath(block.message, block.index);
    const reason = found.unreadable.has(block) ? "model_binding_mismatch" : "prefix_binding_mismatch";
    if (found.dropped.has(block)) return [{ type: "thinking_dropped", path, reason }];
    if (found.allowed.has(block)) return [{ type: "thinking_mismatch_allowed", path, reason }];
    return [];
  });
}
