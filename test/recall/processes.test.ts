import { openRecall } from "@longhaul/sessions";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../support/builders.ts";
import { killedAfter, startProcess } from "../transcript/child-processes.ts";
import { append, sessionFiles } from "./session-file.ts";

const MINUTE_MS = 60_000;
/**
 * A text that is longer than a search reads without an index. After such a text is appended, the next search
 * extends the index.
 */
const FILLING = "stripes and more stripes ".repeat(12_000);

const sessionFile = sessionFiles();
const ask = (path: string, count: number): ReturnType<typeof startProcess> =>
  startProcess("recall-process.ts", path, "zebra", count);

/** Appends messages of a subagent. They are never in the context, so recall finds them at once. */
function growing(path: string, times: number): void {
  const builder = new ConversationBuilder(`more${times}`);
  builder.user(`zebra ${FILLING}`, { isSidechain: true, parentUuid: null });
  append(path, builder.entries);
}

const started = (): string => {
  const builder = new ConversationBuilder();
  builder.user("the first zebra");
  builder.boundary();
  builder.summary("Summary.");
  return sessionFile(builder.entries);
};

describe("several processes that search the same session", () => {
  it("parallel searches of a growing session never miss earlier text, and leave a valid recall index", {
    timeout: 2 * MINUTE_MS,
  }, async () => {
    const path = started();
    const asking = [ask(path, 12), ask(path, 12)];
    let added = 0;
    for (const { child } of asking) {
      child.stdout?.on("data", () => {
        if (added < 10) growing(path, added++);
      });
    }
    for (const { acknowledged, errors } of await Promise.all(asking.map(({ done }) => done))) {
      expect(errors).toBe("");
      const totals = acknowledged.map(Number);
      expect(totals).toHaveLength(12);
      expect(totals).toEqual(totals.toSorted((a, b) => a - b));
    }
    expect((await openRecall(path).search({ words: "zebra" })).total).toBe(added + 1);
  });

  it("a kill during a search leaves a working recall index or none", { timeout: 2 * MINUTE_MS }, async () => {
    const path = started();
    for (let round = 0; round < 4; round++) {
      growing(path, round);
      await killedAfter(ask(path, 1_000), 1 + round, round * 3);
      expect((await openRecall(path).search({ words: "zebra" })).total).toBe(round + 2);
    }
  });
});
