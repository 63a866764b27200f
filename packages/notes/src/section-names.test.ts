import { describe, expect, it } from "vitest";
import { nameKey, sectionName } from "./notes-format.ts";

describe("names of note sections", () => {
  it.each([
    ["# Current State", "Current State"],
    ["#\tPlan #", "Plan"],
    ["# C#", "C#"],
    ["Key Results", "Key Results"],
  ])("sectionName returns the heading %j without its marks", (heading, name) => {
    expect(sectionName(heading)).toBe(name);
  });

  it.each([
    ["# Errors & Corrections", "*errors and  corrections*:"],
    ["# Ünïcode", "u\u0308ni\u0308code"],
    ["# Key Results", "key-results"],
    ["# !!!", "!!!"],
    ["# 🚀", "🚀"],
  ])("nameKey returns the same key for %j and %j", (one, other) => {
    expect(nameKey(one)).toBe(nameKey(other));
  });

  it("nameKey returns different keys for different sections, even for names without letters", () => {
    expect(nameKey("# !!!")).not.toBe(nameKey("# ???"));
    expect(nameKey("# 🚀")).not.toBe(nameKey("# 危険"));
    expect(nameKey("# Results")).not.toBe(nameKey("# Key Results"));
  });
});
