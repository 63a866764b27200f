import { isRecord, type JsonRecord, parseJson } from "../../untrusted.ts";
import type { Draft } from "../draft.ts";
import { rewriteParts, withBlock } from "../rewrite.ts";

export function mendToolInputs(draft: Draft): void {
  rewriteParts(draft, (part) => {
    const { block, origin } = part;
    if (block.type !== "tool_use" || isRecord(block.input)) return part;
    const message = "The input of a tool use must be an object.";
    draft.report({ rule: "tool-input-not-object", at: origin, message, action: "rewritten" });
    return withBlock(part, { ...block, input: objectInput(block.input) });
  });
}

/** Models sometimes write the whole input as a JSON string. What is no object at all is kept in one. */
export function objectInput(input: unknown): JsonRecord {
  if (isRecord(input)) return input;
  if (input === undefined || input === null || input === "") return {};
  const parsed = typeof input === "string" ? parseJson(input) : undefined;
  return isRecord(parsed) ? parsed : { value: input };
}
