import { withClearedResults } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import { currentConversation } from "@longhaul/sessions";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EngineLife, engineStep, shown } from "./engine-life.case.ts";

describe.each(["messages", "entries"] as const)("undo in a conversation of a host that keeps %s", (form) => {
  it.each(["claude-haiku-4-5", "claude-opus-5-5"])(
    "an undo after any steps returns to the messages before the undone step, and keeps later ones (%s)",
    async (modelName) => {
      const steps = fc.array(engineStep, { minLength: 4, maxLength: 20 });
      await fc.assert(
        fc.asyncProperty(steps, fc.boolean(), async (list, collapses) => {
          const life = new EngineLife({ form, modelName, collapses });
          for (const next of list) {
            await life.take(next);
            const sent = joined(await life.currentRequest());
            const { entries, clearedToolUseIds } = currentConversation(life.lines);
            expect(joined(shown(flatten(withClearedResults(entries, clearedToolUseIds))))).toEqual(sent);
          }
        }),
        { numRuns: 25 },
      );
    },
    60_000,
  );
});

/** Joins all messages. A session does not record where one message of a person ends and the next begins. */
const joined = (messages: readonly string[]): string =>
  messages
    .join()
    .replaceAll(/\]\],\["user",\[(?=\{)/g, (found, at: number, all: string) =>
      all.lastIndexOf('["user"', at) > all.lastIndexOf('["assistant"', at) ? "," : found,
    );
