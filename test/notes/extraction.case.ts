import type { Model } from "@longhaul/core";
import type { ForkSource } from "@longhaul/core/compaction";
import { ESTIMATORS } from "@longhaul/core/measure";
import { flatten } from "@longhaul/core/request";
import type { ExtractionRequest } from "../../packages/notes/src/extract-notes.ts";
import type { Notes } from "../../packages/notes/src/notes-format.ts";
import { emptyNotes, NOTES_LIMITS } from "../../packages/notes/src/notes-format.ts";
import { NOTES_TEMPLATE, parseTemplate } from "../../packages/notes/src/template.ts";
import { ConversationBuilder } from "../support/builders.ts";

export const PATH = "/n/notes.md";
const TEMPLATE = parseTemplate(NOTES_TEMPLATE);
export const NOTES: Notes = { ...emptyNotes(TEMPLATE), coveredUuid: "uuid-7" };

export function sampleConversation(): ConversationBuilder {
  const built = new ConversationBuilder();
  built.user("Count the boats.");
  built.tool("t1", "look", {}, "nine boats");
  built.assistant("Nine.");
  return built;
}

/** Creates a request for notes, with defaults for everything that the test does not set. */
export function request(given: Partial<ExtractionRequest> = {}): ExtractionRequest {
  const { entries } = sampleConversation();
  return {
    notes: NOTES,
    path: PATH,
    template: TEMPLATE,
    limits: NOTES_LIMITS,
    countTokens: ESTIMATORS.o200k,
    instructions: undefined,
    fork: undefined,
    entries,
    fresh: given.entries ?? entries,
    model: undefined,
    clearedToolUseIds: new Set(),
    ...given,
  };
}

export const forkOf = (model: Model): ForkSource => ({
  model,
  frame: { system: "You count." },
  messagesFor: (entries) => flatten(entries),
  cachedMessages: 0,
});
