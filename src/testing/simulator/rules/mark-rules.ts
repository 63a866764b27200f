import { MAX_CACHE_MARKS } from "../../../conversation/check/limits.ts";
import type { JsonRecord } from "../../../conversation/untrusted.ts";
import { refuse } from "../wording/refuse.ts";
import { pathOf, recordField, recordsField, type SentMessage } from "./checked-body.ts";
import type { Inspection } from "./shape/shape-check.ts";

/** In the order of the prompt: tools, system, messages (what is inside a result before the result), the automatic one. */
export function checkCacheMarks(messages: readonly SentMessage[], inspection: Inspection): void {
  const { body } = inspection.request;
  const marks = new MarkCounter();
  for (const [index, tool] of recordsField(body, "tools").entries())
    marks.visit(tool, () => `tools.${index}.`);
  for (const [index, block] of recordsField(body, "system").entries()) {
    marks.visit(block, () => `system.${index}.`);
  }
  for (const { blocks } of messages) {
    for (const placed of blocks) {
      const { type, block } = placed;
      if (type === "tool_result" && typeof block.content !== "string") {
        for (const [index, nested] of recordsField(block, "content").entries()) {
          marks.visit(nested, () => `${pathOf(placed)}.content.${index}.`);
        }
      }
      if (block.cache_control !== undefined) marks.visit(block, () => `${pathOf(placed)}.`);
    }
  }
  checkAutomaticMark(body, messages);
  marks.visit(body, () => "");
  if (marks.count > MAX_CACHE_MARKS) refuse("tooManyMarks", { maximum: MAX_CACHE_MARKS, count: marks.count });
}

class MarkCounter {
  count = 0;
  #hasShort = false;

  visit(holder: JsonRecord, prefixOf: () => string): void {
    const mark = holder.cache_control;
    if (mark === undefined || mark === null) return;
    this.count++;
    if (lifetime(mark as JsonRecord) === "5m") this.#hasShort = true;
    else if (this.#hasShort) refuse("ttlOrder", { path: `${prefixOf()}cache_control.ttl` });
  }
}

function lifetime(mark: JsonRecord): string {
  return mark.ttl === "1h" ? "1h" : "5m";
}

/** It goes to the last block that can carry one; a mark of another lifetime there is a contradiction. */
function checkAutomaticMark(body: JsonRecord, messages: readonly SentMessage[]): void {
  const automatic = recordField(body, "cache_control");
  if (automatic === undefined) return;
  const last = lastCacheable(messages);
  const mark = last === undefined ? undefined : recordField(last, "cache_control");
  if (mark !== undefined && lifetime(mark) !== lifetime(automatic)) refuse("automaticMarkTtl");
}

function lastCacheable(messages: readonly SentMessage[]): JsonRecord | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const found = messages[at]?.blocks.findLast(
      ({ type }) => type !== "thinking" && type !== "redacted_thinking",
    );
    if (found !== undefined) return found.block;
  }
  return undefined;
}
