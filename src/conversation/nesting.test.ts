import { expect, it } from "vitest";
import { parsedInput } from "../models/call-input.ts";
import { isNestedTooDeep, MOST_NESTED_LEVELS, mayNestTooDeep, withoutDeepParts } from "./nesting.ts";

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

it("accepts exactly as many levels as are allowed", () => {
  expect(isNestedTooDeep(JSON.parse(nested(MOST_NESTED_LEVELS)))).toBe(false);
  expect(isNestedTooDeep(JSON.parse(nested(MOST_NESTED_LEVELS + 1)))).toBe(true);
  expect(mayNestTooDeep(nested(MOST_NESTED_LEVELS + 1))).toBe(true);
});

it("cuts a value nested 100,000 levels deep to one that can be written as JSON", () => {
  const cut = withoutDeepParts(JSON.parse(nested(100_000)));
  expect(isNestedTooDeep(cut)).toBe(false);
  expect(JSON.stringify(cut)).toContain("nested more than");
});

it("keeps a tool input of a model that is nested too deep as text, so that nothing is lost", () => {
  const json = nested(100_000);
  expect(parsedInput(json)).toEqual({ INVALID_JSON: json });
});
