import { readFileSync, writeFileSync } from "node:fs";
import { compact, planCompaction } from "@longhaul/core/compaction";
import type { Entry } from "@longhaul/core/messages";
import { readLedger } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { countingPorts, longSession } from "../../../../test/support/long-session.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { rebuild } from "../../../core/src/compaction/compact.ts";
import { findFacts } from "../../../core/src/compaction/facts/find-facts.ts";
import { isCompactBoundary } from "../../../core/src/messages/entry.ts";
import { isInContext } from "../../../core/src/messages/fact-ledger.ts";
import { readableText } from "../../../core/src/request/flatten/readable-text.ts";
import { loadSession, type Session } from "../transcript/load.ts";
import { writeNewSession } from "../transcript/whole-file.ts";
import { openTranscript } from "../transcript/writer.ts";
import { clearSession, writeClearing } from "./clear-session.ts";
import { compactSession, type SessionCompaction, writeCompaction } from "./compact-session.ts";
import { sessionLedgers } from "./session-ledgers.ts";
import { undoSession, writeUndo } from "./undo-rewind.ts";

const folder = temporaryFolder();
let count = 0;

/** Options with a target that is too small for all of these requests. */
const SMALL = { keepRecentTokens: 500, targetTokens: 2_500, restoreFiles: false } as const;

async function compacted(): Promise<SessionCompaction & { readonly after: Session }> {
  const path = `${folder}/session-${++count}.jsonl`;
  await writeNewSession(path, longSession(80).entries);
  const result = await compactSession(await loadSession(path), SMALL);
  await writeCompaction(result, { mode: "in-place" });
  return { ...result, after: await loadSession(path) };
}

describe("the ledger of a written compaction", () => {
  it("stores the ledger of a compaction in its boundary line", async () => {
    const { compaction, after } = await compacted();
    const [only] = sessionLedgers(after);
    expect(only).toMatchObject({ source: "file", isCurrent: true });
    expect(only?.ledger).toEqual(compaction.ledger);
    expect(only?.ledger?.facts.length).toBeGreaterThan(50);
  });

  it("each fact in the ledger is in the context or in the entries that the ledger names", async () => {
    const { compaction, after } = await compacted();
    const facts = compaction.ledger?.facts ?? [];
    const inContext = findFacts(facts, [readableText(after.conversation)]);
    expect(facts.filter((fact) => isInContext(fact) && !inContext.has(fact.id))).toEqual([]);
    const absent = facts.filter((fact) => !isInContext(fact));
    expect(absent.length).toBeGreaterThan(0);
    for (const fact of absent) {
      const named = after.entries.filter(({ uuid }) => uuid !== undefined && fact.entryIds.includes(uuid));
      expect([fact.text, named.length > 0]).toEqual([fact.text, true]);
    }
  });

  it("marks facts outside the context as recoverable if there is a transcript, and otherwise as gone", async () => {
    const plan = planCompaction({ entries: longSession(80).entries }, SMALL);
    const kept = await compact(plan, countingPorts(), { ...SMALL, transcriptPath: "/sessions/s.jsonl" });
    const lost = await compact(plan, countingPorts(), SMALL);
    const fates = (ledger: typeof kept.ledger): ReadonlySet<string> =>
      new Set(ledger?.facts.map(({ fate }) => fate));
    expect(fates(kept.ledger)).toContain("recoverable");
    expect(fates(kept.ledger)).not.toContain("gone");
    expect(fates(lost.ledger)).toContain("gone");
    expect(fates(lost.ledger)).not.toContain("recoverable");
  });

  it("carries every active fact into the next ledger when the conversation is compacted again", async () => {
    const first = planCompaction({ entries: longSession(40, "a").entries }, SMALL);
    const once = await compact(first, countingPorts(), SMALL);
    const entries = [...rebuild(once), ...longSession(40, "b").entries];
    const twice = await compact(planCompaction({ entries }, SMALL), countingPorts(), SMALL);
    const ids = new Set(twice.ledger?.facts.map(({ id }) => id));
    const active = once.ledger?.facts.filter(({ status }) => status === "active") ?? [];
    expect(active.length).toBeGreaterThan(0);
    const carried = once.ledger?.facts.filter(({ id }) => ids.has(id)).length ?? 0;
    expect(carried + (twice.ledger?.earlier?.facts ?? 0)).toBe(once.ledger?.facts.length);
    expect(readLedger(rebuild(twice).filter(isCompactBoundary)[0] ?? once.boundary)).toEqual(twice.ledger);
  });
});

