import { expect, it } from "vitest";
import { estimateTokensClassic } from "./classic.ts";

it("takes a text to be a token for every four characters, rounded", () => {
  expect(["", "a", "ab", "abcd", "abcdef", "a".repeat(4001)].map(estimateTokensClassic)).toEqual([
    0, 0, 1, 1, 2, 1000,
  ]);
});
