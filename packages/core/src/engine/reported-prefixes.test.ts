import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { usage } from "../../../../test/support/builders.ts";
import type { AssistantEntry, Entry } from "../messages/entry.ts";
import { CLEARED_FIELD, PREFIX_FIELD } from "../messages/entry.ts";
import { ReportedPrefixes } from "./usage-trust.ts";

interface Sized {
  readonly uuid: string;
  readonly tokens: number;
}

const user = (uuid: string): Entry =>
  ({ type: "user", uuid, message: { role: "user", content: "" } }) as Entry;

const answer = (id: string, facts: object = {}): AssistantEntry =>
  ({
    type: "assistant",
    uuid: `line of ${id}`,
    message: { id, role: "assistant", content: [], usage: usage(9_000, 5) },
    ...facts,
  }) as unknown as AssistantEntry;

/** Creates a process that has read these entries. */
function processWith(entries: readonly Sized[]): ReportedPrefixes {
  const prefixes = new ReportedPrefixes();
  for (const { uuid, tokens } of entries) prefixes.add(user(uuid), tokens);
  return prefixes;
}

/** Returns the line that a process wrote for the answer to these entries. */
function lineFor(entries: readonly Sized[], clearedTokens = 0): AssistantEntry {
  const prefixes = processWith(entries);
  prefixes.recordAnswer(answer("msg_1"), { prefix: prefixes.whole, clearedTokens });
  return prefixes.toLine(answer("msg_1")) as AssistantEntry;
}

const sizes = fc.array(fc.double({ min: 0, max: 50_000, noNaN: true }), { minLength: 1, maxLength: 8 });
const sized = (tokens: readonly number[]): readonly Sized[] =>
  tokens.map((each, at) => ({ uuid: `m${at}`, tokens: each }));

describe("ReportedPrefixes", () => {
  it("a new process applies a recorded usage report if it reads the same conversation", () => {
    fc.assert(
      fc.property(sizes, (tokens) => {
        const entries = sized(tokens);
        expect(processWith(entries).tokensAddedSince(lineFor(entries))).toBe(0);
      }),
    );
  });

  it("a new process ignores a recorded usage report if it reads a conversation of another size", () => {
    fc.assert(
      fc.property(sizes, fc.nat(), fc.boolean(), (tokens, nth, isLonger) => {
        const more = Math.max(502, sum(tokens) * 0.06);
        const longer = tokens.map((each, at) => (at === nth % tokens.length ? each + more : each));
        const [reported, read] = isLonger ? [tokens, longer] : [longer, tokens];
        expect(processWith(sized(read)).tokensAddedSince(lineFor(sized(reported)))).toBeUndefined();
      }),
    );
  });

  it("returns the added tokens if the host slightly changed the conversation before the resume", () => {
    const line = lineFor(sized([4_000, 2_000]));
    expect(processWith(sized([4_000, 2_100])).tokensAddedSince(line)).toBe(100);
  });

  it("returns the same number of added tokens for every line of one response, however long the lines are", () => {
    const line = lineFor(sized([4_000, 2_000]));
    const prefixes = processWith(sized([4_000, 2_100]));
    const first = prefixes.tokensAddedSince(line);
    prefixes.add(line, 3_000);
    expect(prefixes.tokensAddedSince({ ...line, uuid: "second part" })).toBe(first);
  });

  it("returns 0 added tokens for a usage report if tool results were cleared after the report", () => {
    expect(processWith(sized([500])).tokensAddedSince(lineFor(sized([4_000, 2_000])), true)).toBe(0);
  });

  it("keeps the recorded prefix size of a line that another process writes again", () => {
    const line = lineFor(sized([4_000, 2_000]));
    const prefixes = processWith(sized([500]));
    expect(prefixes.tokensAddedSince(line)).toBeUndefined();
    expect(prefixes.toLine(line)).toBe(line);
    const { [PREFIX_FIELD]: _, ...bare } = line as AssistantEntry & { [PREFIX_FIELD]?: number };
    expect(prefixes.toLine(bare as AssistantEntry)).toEqual(line);
  });

  it("a new process reads from a line how many tokens the usage lacks because the provider cleared them", () => {
    fc.assert(
      fc.property(fc.nat(), fc.boolean(), (cleared, isOld) => {
        const line = lineFor(sized([4_000, 2_000]), cleared);
        expect(Object.keys(line).includes(CLEARED_FIELD)).toBe(cleared > 0);
        const prefixes = processWith(sized([4_000, 2_000]));
        expect(prefixes.clearedBefore(line)).toBe(cleared);
        prefixes.tokensAddedSince(line, isOld);
        const { [CLEARED_FIELD]: _, ...bare } = line as AssistantEntry & { [CLEARED_FIELD]?: number };
        expect(prefixes.clearedBefore(bare as AssistantEntry)).toBe(cleared);
      }),
    );
  });

  it("ignores a recorded prefix size that is no token count", () => {
    const noCount = fc.oneof(
      fc.string(),
      fc.constantFrom(-1, Number.NaN, Number.POSITIVE_INFINITY, null, {}, []),
    );
    fc.assert(
      fc.property(noCount, (record) => {
        expect(processWith(sized([500])).tokensAddedSince(answer("msg_1", { [PREFIX_FIELD]: record }))).toBe(
          0,
        );
        expect(processWith([]).clearedBefore(answer("msg_1", { [CLEARED_FIELD]: record }))).toBe(0);
      }),
    );
  });
});

const sum = (tokens: readonly number[]): number => tokens.reduce((all, each) => all + each, 0);
