import { describe, expect, it } from "vitest";
import { nameKey, sectionName } from "./notes-format.ts";

describe("section names", () => {
  it.each([
    ["# Current State", "Current State"],
    ["#\tPlan #", "Plan"],
    ["# C#", "C#"],
    ["Key Results", "Key Results"],
  ])("returns the heading without its marks as the section name: %j", (heading, name) => {
    expect(sectionName(heading)).toBe(name);
  });

  it.each([
    ["# Errors & Corrections", "*errors and  corrections*:"],
    ["# Ünïcode", "u\u0308ni\u0308code"],
    ["# Key Results", "key-results"],
    ["# !!!", "!!!"],
    ["# 🚀", "🚀"],
  ])("treats names that look the same to a reader as equal: %j and %j", (one, other) => {
    expect(nameKey(one)).toBe(nameKey(other));
  });

  it("gives every section name a key, and different sections different keys", () => {
    expect(nameKey("# !!!")).not.toBe(nameKey("# ???"));
    expect(nameKey("# 🚀")).not.toBe(nameKey("# 危険"));
    expect(nameKey("# Results")).not.toBe(nameKey("# Key Results"));
  });
});
