import { readFileSync } from "node:fs";
import { join } from "node:path";
import { UNDOCUMENTED_CHAT, UNDOCUMENTED_RESPONSES } from "@longhaul/simulator";
import { expect, it } from "vitest";

it("the page of the simulator lists every request that is accepted for lack of a source", () => {
  const page = readFileSync(join(import.meta.dirname, "..", "docs", "simulator.md"), "utf8");
  const section = page.split("## Accepted for lack of a source")[1]?.split("\n## ")[0] ?? "";
  const listed = section.split("\n").filter((line) => /^\| (?:chat completions|Responses) /.test(line));
  const rows = (api: string, cases: typeof UNDOCUMENTED_CHAT): string[] =>
    cases.map(({ accepted, reason }) => `| ${api} | ${accepted} | ${reason} |`);
  expect(listed).toEqual([
    ...rows("chat completions", UNDOCUMENTED_CHAT),
    ...rows("Responses", UNDOCUMENTED_RESPONSES),
  ]);
});
