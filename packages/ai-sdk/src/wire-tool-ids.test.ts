import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalToolId, unusedToolId, wireToolId } from "./wire-tool-ids.ts";

const free = { maxLength: 10_000, isFixedLength: false };

describe("ids of calls", () => {
  it("any id of a provider becomes one of the permitted characters, and comes back as it was", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("esc-", "esc-_2e_", "a.b:0")),
        (id) => {
          const canonical = canonicalToolId(id);
          if (id !== "") expect(canonical).toMatch(/^[a-zA-Z0-9_-]+$/);
          expect(wireToolId(canonical, free)).toBe(id);
        },
      ),
    );
  });

  it("an id that is permitted stays what it is", () =>
    expect(canonicalToolId("toolu_01-A")).toBe("toolu_01-A"));

  it("an id that is too long for a provider is shortened, each to one of its own", () => {
    const limits = { maxLength: 40, isFixedLength: false };
    const [one, two] = ["a", "b"].map((end) => wireToolId(`${"x".repeat(60)}${end}`, limits));
    expect(one).toHaveLength(40);
    expect(one).not.toBe(two);
    expect(wireToolId(`${"x".repeat(60)}a`, limits)).toBe(one);
  });

  it("where only nine letters and digits are allowed, every id becomes that", () => {
    const limits = { maxLength: 9, isFixedLength: true };
    expect(wireToolId("D681PevKs", limits)).toBe("D681PevKs");
    fc.assert(
      fc.property(fc.string(), (id) => {
        expect(wireToolId(id, limits)).toMatch(/^[a-zA-Z0-9]{9}$/);
      }),
    );
    const many = Array.from({ length: 2_000 }, (_, index) => wireToolId(`toolu_${index}`, limits));
    expect(new Set(many).size).toBe(many.length);
  });

  it("an id is used once in a conversation, and never empty", () => {
    expect(unusedToolId("a", new Set())).toBe("a");
    expect(unusedToolId("a", new Set(["a", "a-2"]))).toBe("a-3");
    expect(unusedToolId("", new Set())).toBe("call");
  });
});
