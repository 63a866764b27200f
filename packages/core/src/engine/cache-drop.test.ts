import { expect, it } from "vitest";
import { isCacheDrop } from "./provider-cache.ts";

it("isCacheDrop requires over 5 percent and over 2,000 tokens fewer cache reads than expected", () => {
  expect(isCacheDrop(100_000, 94_999)).toBe(true);
  expect(isCacheDrop(100_000, 95_000)).toBe(false);
  expect(isCacheDrop(20_000, 17_999)).toBe(true);
  expect(isCacheDrop(20_000, 18_000)).toBe(false);
  expect(isCacheDrop(100_000, 97_900)).toBe(false);
  expect(isCacheDrop(1_999, 0)).toBe(false);
  expect(isCacheDrop(50_000, 60_000)).toBe(false);
  expect(isCacheDrop(-5_000, 0)).toBe(false);
});
