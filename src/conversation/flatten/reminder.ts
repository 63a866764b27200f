import type { ContentBlock } from "../block.ts";

/** Marks text that the harness put in, so that the model does not take it for the user's own words. */
export function reminder(text: string): readonly ContentBlock[] {
  const trimmed = text.trim();
  if (trimmed === "") return [];
  return [{ type: "text", text: `<system-reminder>\n${trimmed}\n</system-reminder>` }];
}
