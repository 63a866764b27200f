import { basename, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clear } from "../../packages/longhaul/src/commands/clear-command.ts";
import { compact } from "../../packages/longhaul/src/commands/compact-command.ts";
import { ledger } from "../../packages/longhaul/src/commands/ledger-command.ts";
import { createDemoSession } from "../../packages/simulator/src/demo-session.ts";
import { image, usage } from "../support/builders.ts";
import { longSession } from "../support/long-session.ts";
import { claudeCodeSessions, describeRecorded } from "../support/real-sessions.ts";
import { sessionArbitrary } from "../transcript/session-generator.ts";
import {
  copyOf,
  home,
  inflated,
  inspected,
  json,
  previewed,
  type Report,
  replayed,
  reported,
  written,
} from "./reports.ts";

/**
 * Runs all commands on one session. Each figure that several commands report must have the same value in all
 * of them. Returns true if the session was compacted.
 */
async function expectAgreement(path: string): Promise<boolean> {
  const before = await inspected(path);
  expectWhole(before);
  const preview = await previewed(path);
  await expectReplay(path, before);
  if (preview === undefined) return false;
  expectBefore(preview, before);
  if (!preview.saving.pays) {
    // `inspect` does not offer a compaction that does not pay, because `compact` would refuse it.
    expect(JSON.stringify(before.cost?.options ?? [])).not.toContain('"compact"');
    return false;
  }
  const compacted = await reported((it) => compact(path, { json, inPlace: true, hooks: false }, it));
  // A preview works like --force. It succeeds even if the command without --force refuses.
  if (compacted === undefined) return false;
  expectPrices(preview, before);
  for (const name of ["before", "window", "notInFile", "summarized", "kept", "cost"])
    expect(compacted[name], name).toEqual(preview[name]);
  expect(Math.abs(compacted.after.tokens - preview.after.tokens)).toBeLessThanOrEqual(100);
  await expectAfter(path, compacted);
  return true;
}

/** Checks that the parts that `inspect` shows add up to the whole. */
function expectWhole({ context, accounting }: Report): void {
  if (accounting.notInFile === 0) return;
  expect(Math.abs(accounting.total + accounting.notInFile - context.tokens)).toBeLessThanOrEqual(1);
}

function expectBefore(preview: Report, before: Report): void {
  expect(preview.before).toEqual({ tokens: before.context.tokens, messages: before.context.messages });
  expect(preview.notInFile).toBe(before.accounting.notInFile);
  const { error: _, headroomBy: __, ...window } = before.window;
  expect(preview.window).toEqual(window);
  const { summarized, kept } = preview;
  const messages = summarized.messages + kept.messages - preview.before.messages;
  // A message that the compaction splits counts both as summarized and as kept.
  expect([0, 1]).toContain(messages);
  if (preview.notInFile === 0) return;
  const tokens = preview.notInFile + summarized.tokens + kept.tokens;
  expect(Math.abs(tokens - preview.before.tokens)).toBeLessThanOrEqual(2);
}

function expectPrices(preview: Report, before: Report): void {
  const option = before.cost.options.find(({ name }: { name: string }) => name === "compact");
  expect(option.tokensSaved).toBe(preview.before.tokens - preview.after.tokens);
  expect(before.cost).toMatchObject({ call: null, assumedCall: preview.cost.assumedCall });
  const { model, arePricesAssumed } = before.cost;
  expect(preview.cost).toMatchObject({ call: null, model, arePricesAssumed });
  expect(preview.cost.assumedCall).toMatchObject({ model, isEstimate: true });
  expect(preview.cost.expectedTurns).toBe(before.cost.expectedTurns);
  expect(preview.cost.netSaving).toBeCloseTo(before.cost.options[0].total - option.total, 10);
  expect(preview.cost.breakEvenTurns).toBe(option.breakEvenTurns);
  expect(preview.cost.savedPerTurn).toBeCloseTo(before.cost.options[0].costPerTurn - option.costPerTurn, 10);
}

