import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ESTIMATORS } from "@longhaul/core/measure";
import { loadSession, type Session, writeNewSession } from "@longhaul/sessions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../test/support/builders.ts";
import { evaluateSession } from "./evaluate.ts";
import { planRecorded, recordedCompactions } from "./recorded-summaries.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "longhaul-recorded-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const HONEST =
  "1. Primary Request and Intent:\n   The staging server must listen on port 8443.\n\n6. All User Messages:\n   - Please make the staging server listen on port 8443.";
const USELESS = "1. Primary Request and Intent:\n   They talked about some things.";

/** A session in which an agent such as Claude Code compacted the conversation twice. */
async function twiceCompacted(): Promise<Session> {
  const b = new ConversationBuilder();
  const work = (from: number): void => {
    for (let round = from; round < from + 4; round++)
      b.tool(
        `t${round}`,
        "Read",
        { file_path: `/project/src/part-${round}.ts` },
        `line ${round}\n`.repeat(300),
      );
  };
  b.user("Please make the staging server listen on port 8443.");
  work(0);
  b.boundary();
  b.summary(HONEST);
  b.assistant("I continue.", { version: "2.1.39" } as object);
  b.user("Never store passwords in the log files.");
  work(4);
  b.boundary();
  b.summary(USELESS);
  b.user("Thanks, go on.");
  const path = join(folder, "session-1.jsonl");
  await writeNewSession(path, b.entries);
  return await loadSession(path);
}

describe("recordedCompactions", () => {
  it("returns what was said before each recorded compaction, without earlier summaries, and the context after it", async () => {
    const [first, second, ...others] = recordedCompactions(await twiceCompacted());
    expect(others).toEqual([]);
    expect(JSON.stringify(first?.said)).toContain("port 8443");
    expect(JSON.stringify(first?.said)).not.toContain("Never store");
    expect(first?.after.map(({ type }) => type)).toEqual(["system", "user"]);
    expect(JSON.stringify(second?.said)).toContain("Never store");
    expect(JSON.stringify(second?.said)).not.toContain("Primary Request");
    expect(JSON.stringify(second?.after)).toContain("They talked about some things.");
  });

  it("plans one compaction at the end of each part, and covers each message once", async () => {
    const compactions = recordedCompactions(await twiceCompacted());
    const rounds = planRecorded(compactions, ESTIMATORS.o200k);
    expect(rounds.filter(({ isDue }) => isDue)).toHaveLength(2);
    expect(rounds.at(-1)?.isDue).toBe(true);
    expect(rounds.flatMap(({ entries }) => entries)).toEqual(compactions.at(-1)?.said);
  });
});

describe("evaluateSession", () => {
  it("grades the summaries that the session's own program wrote beside ours, at the same places", async () => {
    const { recorded } = await evaluateSession(await twiceCompacted(), { compactions: [], policies: [] });
    expect(
      recorded.map(({ compactions, policies }) => [compactions, policies.map(({ policy }) => policy)]),
    ).toEqual([
      [1, ["recorded", "longhaul"]],
      [2, ["recorded", "longhaul"]],
    ]);
    const [honest, useless] = recorded.map(({ policies }) => policies[0]);
    expect(honest?.scores.summary.held).toBeGreaterThan(0);
    expect(useless?.scores.summary.held).toBe(0);
    expect(useless?.tokens.last).toBeLessThan(honest?.tokens.last ?? 0);
    expect(useless?.compactions).toBe(2);
  });

  it("finds no recorded summary in a session that was never compacted", async () => {
    const b = new ConversationBuilder();
    b.user("Please make the staging server listen on port 8443.");
    b.assistant("Done.");
    const path = join(folder, "session-1.jsonl");
    await writeNewSession(path, b.entries);
    expect(recordedCompactions(await loadSession(path))).toEqual([]);
  });
});
