import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Entry } from "./entry.ts";
import { standInUuids, withStandInsApplied } from "./stand-ins.ts";

/**
 * Parses a compact notation: `a` is a message, `S(a b)` a span, `M(a)` a snip marker, `E(S)` an expansion.
 */
function lines(text: string): readonly Entry[] {
  return [...text.matchAll(/(\w+)(?:\(([^)]*)\))?/g)].map(([, name = "", inside]) => line(name, inside));
}

function line(name: string, inside: string | undefined): Entry {
  const uuid = name;
  const message = { role: "user", content: name };
  if (inside === undefined) return { type: "user", uuid, message } as Entry;
  const uuids = inside.split(" ").filter((each) => each !== "");
  if (name.startsWith("E")) {
    return {
      type: "system",
      subtype: "collapse_expanded",
      uuid,
      collapse: { spanIds: uuids },
    } as unknown as Entry;
  }
  const record = name.startsWith("M")
    ? { snipped: { messages: uuids.length, uuids } }
    : { collapsed: { spanId: name, messages: uuids.length, uuids } };
  return { type: "user", uuid, message, isMeta: true, ...record } as unknown as Entry;
}

const shown = (text: string): string =>
  withStandInsApplied(lines(text))
    .filter(({ type }) => type !== "system")
    .map(({ uuid }) => uuid)
    .join(" ");

describe("a transcript with collapsed spans", () => {
  it.each([
    ["shows a collapsed span at the position of its first message", "a b c d S(b c) e", "a S d e"],
    ["shows two collapsed spans of one batch at their positions", "a b c d S1(a b) S2(c d)", "S1 S2"],
    ["hides a collapsed span inside another one", "a b c S1(a b) d S2(S1 c) e", "S2 d e"],
    ["shows the messages of a collapsed span after its expansion", "a b c S(a b) d E1(S) e", "a b c d e"],
    [
      "shows the inner collapsed span again when the outer span is expanded",
      "a b c S1(a b) S2(S1 c) E1(S2) d",
      "S1 c d",
    ],
    [
      "shows all messages when the outer and then the inner collapsed span are expanded",
      "a b c S1(a b) S2(S1 c) E1(S2 S1) d",
      "a b c d",
    ],
    ["the newest collapsed span of a message applies", "a b S1(a b) E1(S1) S2(a b) c", "S2 c"],
    ["a snip marker replaces a collapsed span and all its messages", "a b c S(a b) M(S c) d", "M d"],
    [
      "a collapsed span replaces a snip marker, and its expansion shows the marker again",
      "a b c M(a) S(M b) d E1(S) e",
      "M b c d e",
    ],
    ["a later snip marker replaces the earlier marker that it names", "a b c M1(a) M2(a M1 b) d", "M2 c d"],
  ])("%s", (_rule, text, expected) => {
    expect(shown(text)).toBe(expected);
  });
});

describe("damaged or hostile records of collapsed spans", () => {
  it.each([
    ["stays at its own position if it names only missing messages", "a S(x y) b", "a S b"],
    ["covers only those of its messages that exist", "a b S(x b) c", "a S c"],
    ["covers no message that comes after it", "a S(b a c) b c", "S b c"],
    ["cannot cover itself", "a S(S) b", "a S b"],
    ["cannot cover a later span that names it", "a b S1(a S2) S2(b S1) c", "S2 c"],
    ["does not cover a message that another span covers", "a b c S1(a b) S2(b c) d", "S1 S2 d"],
    ["is not expanded while another span covers it", "a b c S1(a b) S2(S1 c) E1(S1) d", "S2 d"],
    ["does not vanish on expansion if its messages are missing", "S(x) a E1(S) b", "S a b"],
  ])("a collapsed span %s", (_rule, text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it("a collapsed span never covers the boundary or the summary of a compaction", () => {
    const boundary = { type: "system", subtype: "compact_boundary", uuid: "b" } as unknown as Entry;
    const summary = { ...line("s", undefined), isCompactSummary: true } as Entry;
    const entries = [boundary, summary, line("a", undefined), line("S", "b s a")];
    expect(withStandInsApplied(entries).map(({ uuid }) => uuid)).toEqual(["b", "s", "S"]);
  });

  it("hides a message only if a shown span or marker replaces it, whatever the records claim", () => {
    fc.assert(
      fc.property(anyLines(), (entries) => {
        const after = withStandInsApplied(entries);
        // Each shown item occurs once, in the order of the first line that it covers.
        expect(new Set(after).size).toBe(after.length);
        const isShown = new Set(after);
        const claimedBy = (uuid: string | undefined): readonly Entry[] =>
          entries.filter((entry) => uuid !== undefined && standInUuids(entry).includes(uuid));
        const replacesMessage = (entry: Entry, seen: ReadonlySet<Entry>): boolean =>
          isShown.has(entry) ||
          claimedBy(entry.uuid).some(
            (owner) => !seen.has(owner) && replacesMessage(owner, new Set([...seen, owner])),
          );
        for (const entry of entries.filter(({ type }) => type === "user")) {
          if (standInUuids(entry).length === 0) expect(replacesMessage(entry, new Set([entry]))).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});

function anyLines(): fc.Arbitrary<readonly Entry[]> {
  const names = ["a", "b", "c", "d", "S1", "S2", "S3", "M1", "x"];
  const claims = fc.array(fc.constantFrom(...names), { maxLength: 4 }).map((list) => list.join(" "));
  const others = fc.uniqueArray(fc.tuple(fc.constantFrom("S1", "S2", "S3", "M1", "M2", "E1", "E2"), claims), {
    selector: ([name]) => name,
  });
  return others.chain((list) =>
    fc.shuffledSubarray(
      [
        ...["a", "b", "c", "d"].map((name) => line(name, undefined)),
        ...list.map(([name, inside]) => line(name, inside)),
      ],
      { minLength: 4 },
    ),
  );
}
