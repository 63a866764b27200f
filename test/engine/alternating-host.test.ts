import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AlternatingHost, type HostStep, tagsIn, type Use } from "./alternating-host.case.ts";

const use = {
  list: fc.constantFrom("own" as const, "held" as const),
  copying: fc.constantFrom("none" as const, "none" as const, "clone" as const, "json" as const),
  adopts: fc.boolean(),
  inPlace: fc.boolean(),
};

const talk = fc.record({
  ...use,
  kind: fc.constantFrom("tool" as const, "text" as const),
  size: fc.integer({ min: 0, max: 500 }),
  other: fc.constantFrom("same" as const, "same" as const, "none" as const, "no reply" as const),
});

const step: fc.Arbitrary<HostStep> = fc.oneof(
  { weight: 8, arbitrary: talk },
  {
    weight: 5,
    arbitrary: fc.record({
      ...use,
      kind: fc.constantFrom<"idle" | "compact" | "clear" | "undo" | "redo" | "retract">(
        "idle",
        "compact",
        "clear",
        "undo",
        "redo",
        "retract",
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ ...use, kind: fc.constant("edit" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      ...use,
      kind: fc.constant("snip" as const),
      keepLastTurns: fc.integer({ min: 1, max: 3 }),
    }),
  },
);

const plainUse: Use = { list: "own", copying: "none", adopts: false, inPlace: false };

describe("a host that alternates between its own list and the returned list", () => {
  it("the engine sends the same conversation whichever list the host passes, copies or edits", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.boolean(), async (steps, collapses) => {
        const host = new AlternatingHost({ collapses });
        for (const next of steps) await host.take(next);
        await host.compactor.close();
      }),
      { numRuns: 150 },
    );
  });

  it("after the host removed a message, the engine keeps a reply that only one of the host's lists has", async () => {
    const host = new AlternatingHost({ collapses: false });
    const round = { ...plainUse, kind: "tool", size: 0, other: "same" } as const;
    await host.take({ ...round, kind: "text" });
    await host.take({ ...plainUse, kind: "retract", adopts: true });
    await host.take({ ...round, list: "held", kind: "text", adopts: true, other: "no reply" });
    await host.take({ ...round, list: "held" });
    await host.take(round);
  });

  it("a tool result that the host removed stays removed in a list whose calls the engine merged", async () => {
    const host = new AlternatingHost({ collapses: false });
    const round = { ...plainUse, kind: "tool", size: 0, other: "same" } as const;
    await host.take(round);
    await host.take({ ...plainUse, kind: "retract" });
    await host.take({ ...round, adopts: true });
    await host.take({ ...round, list: "held" });
    const [result] = tagsIn(host.lists.held.slice(-1)).keys();
    await host.take({ ...plainUse, list: "held", kind: "retract" });
    expect(tagsIn(host.last?.request.messages ?? []).has(result ?? "")).toBe(false);
    await host.take(round);
  });

  it("a tool result that the host removed is not sent again, even if an older list lacks the result too", async () => {
    const host = new AlternatingHost({ collapses: false });
    const round = { ...plainUse, kind: "tool", size: 0, other: "same" } as const;
    await host.take(round);
    await host.take({ ...plainUse, kind: "retract", adopts: true });
    await host.take({ ...round, adopts: true });
    await host.take({ ...round, list: "held" });
    await host.take({ ...plainUse, kind: "idle" });
    const [result] = tagsIn(host.lists.own.slice(-1)).keys();
    await host.take({ ...plainUse, kind: "retract" });
    expect(tagsIn(host.last?.request.messages ?? []).has(result ?? "")).toBe(false);
    await host.take(round);
  });

  it("the engine counts an edited list again, even if the engine had shortened the list's newest reply", async () => {
    const host = new AlternatingHost({ collapses: false });
    await host.take({ ...plainUse, kind: "text", size: 351, other: "same" });
    await host.take({ ...plainUse, kind: "retract", adopts: true });
    await host.take({ ...plainUse, kind: "compact" });
    await host.take({ ...plainUse, list: "held", kind: "edit" });
  });

  it("the engine sends the same conversation when the host splits or merges messages in its lists", async () => {
    const cut = fc.constantFrom("split" as const, "merged" as const);
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25 }),
        cut,
        fc.boolean(),
        async (steps, cut, collapses) => {
          const host = new AlternatingHost({ collapses, cut });
          for (const next of steps) {
            // Skips removals, for two reasons. A merged list would have an earlier message and the newest one
            // in one message. In a split list, the engine's note for a missing result would count as a
            // message of the host.
            if (next.kind === "retract") continue;
            await host.take("other" in next && next.other === "no reply" ? { ...next, other: "same" } : next);
          }
          await host.compactor.close();
        },
      ),
      { numRuns: 100 },
    );
  });

  it("a conversation stays compacted when the host uses the compacted list once and then its full list", async () => {
    const host = new AlternatingHost({ collapses: false, windowTokens: 400_000 });
    host.fill(300, 60);
    await host.take({ ...plainUse, kind: "idle" });
    const full = host.last?.tokens ?? 0;
    await host.take({ ...plainUse, kind: "compact", adopts: true });
    const compacted = host.last?.tokens ?? 0;
    expect(compacted).toBeLessThan(full / 3);
    for (const list of ["held", "own", "own", "held", "own"] as const) {
      await host.take({ ...plainUse, list, kind: "text", size: 1, other: "same" });
      expect(host.last?.tokens).toBeLessThan(compacted + 1_000);
      expect(host.last?.request.messages.length).toBeLessThan(120);
    }
    expect(host.lists.own.length).toBeGreaterThan(600);
  });
});
