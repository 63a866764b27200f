import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMatch, readMatcher } from "./hook-settings.ts";

const matches = (raw: unknown, word: string | undefined): boolean | string => {
  let refusal = "";
  const matcher = readMatcher(raw, (reason) => {
    refusal = reason;
  });
  return matcher === undefined ? refusal : isMatch(matcher, word);
};

describe("hook matchers", () => {
  it.each([undefined, null, "", "*"])(
    "the matcher %j matches every event, also one without a trigger or source",
    (raw) => {
      expect(matches(raw, "auto")).toBe(true);
      expect(matches(raw, undefined)).toBe(true);
    },
  );

  it("reads a matcher of letters, digits, _ - , | and spaces as a list of whole words", () => {
    expect(matches("auto", "auto")).toBe(true);
    expect(matches("manual|auto", "auto")).toBe(true);
    expect(matches("manual , auto", "auto")).toBe(true);
    expect(matches("aut", "auto")).toBe(false);
    expect(matches("auto2", "auto")).toBe(false);
    expect(matches("auto", undefined)).toBe(false);
    expect(matches("Auto", "auto")).toBe(false);
  });

  it("reads a matcher with other characters as a regular expression that may match anywhere", () => {
    expect(matches("^ma", "manual")).toBe(true);
    expect(matches("nua.", "manual")).toBe(true);
    expect(matches("^(startup|resume|clear|compact)$", "compact")).toBe(true);
    expect(matches("^(?!auto).*$", "auto")).toBe(false);
    expect(matches(".*", undefined)).toBe(false);
  });

  it("rejects a matcher that is neither text nor a regular expression, with a reason", () => {
    expect(matches(7, "auto")).toMatch(/must be a string/);
    expect(matches("(", "auto")).toMatch(/not a valid regular expression/);
    expect(matches("[z-a]", "auto")).toMatch(/not a valid regular expression/);
  });

  it.each([
    "(\\w?){100}x",
    "(.|.|.|.|.)*x",
    "((a+)+)+$",
    "(|)".repeat(13),
    ".?".repeat(13),
    `${".".repeat(100)}$`,
  ])("rejects the matcher %s because its search could run without end", (pattern) => {
    expect(matches(pattern, "manual")).toMatch(/without end/);
  });

  it("a matcher rejects a very long word without searching it", () => {
    expect(matches(".*.*.*.*.*.*.*.*.*.*.*\\d", "a".repeat(100_000))).toBe(false);
  });

  // Without the limits, some of these patterns run until the test times out.
  it("every accepted matcher returns within the time limit of the test", () => {
    const piece = fc.constantFrom(
      ".",
      "\\w",
      "(",
      ")",
      "|",
      "*",
      "+",
      "?",
      "{9}",
      "{0,99}",
      "(.|.)",
      "(|)",
      "x",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        matches(pieces.join(""), "manualauto");
      }),
      { numRuns: 2_000 },
    );
    expect(matches(`${".*".repeat(12)}\\d`, "startup")).toBe(false);
  });
});
