import { type ContentBlock, tagOf } from "../../message.ts";
import { stringField } from "../../untrusted.ts";
import type { Draft, DraftMessage, Part } from "../draft.ts";
import type { RuleName } from "../finding.ts";
import { rewriteParts } from "../rewrite.ts";

/**
 * A summary that the provider signed is the first block of the conversation and the only one; unsigned ones
 * stand where the assistant's replies had them. What it says is kept as text where the block may not stand.
 */
export function keepOneCompaction(draft: Draft): void {
  let isFirst = true;
  let hasSigned = false;
  let hasSummary = false;
  rewriteParts(draft, (part, message) => {
    const isFirstBlock = isFirst;
    isFirst = false;
    const summary = summaryOf(part.block);
    if (summary === undefined) return part;
    const isSigned = stringField(part.block, "signature") !== undefined;
    if (!isFirstBlock && (isSigned || message.role === "user")) {
      return asText(draft, part, summary, "compaction-misplaced", message);
    }
    hasSigned ||= isSigned;
    if (hasSummary && hasSigned) return asText(draft, part, summary, "compaction-repeated", message);
    hasSummary = true;
    return part;
  });
}

function summaryOf(block: ContentBlock): string | undefined {
  return tagOf(block) === "compaction" ? stringField(block, "content") : undefined;
}

function asText(
  draft: Draft,
  part: Part,
  summary: string,
  rule: RuleName,
  { role }: DraftMessage,
): Part | undefined {
  const isKept = summary.trim() !== "";
  draft.report({
    rule,
    at: part.origin,
    message: `A compaction block may not stand here in a ${role} message; ${isKept ? "its summary is sent as text" : "it was left out"}.`,
    action: isKept ? "replaced-by-text" : "dropped",
  });
  return isKept ? { block: { type: "text", text: summary }, origin: part.origin } : undefined;
}
