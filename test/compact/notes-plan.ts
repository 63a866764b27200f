import type { Entry } from "@longhaul/core";
import type { CompactionPlan } from "@longhaul/core/compaction";
import type { KnownMeasures } from "../../packages/core/src/compaction/plan/sized.ts";
import type { NotesDecline } from "../../packages/notes/src/plan-from-notes.ts";
import { type NotesPlanRequest, planFromNotes } from "../../packages/notes/src/plan-from-notes.ts";
import { ConversationBuilder } from "../support/builders.ts";

const PER_MESSAGE = 1_000;
export const OVERHEAD: number = 2_000;

/** Counts every sent entry as 1,000 tokens, unless `tokens` sets another count for it. */
function measured(entries: readonly Entry[], tokens: Readonly<Record<string, number>> = {}): KnownMeasures {
  const tokensOf = (entry: Entry): number =>
    tokens[entry.uuid ?? ""] ?? (["user", "assistant", "attachment"].includes(entry.type) ? PER_MESSAGE : 0);
  const total = OVERHEAD + entries.reduce((sum, entry) => sum + tokensOf(entry), 0);
  const context = {
    tokens: total,
    source: "usage" as const,
    reportedTokens: total,
    estimatedTokens: 0,
    paddedTokens: total,
  };
  return { tokensOf, context, ratio: 1, overheadTokens: OVERHEAD };
}

/** Builds a conversation. `e-1` is the first message. Prompts and answers alternate. */
export function talk(
  messages: number,
  c: ConversationBuilder = new ConversationBuilder(),
): ConversationBuilder {
  for (let at = 0; at < messages; at++) {
    if (at % 2 === 0) c.user(`request ${at}`);
    else c.assistant(`answer ${at}`);
  }
  return c;
}

export type Asked = Partial<NotesPlanRequest> & { readonly tokens?: Readonly<Record<string, number>> };

export const NOTES: string = "# Current State\n_what goes on_\n\nThe harbour is being dredged.";

function ask(entries: readonly Entry[], { tokens, ...request }: Asked): ReturnType<typeof planFromNotes> {
  return planFromNotes(
    { entries },
    { coveredUuid: undefined, text: NOTES, measured: measured(entries, tokens), ...request },
  );
}

export function planOf(entries: readonly Entry[], request: Asked): CompactionPlan {
  const made = ask(entries, request);
  if ("declined" in made) throw new Error(made.declined);
  return made.plan;
}

export function declineOf(entries: readonly Entry[], request: Asked): NotesDecline | undefined {
  const made = ask(entries, request);
  return "declined" in made ? made.declined : undefined;
}