describe("the ledger of a written clearing", () => {
  it("a clearing continues the earlier ledger, so that the next compaction forgets no fact", async () => {
    const { compaction, after } = await compacted();
    const before = new Set(compaction.ledger?.facts.map(({ id }) => id));
    const writer = await openTranscript(after.path);
    const [first, ...rest] = longSession(30, "more").entries;
    const newer = [{ ...first, parentUuid: after.leafUuid ?? null } as Entry, ...rest];
    await writer.append(newer);
    await writer.close();
    await writeClearing(clearSession(await loadSession(after.path), { keepNewest: 1 }), { mode: "in-place" });
    const cleared = await loadSession(after.path);
    const [newest] = sessionLedgers(cleared);
    expect(newest).toMatchObject({
      source: "file",
      isCurrent: true,
      ledger: { summarized: { messages: 0 } },
    });
    const facts = newest?.ledger?.facts ?? [];
    const listed = facts.filter(({ id }) => before.has(id)).length;
    expect(listed + (newest?.ledger?.earlier?.facts ?? 0)).toBe(before.size);
    const inContext = findFacts(facts, [readableText(cleared.conversation)]);
    expect(facts.filter((fact) => isInContext(fact) !== inContext.has(fact.id))).toEqual([]);
    const next = await compactSession(cleared, SMALL);
    const ids = new Set(next.compaction.ledger?.facts.map(({ id }) => id));
    const carried = facts.filter(({ id }) => ids.has(id)).length;
    expect(carried + (next.compaction.ledger?.earlier?.facts ?? 0)).toBeGreaterThanOrEqual(facts.length);
  });
});

describe("ledgers after an undo", () => {
  it.each(["2.1.219", "2.1.45"])(
    "an undo removes the ledger of a compaction from the chain, and a redo restores it (%s)",
    async (version) => {
      const path = `${folder}/session-${++count}.jsonl`;
      await writeNewSession(
        path,
        longSession(40).entries.map((entry) => ({ ...entry, version }) as Entry),
      );
      const compactions = async (): Promise<readonly string[]> =>
        sessionLedgers(await loadSession(path)).flatMap(({ boundary, isInChain }) =>
          isInChain ? [boundary.uuid] : [],
        );
      const first = await compactSession(await loadSession(path), SMALL);
      await writeCompaction(first, { mode: "in-place" });
      expect(await compactions()).toEqual([first.compaction.boundary.uuid]);
      await writeUndo(undoSession(await loadSession(path)), { mode: "in-place" });
      expect(await compactions()).toEqual([]);
      await writeUndo(undoSession(await loadSession(path), { redo: true }), { mode: "in-place" });
      expect(await compactions()).toEqual([first.compaction.boundary.uuid]);
    },
  );

  it("carries facts into the compaction after an undo, even from compactions without a ledger", async () => {
    const path = `${folder}/session-${++count}.jsonl`;
    const said = (name: string): readonly Entry[] =>
      longSession(30, name).entries.map((entry) => ({ ...entry, version: "2.1.219" }) as Entry);
    const compactAsOthersDo = async (): Promise<void> => {
      await writeCompaction(await compactSession(await loadSession(path), SMALL), { mode: "in-place" });
      writeFileSync(path, readFileSync(path, "utf8").replaceAll('"ledger":{', '"others":{'));
    };
    await writeNewSession(path, said("first"));
    await compactAsOthersDo();
    const [before] = sessionLedgers(await loadSession(path));
    const { leafUuid } = await loadSession(path);
    const [first, ...rest] = said("second");
    const writer = await openTranscript(path);
    await writer.append([{ ...first, parentUuid: leafUuid } as Entry, ...rest]);
    await writer.close();
    await compactAsOthersDo();
    await writeUndo(undoSession(await loadSession(path)), { mode: "in-place" });
    const { compaction } = await compactSession(await loadSession(path), SMALL);
    const ids = new Set(compaction.ledger?.facts.map(({ id }) => id));
    const facts = before?.ledger?.facts ?? [];
    const carried = facts.filter(({ id }) => ids.has(id)).length;
    expect(facts.length).toBeGreaterThan(20);
    expect(carried + (compaction.ledger?.earlier?.facts ?? 0)).toBeGreaterThanOrEqual(facts.length);
  });
});
