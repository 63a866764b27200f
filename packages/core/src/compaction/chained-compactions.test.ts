import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { codeOf, countingPorts } from "../../../../test/support/long-session.ts";
import { type Entry, isCompactBoundary } from "../messages/entry.ts";
import { readLedger } from "../messages/fact-ledger.ts";
import { readableText } from "../request/flatten/readable-text.ts";
import { compact, rebuild } from "./compact.ts";
import { planCompaction } from "./plan/compaction-plan.ts";

const THINGS = [
  "cache",
  "clock",
  "proxy",
  "driver",
  "kernel",
  "router",
  "buffer",
  "quota",
  "socket",
  "index",
];
const cause = (round: number): string =>
  `The root cause of failure ${round} was the ${THINGS[round % THINGS.length]} of \`service-${round}.ts\`.`;
const choice = (round: number): string =>
  `We decided to keep table_${round} in SQLite because job ${round} runs offline.`;

/** Returns one round of work: a request, a large result, and what the assistant found out. */
function work(round: number): readonly Entry[] {
  const session = new ConversationBuilder(`r${round}`);
  session.user(`Look into failure ${round}`);
  session.tool(
    `t${round}`,
    "Read",
    { file_path: `/project/service-${round}.ts` },
    `line of ${round}\n`.repeat(250),
  );
  session.assistant(`${cause(round)} ${choice(round)}`);
  return session.entries as readonly Entry[];
}

interface Chain {
  readonly entries: readonly Entry[];
  readonly compactions: number;
}

/** Compacts after every round. A compaction that does not pay changes nothing. */
async function chainOf(rounds: number): Promise<Chain> {
  let entries: readonly Entry[] = [];
  let compactions = 0;
  const ports = countingPorts();
  for (let round = 1; round <= rounds; round++) {
    entries = [...entries, ...work(round)];
    try {
      const plan = planCompaction({ entries }, { keepRecentTokens: 0 });
      entries = rebuild(await compact(plan, ports));
      compactions++;
    } catch (error) {
      expect(await codeOf(() => Promise.reject(error))).toBe("compaction-ineffective");
    }
  }
  return { entries, compactions };
}

describe("a chain of compactions after few messages each", () => {
  it("keeps every cause and every decision in the context over forty rounds", async () => {
    const { entries, compactions } = await chainOf(40);
    expect(compactions).toBeGreaterThan(10);
    const context = readableText(entries).replace(/\s+/g, " ");
    for (let round = 1; round <= 40; round++) {
      expect(context).toContain(cause(round));
      expect(context).toContain(choice(round).slice(0, -1));
    }
  });

  it("drops no quoted fact to save tokens while the conversation is below its target", async () => {
    const { entries } = await chainOf(40);
    const boundary = entries.findLast(isCompactBoundary);
    const ledger = boundary && readLedger(boundary);
    expect(ledger?.facts.length).toBeGreaterThan(100);
    expect(ledger?.facts.filter(({ fate }) => fate === "recoverable" || fate === "gone")).toEqual([]);
  });
});
