import { existsSync } from "node:fs";
import { join } from "node:path";
import { computeThresholds, ESTIMATORS, findModel, measureEntries } from "@longhaul/core/measure";
import type { ContentBlock, Entry } from "@longhaul/core/messages";
import { createDemoSession } from "@longhaul/simulator/internal";
import { beforeAll, describe, expect, it } from "vitest";
import { type CheckedPolicy, checked } from "../../bench/fidelity/peer-policy.ts";
import { sourceMessages } from "../../bench/fidelity/source-messages.ts";

const BENCH = join(import.meta.dirname, "..", "..", "bench");

/** File of a library's policies, and the package that it needs. `npm run bench` installs the packages. */
const PEERS: readonly (readonly [file: string, installed: string])[] = [
  ["langchain-summarization", "node_modules/langchain"],
  ["langchain-clearing", "node_modules/langchain"],
  ["ai-sdk", "node_modules/ai"],
  ["mastra", "node_modules/@mastra/core"],
  ["pi", "fidelity/node_modules/@earendil-works/pi-coding-agent"],
  ["cline", "fidelity/node_modules/@cline/core"],
  ["gemini-cli", "fidelity/node_modules/@google/gemini-cli-core"],
];

/** Window that the generated session fills several times. */
const WINDOW_TOKENS = 50_000;
const thresholds = computeThresholds({ ...findModel("claude-sonnet-4-5"), windowTokens: WINDOW_TOKENS });
const tokensOf = (entries: readonly Entry[]): number => measureEntries(entries, ESTIMATORS.o200k);
const session = createDemoSession();
/** Number of entries of the generated session that reach the threshold. */
const filling = session.findIndex((_, at) => tokensOf(session.slice(0, at)) >= thresholds.autoCompact);
const entries = session.slice(0, filling);

const shrink = (policy: CheckedPolicy, entries: readonly Entry[]): ReturnType<CheckedPolicy["shrink"]> =>
  policy.shrink({ entries, thresholds, transcriptPath: "/sessions/one.jsonl" });

const blocksOf = (entries: readonly Entry[]): readonly ContentBlock[] =>
  sourceMessages(entries).flatMap(({ parts }) => parts.map(({ block }) => block));

describe.each(PEERS)("policies of %s", (file, installed) => {
  const isInstalled = existsSync(join(BENCH, installed));
  if (!isInstalled) {
    it.skip("needs the libraries that `npm run bench -- --only fidelity` installs", () => undefined);
    return;
  }
  let create: readonly (() => CheckedPolicy)[] = [];
  beforeAll(async () => {
    create = (await import(/* @vite-ignore */ join(BENCH, "fidelity", `${file}.mjs`))).policies;
  });

  it("a library's result has only entries of the conversation, shortened entries, and what it wrote", async () => {
    for (const policy of create.map((one) => one())) {
      const before = JSON.stringify(entries);
      const outcome = await shrink(policy, entries);
      expect(policy.record.failures).toEqual([]);
      expect(outcome.entries.length).toBeGreaterThan(0);
      expect(outcome.entries).not.toBe(entries);
      const uuids = new Set(entries.map(({ uuid }) => uuid));
      for (const entry of outcome.entries) {
        const isKnown = uuids.has(entry.uuid);
        expect(isKnown || entry.uuid?.startsWith(policy.name)).toBe(true);
      }
      expect(JSON.stringify(entries)).toBe(before);
    }
  });

  it("each tool call and result that a library keeps is that of the conversation", async () => {
    const known = new Set(blocksOf(entries).flatMap((block) => ("id" in block ? [block.id] : [])));
    for (const policy of create.map((one) => one())) {
      const { entries: left } = await shrink(policy, entries);
      for (const block of blocksOf(left)) {
        if (block.type === "tool_use") expect(known).toContain(block.id);
        if (block.type === "tool_result") expect(known).toContain(block.tool_use_id);
      }
    }
  });

  it("a library shortens its own result again after more messages", async () => {
    const more = session.slice(filling, 2 * filling);
    for (const policy of create.map((one) => one())) {
      const first = await shrink(policy, entries);
      const grown = [...first.entries, ...more];
      const second = await shrink(policy, grown);
      expect(policy.record.failures).toEqual([]);
      expect(tokensOf(second.entries)).toBeLessThan(tokensOf(grown));
    }
  });
});

describe("records of policies", () => {
  it("reports calls that a policy leaves without their results", async () => {
    const withoutResults = entries.filter((entry) => !JSON.stringify(entry).includes('"tool_result"'));
    const policy = checked(
      {
        ...{ name: "broken", description: "removes results", hasRecall: false },
        shrink: async () => ({ entries: withoutResults, calls: [] }),
      },
      "1.0.0",
    );
    await shrink(policy, entries);
    expect(policy.record.problems["tool-use-unanswered"]).toBeGreaterThan(0);
  });

  it("an error of a library is recorded, and leaves the conversation unchanged", async () => {
    const policy = checked(
      {
        ...{ name: "failing", description: "fails", hasRecall: false },
        shrink: async () => {
          throw new Error("no model");
        },
      },
      "1.0.0",
    );
    const outcome = await shrink(policy, entries);
    expect(outcome.entries).toBe(entries);
    expect(policy.record.failures).toEqual(["no model"]);
  });
});
