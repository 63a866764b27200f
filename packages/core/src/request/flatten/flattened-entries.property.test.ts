import { basename } from "node:path";
import { loadSession } from "@longhaul/sessions";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { arbitrarySplit } from "../../../../../test/support/growing-conversation.ts";
import { claudeCodeSessions, describeRecorded } from "../../../../../test/support/real-sessions.ts";
import type { Entry } from "../../messages/entry.ts";
import type { Finding } from "../check/rule.ts";
import { FlattenedEntries, type FlattenOptions, flattenChecked } from "./flatten.ts";

const RUNS = { numRuns: 500 };

function arbitraryOptions(): fc.Arbitrary<FlattenOptions> {
  const options = fc.record(
    {
      clearedToolUseIds: fc.constant(new Set(["toolu-3", "toolu-5", "toolu-9", "toolu_same"])),
      tools: fc.constant([{ name: "Bash", input_schema: { type: "object" } }]),
      request: fc.constantFrom<unknown>({ model: "claude-opus-5" }, { thinking: { type: "enabled" } }),
      check: fc.record(
        {
          maxMedia: fc.integer({ min: 0, max: 5 }),
          maxRequestBytes: fc.constantFrom(800, 3_000, 8_000),
          requireTools: fc.boolean(),
          consecutiveRoles: fc.constantFrom("reported", "accepted"),
          prefill: fc.constantFrom("report", "add-user-message"),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  );
  return fc.oneof(fc.constant({}), options) as fc.Arbitrary<unknown> as fc.Arbitrary<FlattenOptions>;
}

const sorted = (findings: readonly Finding[]): string[] =>
  findings.map((each) => JSON.stringify(each)).sort();

describe("FlattenedEntries", () => {
  it("flattening entries step by step equals flattening all of them at once, findings included", () => {
    fc.assert(
      fc.property(arbitrarySplit(arbitraryEntries()), arbitraryOptions(), (pieces, options) => {
        const flattened = new FlattenedEntries(options);
        const given: Entry[] = [];
        for (const piece of pieces) {
          flattened.append(deepFreeze(piece));
          given.push(...piece);
          const { messages, findings } = flattenChecked(given, options);
          expect(flattened.messages).toEqual(messages);
          expect(sorted(flattened.findings)).toEqual(sorted(findings));
        }
      }),
      RUNS,
    );
  });

  it("FlattenedEntries keeps the objects of messages that do not change", () => {
    fc.assert(
      fc.property(arbitrarySplit(arbitraryEntries({ damaged: false })), (pieces) => {
        const flattened = new FlattenedEntries();
        flattened.append([]);
        for (const piece of pieces) {
          const before = [...flattened.messages];
          const passes = flattened.fullPasses;
          flattened.append(piece);
          if (flattened.fullPasses > passes) continue;
          // The last two messages may have grown.
          for (const [index, message] of before.slice(0, -2).entries())
            expect(flattened.messages[index]).toBe(message);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("an outbox still returns the same flattened messages after more entries are appended", () => {
    fc.assert(
      fc.property(arbitrarySplit(arbitraryEntries()), arbitraryOptions(), (pieces, options) => {
        const flattened = new FlattenedEntries(options);
        const steps = pieces.map((piece) => {
          flattened.append(piece);
          return { outbox: flattened.outbox(), messages: [...flattened.messages] };
        });
        for (const { outbox, messages } of steps) expect(outbox()).toEqual(messages);
      }),
      RUNS,
    );
  });
});

/** Number of steps at which a session is compared, besides its end. */
const COMPARISONS = 12;

describeRecorded("recorded sessions, entry by entry", () => {
  it.each(claudeCodeSessions().map((path) => [basename(path), path]))(
    "flattens the recorded session %s entry by entry and rarely starts over",
    async (_, path) => {
      const { entries } = await loadSession(path);
      const flattened = new FlattenedEntries();
      const every = Math.ceil(entries.length / COMPARISONS);
      for (const [index, entry] of entries.entries()) {
        flattened.append([entry]);
        if (index % every === 0 || index === entries.length - 1) {
          const whole = flattenChecked(entries.slice(0, index + 1));
          expect(flattened.messages).toEqual(whole.messages);
          expect(sorted(flattened.findings)).toEqual(sorted(whole.findings));
        }
      }
      expect(flattened.fullPasses).toBeLessThanOrEqual(5 + entries.length / 40);
    },
  );
});