async function expectReplay(path: string, before: Report): Promise<void> {
  const replay = await replayed(path);
  if (replay === undefined) return;
  const [session] = replay.sessions;
  const { size, origin, autoCompact } = before.window;
  expect(session.window).toEqual({ size, origin, autoCompact });
  if (before.context.source === "usage") expect(session.overhead.recorded).toBe(before.accounting.notInFile);
  const { model: pricesOf, arePricesAssumed } = before.cost;
  expect(session).toMatchObject({ pricesOf, arePricesAssumed });
}

async function expectAfter(path: string, compacted: Report): Promise<void> {
  const [newest] = (await reported((it) => ledger(path, { json }, it))).compactions;
  expect([newest.before, newest.after]).toEqual([compacted.before.tokens, compacted.after.tokens]);
  expect(newest.ledger.summarized).toMatchObject(compacted.summarized);
  expect(newest.ledger.kept.messages).toBe(compacted.kept.messages);
  expect(compacted.boundary.compactMetadata.messagesSummarized).toBe(compacted.summarized.messages);
  const after = await inspected(path);
  expect(after.context.messages).toBe(compacted.after.messages);
  expect(after.context.tokens).toBe(compacted.after.tokens);
  expect(after.accounting.notInFile).toBe(compacted.notInFile);
  // The messages after the compaction may not name a model.
  if (after.session.model !== null) expect(after.window).toMatchObject(compacted.window);
  const cleared = await reported((it) => clear(path, { json, keep: 1, dryRun: true }, it));
  if (cleared !== undefined) expect(cleared.before.tokens).toBe(after.context.tokens);
}

describe("figures of inspect, compact, ledger, replay and clear", () => {
  it("all commands report the same figures for the demo session", async () => {
    await expectAgreement(written(createDemoSession({ cwd: join(home, "project") })));
  }, 120_000);

  it("all commands report the same figures for a session with many images, which have a flat cost", async () => {
    const built = longSession(40);
    for (let nth = 0; nth < 12; nth++) {
      built.user(Array.from({ length: 3 }, () => image()));
      built.assistant("I see.", { usage: usage(90_000 + nth * 9_000, 10) });
    }
    await expectAgreement(written(built.entries));
  }, 120_000);

  it("all commands report the same figures for any generated session", async () => {
    let compared = 0;
    const ratio = fc.double({ min: 0.8, max: 2.5, noNaN: true });
    const overhead = fc.integer({ min: 0, max: 30_000 });
    await fc.assert(
      fc.asyncProperty(sessionArbitrary, ratio, overhead, async ({ lines }, perToken, besides) => {
        if (await expectAgreement(written(inflated(lines, perToken, besides)))) compared += 1;
      }),
      { numRuns: 20 },
    );
    expect(compared).toBeGreaterThan(3);
  }, 240_000);
});

describeRecorded("figures of inspect, compact, ledger, replay and clear for recorded sessions", () => {
  it.each(claudeCodeSessions().map((path) => [basename(path), path]))(
    "inspect, compact, ledger, replay and clear report the same figures for %s",
    async (_, path) => {
      await expectAgreement(copyOf(path));
    },
    240_000,
  );

  it.each(["spotter__4d5611e5", "context-evaluator__8209f1c2"])(
    "commands derive the window of 200,000 tokens of %s from its newest automatic compaction",
    async (name) => {
      const path = claudeCodeSessions().find((each) => basename(each, ".jsonl") === name) ?? "";
      const shown = { size: 200_000, origin: "auto-compaction", autoCompact: 167_000 };
      expect((await inspected(path)).window).toMatchObject(shown);
      expect((await previewed(path)).window).toMatchObject(shown);
      expect((await replayed(path)).sessions[0].window).toEqual(shown);
    },
    120_000,
  );
});
