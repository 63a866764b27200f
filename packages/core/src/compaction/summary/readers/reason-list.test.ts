import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReasonType } from "./reason-cues.ts";
import { readReasonItem, reasonItem, settleReasons } from "./reason-list.ts";
import { formsOf, type Reason, type StatedReason } from "./reasons.ts";

const reason = (text: string, type: ReasonType = "root-cause", by: Reason["by"] = "assistant"): Reason => ({
  type,
  by,
  ...formsOf([text]),
});
/** Gives the statements positions, as in the messages of this compaction. */
const fresh = (...reasons: readonly Reason[]): readonly StatedReason[] =>
  reasons.map((said, at) => ({ ...said, at }));
const textsOf = (reasons: readonly Reason[]): readonly string[] => reasons.map(({ text }) => text);

describe("settleReasons", () => {
  it("lists a repeated statement once, in the form that says the most", () => {
    const short = reason("The upload failed because the proxy buffers the body.");
    const long = reason("The upload failed because the proxy `edge-3` buffers the whole body.");
    expect(settleReasons([short, long])).toEqual([long]);
    expect(settleReasons([long, short])).toEqual([long]);
  });

  it("keeps a statement in its place when a shorter form of it comes later", () => {
    const long = reason("The upload failed because the proxy `edge-3` buffers the whole body.");
    const other = reason("The login page is slow because of the font.");
    const short = reason("The upload failed because the proxy buffers the body.");
    expect(settleReasons([long, other, short])).toEqual([long, other]);
  });

  it("drops a decision against work when a later statement says that the work was done", () => {
    const skipped = reason("Won't fix - printing all rows in one table is intentional.", "decision");
    const done = reason("Fixed the printing of rows, now one table per day instead of all rows.", "decision");
    expect(textsOf(settleReasons(fresh(skipped, done)))).toEqual([done.text]);
    expect(settleReasons(fresh(skipped))).toHaveLength(1);
  });

  it("keeps two statements that differ in a number or a name", () => {
    const [one, two] = [
      reason("The upload failed because the limit is 10 MB."),
      reason("The upload failed because the limit is 20 MB."),
    ];
    expect(settleReasons([one, two])).toEqual([one, two]);
  });

  it("keeps a statement when a later one only mentions an expected case or another complexity", () => {
    const one = reason("Won't fix: the O(N*M) lookup is fine for the common case of 100 rows.", "decision");
    const two = reason("The O(N) lookup is fine for the expected common case of 100 rows.", "decision");
    expect(settleReasons(fresh(one, two))).toHaveLength(2);
  });

  it("drops a belief when a later statement says that somebody expected it", () => {
    const one = reason("The lookup of the nightly rows is fine.");
    const two = reason(
      "I had expected that the lookup of the nightly rows is fine, but it hangs.",
      "correction",
    );
    expect(textsOf(settleReasons(fresh(one, two)))).toEqual([two.text]);
  });

  it("keeps a statement and its negation", () => {
    const [one, two] = [
      reason("The upload of the nightly invoices is slow because of the proxy."),
      reason("The upload of the nightly invoices is not slow because of the proxy."),
    ];
    expect(settleReasons([one, two])).toEqual([one, two]);
  });

  it("drops a belief that a later statement corrects", () => {
    const belief = reason("The checkout test fails because the cache is stale.");
    const truth = reason("I was wrong: the checkout test fails because the clock is stale.", "correction");
    expect(textsOf(settleReasons([belief, ...fresh(truth)]))).toEqual([truth.text]);
  });

  it("drops a belief that a later statement denies by name", () => {
    const belief = reason("The problem is the formatter.");
    const truth = reason("The problem is the linter, not the formatter.");
    expect(textsOf(settleReasons([belief, ...fresh(truth)]))).toEqual([truth.text]);
  });

  it("drops a choice that a later choice replaces", () => {
    const first = reason("We decided to use Postgres because it has schemas.", "decision");
    const second = reason("We use SQLite instead of Postgres because the tests run offline.", "decision");
    expect(textsOf(settleReasons([first, ...fresh(second)]))).toEqual([second.text]);
  });

  it("keeps a decision of the user whatever the assistant says later", () => {
    const decision = reason("Let's use Postgres, since the ops team knows it.", "decision", "user");
    const later = reason(
      "I was wrong: use SQLite instead of Postgres, since the ops team knows it.",
      "decision",
    );
    expect(textsOf(settleReasons([decision, ...fresh(later)]))).toContain(decision.text);
  });

  it("lets later messages correct the list without listing them", () => {
    const belief = reason("The checkout test fails because the cache is stale.");
    const truth: StatedReason = {
      ...reason("I was wrong: the checkout test fails because the clock is stale.", "correction"),
      at: 9,
    };
    expect(settleReasons([belief], [truth])).toEqual([]);
  });

  it("lets no statement of an earlier compaction correct another one, because their order is lost", () => {
    const older = reason("The problem is the linter, not the formatter.");
    const newer = reason("I was wrong: the problem is the formatter.", "correction");
    expect(settleReasons([newer, older])).toEqual([newer, older]);
  });

  const THINGS = ["cache", "clock", "proxy", "driver", "kernel", "router"] as const;
  const statement = fc.record({
    subject: fc.constantFrom("checkout test", "nightly export", "login page"),
    thing: fc.constantFrom(...THINGS),
    type: fc.constantFrom<ReasonType>("root-cause", "decision", "correction", "reason"),
    by: fc.constantFrom<Reason["by"]>("user", "assistant"),
    form: fc.constantFrom("fails because of the", "is slow, not because of the", "was fixed instead of the"),
  });

  it("changes nothing when it settles a settled list again, whatever the statements are", () => {
    fc.assert(
      fc.property(fc.array(statement, { maxLength: 25 }), (statements) => {
        const reasons = statements.map(({ subject, thing, type, by, form }) =>
          reason(`The ${subject} ${form} stale ${thing}.`, type, by),
        );
        const once = settleReasons(fresh(...reasons)).map(({ at: _, ...said }) => said);
        expect(settleReasons(once)).toEqual(once);
        for (const one of once) expect(reasons).toContainEqual(one);
      }),
    );
  });

  it("keeps only the newest correction, whatever the order and wherever a compaction cuts", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.constantFrom(...THINGS), { minLength: 2, maxLength: 6 }),
        fc.array(fc.nat(5), { maxLength: 4 }),
        (things, cuts) => {
          const said = things.map((thing) =>
            reason(
              `I was wrong: the nightly export fails because of the ${thing} on the build server.`,
              "correction",
            ),
          );
          const places = [...new Set([0, ...cuts.map((cut) => cut % said.length), said.length])].sort(
            (a, b) => a - b,
          );
          let kept: readonly Reason[] = [];
          for (const [index, place] of places.entries()) {
            const news = fresh(...said.slice(places[index - 1] ?? 0, place));
            kept = settleReasons<Reason & { at?: number }>([...kept, ...news]).map(
              ({ at: _, ...one }) => one,
            );
          }
          expect(textsOf(kept)).toEqual([said.at(-1)?.text]);
        },
      ),
    );
  });
});

describe("reasonItem", () => {
  it("writes a list item that the next summary reads back", () => {
    for (const type of ["decision", "root-cause", "correction", "reason"] as const) {
      for (const by of ["user", "assistant"] as const) {
        const text = "The lock is released late.";
        expect(readReasonItem(reasonItem(type, by, text))).toEqual({ type, by, text, needed: [text] });
      }
    }
  });

  it("reads the name that earlier versions wrote", () => {
    expect(readReasonItem("- Reason: The lock is released late.")).toEqual(
      readReasonItem("- Said: The lock is released late."),
    );
  });

  it("reads no other item, and no item of another author that is too long", () => {
    expect(readReasonItem("- Plan: use a lock")).toBeUndefined();
    expect(readReasonItem(`- Cause: ${"long ".repeat(400)}`)).toBeUndefined();
  });
});
