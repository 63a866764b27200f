import { describe, expect, it } from "vitest";
import { claudeVersion, isAtLeast } from "./claude-version.ts";

describe("claudeVersion and isAtLeast", () => {
  it("reads the family and version from a Claude model name, with or without a date, a prefix or a suffix", () => {
    expect(claudeVersion("claude-opus-4-1-20250805")).toEqual({ line: "opus", major: 4, minor: 1 });
    expect(claudeVersion("claude-sonnet-4-20250514")).toEqual({ line: "sonnet", major: 4, minor: 0 });
    expect(claudeVersion("us.anthropic.claude-haiku-4-5-20251001-v1:0")).toEqual({
      line: "haiku",
      major: 4,
      minor: 5,
    });
    expect(claudeVersion("anthropic/claude-opus-4.5")).toEqual({ line: "opus", major: 4, minor: 5 });
    expect(claudeVersion("claude-sonnet-5[1m]")).toEqual({ line: "sonnet", major: 5, minor: 0 });
    expect(claudeVersion("claude-opus-12-34")).toEqual({ line: "opus", major: 12, minor: 34 });
    expect(claudeVersion("anthropic.claude-mythos-preview")).toMatchObject({ line: "mythos", major: 4 });
  });

  it("returns no version for an old-style name, another model, or a name that has a date but no version", () => {
    for (const model of [
      ["claude-opus-4-1"],
      "claude-instant-20230101",
      "claude-3-5-sonnet-20241022",
      "gpt-5",
      "",
      5,
      undefined,
    ])
      expect(claudeVersion(model)).toBeUndefined();
  });

  it("isAtLeast compares versions by major, then minor, and returns false for an unknown version", () => {
    const version = claudeVersion("claude-opus-4-5");
    expect([isAtLeast(version, 4, 5), isAtLeast(version, 4, 4), isAtLeast(version, 3, 9)]).toEqual([
      true,
      true,
      true,
    ]);
    expect([isAtLeast(version, 4, 6), isAtLeast(version, 5, 0), isAtLeast(version, 5, 1)]).toEqual([
      false,
      false,
      false,
    ]);
    expect(isAtLeast(undefined, 0, 0)).toBe(false);
  });
});
