import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ATTEMPTS } from "./agent/hostile-attempts.case.ts";

const read = (...path: readonly string[]): string =>
  readFileSync(join(import.meta.dirname, "..", ...path), "utf8");

it("the security page has exactly one row for each rule that a refusal can name", () => {
  const code = read("packages", "agent", "src", "permission.ts");
  const kinds = code.slice(code.indexOf("readonly kind:"), code.indexOf("readonly title"));
  const rules = code.slice(
    code.indexOf("export type PermissionRule"),
    code.indexOf("export interface Refusal"),
  );
  const named = [...`${kinds}${rules}`.matchAll(/\| "([a-z-]+)"/g)].map(([, name = ""]) => name);
  const page = read("docs", "security.md");
  const table = page.slice(page.indexOf("## What needs permission"), page.indexOf("### Guarded files"));
  const rows = [...table.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name = ""]) => name);
  expect([...rows].sort()).toEqual([...named].sort());
});

it("the security page states no more attack attempts than the hostile model of the tests makes", () => {
  const [, promised = ""] = /more than (\d+) attempts/.exec(read("docs", "security.md")) ?? [];
  expect(Object.values(ATTEMPTS).flat().length).toBeGreaterThan(Number(promised));
  expect(Number(promised)).toBeGreaterThan(120);
});
