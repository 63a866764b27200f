import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalToolId, unusedToolId, wireToolId } from "./wire-tool-ids.ts";

const free = { maxLength: 10_000, isFixedLength: false };

describe("conversion of tool call ids", () => {
  it("encodes any provider's tool id in permitted characters and decodes it unchanged", () => {
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

  it("keeps a tool id that is already permitted", () =>
    expect(canonicalToolId("toolu_01-A")).toBe("toolu_01-A"));

  it("shortens two tool ids that exceed a provider's length limit, and keeps them different", () => {
    const limits = { maxLength: 40, isFixedLength: false };
    const [one, two] = ["a", "b"].map((end) => wireToolId(`${"x".repeat(60)}${end}`, limits));
    expect(one).toHaveLength(40);
    expect(one).not.toBe(two);
    expect(wireToolId(`${"x".repeat(60)}a`, limits)).toBe(one);
  });

  it("turns every tool id into nine letters and digits for a provider that requires that form", () => {
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

  it("unusedToolId returns an id that is unique in the conversation and never empty", () => {
    expect(unusedToolId("a", new Set())).toBe("a");
    expect(unusedToolId("a", new Set(["a", "a-2"]))).toBe("a-3");
    expect(unusedToolId("", new Set())).toBe("call");
  });
});
