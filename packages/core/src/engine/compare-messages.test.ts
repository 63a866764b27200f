import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSameJson, jsonCopy } from "./compare-messages.ts";

/** Values of any type, also dates, sparse arrays and objects without a prototype. */
const values = fc.anything({ withDate: true, withSparseArray: true, withNullPrototype: true, maxDepth: 3 });
const few = fc.object({
  key: fc.constantFrom("a", "b", "cache_control", "__proto__"),
  values: [fc.constantFrom<unknown>(1, "x", "y", null, undefined, Number.NaN, new Date(0))],
  maxDepth: 2,
});

describe("isSameJson", () => {
  it("isSameJson returns true only if both values have the same JSON text, with the same field order", () => {
    const tools = [{ name: "Read" }];
    expect(isSameJson({ system: "s", tools }, { system: "s", tools })).toBe(true);
    expect(isSameJson({ system: "s", tools }, { system: "s", tools: [{ name: "Read" }] })).toBe(true);
    expect(isSameJson({ system: "s", tools }, { tools, system: "s" })).toBe(false);
    expect(isSameJson({ system: "s" }, { system: "t" })).toBe(false);
    expect(isSameJson({ system: "s" }, { system: "s", tools })).toBe(false);
    expect(isSameJson(undefined, { system: "s" })).toBe(false);
  });

  it("isSameJson returns false if a value contains itself", () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect(isSameJson(loop, { a: 1 })).toBe(false);
    expect(isSameJson(undefined, loop)).toBe(false);
  });
});

describe("comparing and copying values without creating JSON text", () => {
  const json = (value: unknown): string | undefined => JSON.stringify(value);

  it("isSameJson agrees with a comparison of the JSON texts, whatever the values are", () => {
    fc.assert(
      fc.property(fc.oneof(values, few), fc.oneof(values, few), (one, other) => {
        const isSame = json(one) !== undefined && json(one) === json(other);
        expect(isSameJson(one, other)).toBe(one === other || isSame);
        const again: unknown = json(one) === undefined ? undefined : JSON.parse(json(one) as string);
        if (again !== undefined) expect(isSameJson(one, again)).toBe(json(one) === json(again));
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(few, few, (one, other) => {
        expect(isSameJson(one, other)).toBe(json(one) === json(other));
      }),
      { numRuns: 500 },
    );
  });

  it("jsonCopy returns a value with the same JSON text, without the omitted field", () => {
    fc.assert(
      fc.property(fc.oneof(values, few), (value) => {
        const without = (key: string, part: unknown): unknown => (key === "cache_control" ? undefined : part);
        expect(json(jsonCopy(value, "cache_control"))).toBe(JSON.stringify(value, without));
      }),
      { numRuns: 500 },
    );
  });

  it("jsonCopy returns undefined for a value that is nested too deep or contains itself", () => {
    let deep: unknown = [];
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect([jsonCopy(deep, "x"), jsonCopy(loop, "x")]).toEqual([undefined, undefined]);
    const other: Record<string, unknown> = {};
    other.self = other;
    expect(isSameJson(loop, other)).toBe(false);
  });
});
