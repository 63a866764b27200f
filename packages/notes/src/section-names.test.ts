import { describe, expect, it } from "vitest";
import { nameKey, sectionName } from "./notes-format.ts";

describe("the name of a section", () => {
  it.each([
    ["# Current State", "Current State"],
    ["#\tPlan #", "Plan"],
    ["# C#", "C#"],
    ["Key Results", "Key Results"],
  ])("is the heading without its marks: %j", (heading, name) => {
    expect(sectionName(heading)).toBe(name);
  });

  it.each([
    ["# Errors & Corrections", "*errors and  corrections*:"],
    ["# Ünïcode", "u\u0308ni\u0308code"],
    ["# Key Results", "key-results"],
    ["# !!!", "!!!"],
    ["# 🚀", "🚀"],
  ])("is the same for a reader: %j and %j", (one, other) => {
    expect(nameKey(one)).toBe(nameKey(other));
  });

  it("is never lost, and another for another section", () => {
    expect(nameKey("# !!!")).not.toBe(nameKey("# ???"));
    expect(nameKey("# 🚀")).not.toBe(nameKey("# 危険"));
    expect(nameKey("# Results")).not.toBe(nameKey("# Key Results"));
  });
});
