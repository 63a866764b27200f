import type { ContentBlock } from "../message.ts";

const CLOSING = /<\/(?=system-reminder)/gi;

/** What a file or a tool says must not end the reminder it stands in. */
const withoutClosing = (text: string): string => text.replace(CLOSING, "<\\/");

/** Marks text that the harness put in, so that the model does not take it for the user's own words. */
export function reminder(text: string): readonly ContentBlock[] {
  const trimmed = text.trim();
  if (trimmed === "") return [];
  return [{ type: "text", text: `<system-reminder>\n${withoutClosing(trimmed)}\n</system-reminder>` }];
}
