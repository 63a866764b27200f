import { ConversationBuilder } from "../../../../../../test/support/builders.ts";
import { continuationMessage, type SectionName, splitSections } from "../summary-message.ts";
import { summarize } from "./summarize.ts";

/** Writes built-in summaries of conversations in tests, and reads their sections. */

const countTokens = (text: string): number => Math.ceil(text.length / 3);

export const summaryOf = (session: ConversationBuilder): string =>
  summarize(session.entries, { countTokens }).text;

export const sectionOf = (text: string, name: SectionName): string =>
  splitSections(text).find((section) => section.name === name)?.body ?? "";

/** Starts a conversation after a summary. */
export function after(summary: string): ConversationBuilder {
  const session = new ConversationBuilder();
  session.boundary();
  session.summary(
    continuationMessage({ summary, transcriptPath: "/t.jsonl", keptRecent: false, trigger: "auto" }),
  );
  return session;
}
