import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stemOf } from "./stem.ts";

const FAMILIES = [
  "prefer prefers preferred preferring preference preferences",
  "validate validated validates validating validation validator",
  "configure configures configured configuration",
  "retry retries retried retrying",
  "create creates created creating creation creator",
  "implement implements implemented implementation",
  "stop stops stopped stopping",
  "run runs running runner",
  "spell spells spelled spelling",
  "normalize normalise normalized normalisation normalization",
  "color colour colors colours coloured",
  "analyze analyse analyzed analysis",
  "remove removes removed removal",
  "depend depends dependency dependencies dependent",
  "decide decided decides decision decisions",
  "cancel cancelled canceled cancels cancellation",
  "fail fails failed failing failure failures",
  "library libraries",
  "address addresses addressed",
  "store stored stores storing storage",
];

describe("stemOf", () => {
  it.each(FAMILIES)("gives all of these words one stem: %s", (family) => {
    expect(new Set(family.split(" ").map(stemOf)).size).toBe(1);
  });

  it.each([
    ["status", "state"],
    ["class", "clad"],
    ["server", "several"],
    ["process", "procure"],
    ["order", "ordinal"],
    ["bus", "bud"],
  ])("keeps the stems of %s and %s apart", (one, other) => {
    expect(stemOf(one)).not.toBe(stemOf(other));
  });

  it("keeps short words, identifiers, numbers and words of other alphabets unchanged", () => {
    for (const word of ["use", "ids", "get_names", "utf8s", "3001", "größen", "ошибки", "日本"])
      expect(stemOf(word)).toBe(word);
  });

  it("a stem starts with the first two letters of its word, and is never longer", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{1,30}$/), (word) => {
        const stem = stemOf(word);
        expect(stem.slice(0, 2)).toBe(word.slice(0, 2));
        expect(stem.length).toBeGreaterThanOrEqual(Math.min(word.length, 2));
        expect(stem.length).toBeLessThanOrEqual(word.length);
      }),
    );
  });
});
