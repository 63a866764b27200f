import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { SMALLEST_WORTHWHILE_SAVING } from "@longhaul/core/compaction";
import { LonghaulError } from "@longhaul/core/errors";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../test/support/arbitraries.ts";
import { longSession, withoutUsage } from "../../../../test/support/long-session.ts";
import { claudeCodeSessions, describeRecorded } from "../../../../test/support/real-sessions.ts";
import { sessionWriter } from "../../../../test/transcript/written-session.ts";
import { loadSession } from "../transcript/load.ts";
import { type CompactSessionOptions, compactSession, writeCompaction } from "./compact-session.ts";

const write = sessionWriter();

/** Compacts a file in place. Returns the error if the compaction fails. */
async function compactInPlace(path: string, options: CompactSessionOptions): Promise<unknown> {
  try {
    const result = await compactSession(await loadSession(path), { restoreFiles: false, ...options });
    await writeCompaction(result, { mode: "in-place" });
    return result.compaction;
  } catch (error) {
    if (error instanceof LonghaulError) return error;
    throw error;
  }
}

const modes = fc.oneof(
  fc.constant<CompactSessionOptions>({}),
  fc.record({ keepRecentTokens: fc.constantFrom(0, 300, 4_000) }),
  fc.record({ from: fc.nat({ max: 20 }) }),
  fc.record({ upTo: fc.nat({ max: 20 }) }),
  fc.record({ fromNotes: fc.constantFrom({ text: "All is well." }, { text: "It is noted. ".repeat(900) }) }),
);

describe("compactions of generated conversations", () => {
  it("a compaction saves a worthwhile amount, or fails and leaves the file unchanged", async () => {
    let [done, refused] = [0, 0];
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 14 }),
        arbitraryEntries(),
        modes,
        async (turns, more, options) => {
          const { path } = await write([...longSession(turns).entries, ...more.map(withoutUsage)]);
          const before = readFileSync(path);
          const outcome = await compactInPlace(path, options);
          if (outcome instanceof LonghaulError) {
            refused += outcome.code === "compaction-ineffective" ? 1 : 0;
            expect(readFileSync(path).equals(before)).toBe(true);
            return;
          }
          done += 1;
          const { tokensBefore, tokensAfter, saving } = outcome as {
            tokensBefore: number;
            tokensAfter: number;
            saving: { smallestWorthwhile: number };
          };
          expect(tokensBefore - tokensAfter).toBeGreaterThanOrEqual(saving.smallestWorthwhile);
          expect(saving.smallestWorthwhile).toBeGreaterThanOrEqual(SMALLEST_WORTHWHILE_SAVING.tokens);
        },
      ),
      { numRuns: 80 },
    );
    expect(Math.min(done, refused)).toBeGreaterThan(5);
  });

  it("a forced compaction, or one with instructions, always runs, however small the saving", async () => {
    const insisting = fc.constantFrom<CompactSessionOptions>(
      { force: true },
      { instructions: "mind the tides" },
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 6 }), insisting, async (turns, options) => {
        const { entries } = longSession(turns);
        const { path } = await write(entries.slice(0, 1 + turns));
        for (let again = 0; again < 3; again++) {
          const outcome = await compactInPlace(path, options);
          expect(outcome).not.toBeInstanceOf(LonghaulError);
        }
      }),
      { numRuns: 12 },
    );
  });
});

describe("blank instructions for a compaction", () => {
  it("blank instructions do not force a compaction", async () => {
    const { path } = await write(longSession(1).entries);
    expect(await compactInPlace(path, { instructions: " \n" })).toMatchObject({
      code: "compaction-ineffective",
    });
  });
});

describeRecorded("every recorded session", () => {
  it.each(claudeCodeSessions().map((path) => [basename(path), path]))(
    "each repeated compaction of %s saves a worthwhile amount, until one is refused",
    async (_, path) => {
      const copy = (await write((await loadSession(path)).conversation)).path;
      let times = 0;
      for (; times < 10; times++) {
        const before = readFileSync(copy);
        const outcome = await compactInPlace(copy, {});
        if (outcome instanceof LonghaulError) {
          expect(["compaction-ineffective", "not-enough-messages"]).toContain(outcome.code);
          expect(readFileSync(copy).equals(before)).toBe(true);
          break;
        }
        expect(outcome).toMatchObject({ saving: { pays: true } });
      }
      expect(times).toBeLessThan(10);
    },
  );
});
