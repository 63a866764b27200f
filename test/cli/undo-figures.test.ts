import { basename, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clear } from "../../packages/longhaul/src/commands/clear-command.ts";
import { compact } from "../../packages/longhaul/src/commands/compact-command.ts";
import { undo } from "../../packages/longhaul/src/commands/undo-command.ts";
import { createDemoSession } from "../../packages/simulator/src/demo-session.ts";
import { claudeCodeSessions, describeRecorded } from "../support/real-sessions.ts";
import { sessionArbitrary } from "../transcript/session-generator.ts";
import {
  copyOf,
  home,
  inflated,
  inspected,
  json,
  type Report,
  replayed,
  reported,
  written,
} from "./reports.ts";

const STEPS = {
  compact: (path: string): Promise<Report | undefined> =>
    reported((it) => compact(path, { json, inPlace: true, hooks: false, force: true }, it)),
  clear: (path: string): Promise<Report | undefined> =>
    reported((it) => clear(path, { json, inPlace: true, keep: 1 }, it)),
};

/** Returns the figures about the conversation of a session, without those about its file. */
async function figuresOf(path: string): Promise<Report> {
  const { session, context, compactions, memory, ...rest } = await inspected(path);
  // Ignores the size of the file, because an undo adds lines to it.
  const { bytes, entries, ...sameSession } = session;
  // Compares only tokens and messages, because an undo writes copies of the lines without reported usage.
  const { tokens, messages } = context;
  // Ignores how often memory files were attached, because a compaction attaches them again.
  const attached = memory.attached.map(({ times, ...file }: Report) => file);
  const inspect = { ...rest, session: sameSession, context: { tokens, messages }, attached };
  return { inspect, replay: await replayed(path) };
}

/**
 * Checks that the figures are the same before a step and after its undo. Returns false if the step was
 * refused.
 */
async function expectSameAfterUndo(path: string, step: keyof typeof STEPS): Promise<boolean> {
  const before = await figuresOf(path);
  if ((await STEPS[step](path)) === undefined) return false;
  expect(await reported((it) => undo(path, { json, inPlace: true }, it))).toBeDefined();
  expect(await figuresOf(path)).toEqual(nearly(before));
  return true;
}

/**
 * Largest difference between the previews of a compaction before a step and after its undo, as a share. The
 * summary names ids of entries, and an undo writes lines with new ids, which can have other token counts.
 */
const MAX_DIFFERENCE = 0.0005;

/** Returns the report with a tolerance for the figures of the previewed compaction. All others are exact. */
function nearly(report: Report): Report {
  const isPreview = (value: unknown): value is Report =>
    typeof value === "object" && value !== null && "tokensSaved" in value && "costNow" in value;
  return JSON.parse(JSON.stringify(report), (_, value: unknown) => {
    if (!isPreview(value) || value.name !== "compact") return value;
    return Object.fromEntries(Object.entries(value).map(([name, figure]) => [name, near(figure)]));
  });
}

/** `closeTo` accepts half of ten to the power of its second argument, without the sign. */
const near = (figure: unknown): unknown =>
  typeof figure === "number" && figure !== 0
    ? expect.closeTo(figure, -Math.log10(2 * Math.abs(figure) * MAX_DIFFERENCE))
    : figure;

describe.each(["compact", "clear"] as const)("figures of a session after %s and undo", (step) => {
  it("inspect and replay report the same figures for the demo session before a step and after its undo", async () => {
    const path = written(createDemoSession({ cwd: join(home, "project") }));
    expect(await expectSameAfterUndo(path, step)).toBe(true);
  }, 120_000);

  it("inspect and replay report the same figures for any session before a step and after its undo", async () => {
    let compared = 0;
    const ratio = fc.double({ min: 0.8, max: 2.5, noNaN: true });
    const overhead = fc.integer({ min: 0, max: 30_000 });
    await fc.assert(
      fc.asyncProperty(sessionArbitrary, ratio, overhead, async ({ lines }, perToken, besides) => {
        if (await expectSameAfterUndo(written(inflated(lines, perToken, besides)), step)) compared += 1;
      }),
      { numRuns: 20 },
    );
    expect(compared).toBeGreaterThan(3);
  }, 240_000);
});

describeRecorded("figures after a step and its undo in recorded sessions", () => {
  it.each(
    claudeCodeSessions().flatMap((path) =>
      (["compact", "clear"] as const).map((step) => [step, basename(path), path] as const),
    ),
  )(
    "inspect and replay report the same figures before %s and after its undo for %s",
    async (step, _, path) => {
      await expectSameAfterUndo(copyOf(path), step);
    },
    240_000,
  );
});
