import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SLOW_TESTS } from "./slow-tests.ts";

const ROOT = join(import.meta.dirname, "..");

describe("the list of slow tests", () => {
  it("the list of slow tests names files that exist", () => {
    expect(Object.keys(SLOW_TESTS).filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it("the list of slow tests equals the table in docs/testing.md", () => {
    const page = readFileSync(join(ROOT, "docs", "testing.md"), "utf8");
    const section = page.slice(page.indexOf("## Slow tests"));
    const rows = [...section.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(([, file = "", reason]) => [
      file,
      reason,
    ]);
    expect(Object.fromEntries(rows)).toEqual(SLOW_TESTS);
  });
});
