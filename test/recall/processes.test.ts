import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  openRecall,
  recallAcrossSessions,
  recallIndexPath,
  type SessionsRecallPage,
} from "@longhaul/sessions";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../support/builders.ts";
import { killedAfter, startProcess } from "../transcript/child-processes.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";
import { append, sessionFiles } from "./session-file.ts";

const MINUTE_MS = 60_000;
/**
 * A text that is longer than a search reads without an index. After such a text is appended, the next search
 * extends the index.
 */
const FILLING = "stripes and more stripes ".repeat(12_000);

const sessionFile = sessionFiles();
const home = temporaryFolder();
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

describe("a search across sessions that is killed", () => {
  it("leaves each session with a working recall index or none, and the next search finds everything", {
    timeout: 2 * MINUTE_MS,
  }, async () => {
    const store = join(home, ".claude", "projects", "-p");
    mkdirSync(store, { recursive: true });
    const paths = Array.from({ length: 30 }, (_, nth) => join(store, `s${nth}.jsonl`));
    for (const [nth, path] of paths.entries()) {
      const builder = new ConversationBuilder(`s${nth}`);
      builder.user(`zebra ${FILLING}`);
      writeFileSync(path, "");
      append(path, builder.entries);
    }
    const search = async (): Promise<SessionsRecallPage> =>
      await recallAcrossSessions({ words: "zebra" }, { places: { home, env: {} }, scope: "machine" });
    for (let round = 0; round < 4; round++) {
      await killedAfter(
        startProcess("recall-across-process.ts", home, "zebra", 1_000),
        round % 2,
        40 * round,
      );
      for (const [nth, path] of paths.entries()) if (nth % 7 === round) growing(path, nth);
      const { total, skipped } = await search();
      const grown = paths.filter((_, nth) => nth % 7 <= round).length;
      expect([total, skipped]).toEqual([paths.length + grown, []]);
      expect((await search()).read).toBe(0);
      if (round % 2 === 0) for (const path of paths) rmSync(recallIndexPath(path), { force: true });
    }
  });
});
