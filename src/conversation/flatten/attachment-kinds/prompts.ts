import type { ContentBlock } from "../../message.ts";
import { isBlock } from "../../message.ts";
import type { JsonRecord } from "../../untrusted.ts";

/** Typed while the agent was at work: the user's own words, which stand nowhere else. No reminder. */
export function queuedPrompt(attachment: JsonRecord): readonly ContentBlock[] {
  const { prompt } = attachment;
  if (typeof prompt === "string") return prompt.trim() === "" ? [] : [{ type: "text", text: prompt }];
  if (!Array.isArray(prompt)) return [];
  return prompt.flatMap((item): readonly ContentBlock[] => {
    if (typeof item === "string") return [{ type: "text", text: item }];
    return isBlock(item) ? [item] : [];
  });
}
