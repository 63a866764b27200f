import { maxMediaFor } from "../../../../conversation/check/limits.ts";
import { refuse } from "../../wording/refuse.ts";
import { recordsField } from "../fields/readers.ts";
import type { Inspection } from "../shape/shape-check.ts";
import type { SentMessage } from "./conversation.ts";

export function checkMediaCount(messages: readonly SentMessage[], inspection: Inspection): void {
  const maximum = maxMediaFor(inspection.request.model?.windowTokens ?? 0);
  let count = 0;
  for (const { blocks } of messages) {
    for (const { type, block } of blocks) {
      if (isMedia(type)) count++;
      else if (type === "tool_result") {
        for (const nested of recordsField(block, "content")) if (isMedia(nested.type)) count++;
      }
    }
  }
  if (count > maximum) refuse("tooManyMedia", { maximum, count });
}

function isMedia(type: unknown): boolean {
  return type === "image" || type === "document";
}

export function checkToolsGiven(messages: readonly SentMessage[], inspection: Inspection): void {
  const { request, switches } = inspection;
  if (!switches.requireTools || recordsField(request.body, "tools").length > 0) return;
  const hasToolBlock = messages.some(({ blocks }) =>
    blocks.some(({ type }) => type === "tool_use" || type === "tool_result"),
  );
  if (hasToolBlock) refuse("toolsMissing");
}
