import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { claudeCodeSessions, describeRecorded } from "../../../test/support/real-sessions.ts";
import type { Entry } from "../../conversation/entry.ts";
import { presentSections, SECTION_NAMES } from "../sections.ts";
import { digestSession } from "./digest.ts";
import { summarise } from "./summarise.ts";

const countTokens = (text: string): number => Math.ceil(text.length / 3);

function entriesOf(path: string): Entry[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Entry];
      } catch {
        return [];
      }
    });
}

describeRecorded("recorded sessions", () => {
  describe.each(claudeCodeSessions().map((path) => [basename(path), path]))("%s", (_name, path) => {
    const entries = entriesOf(path);

    it.each([500, 2_000, 8_000])("is summarised in nine sections within %i tokens", (budgetTokens) => {
      const { text } = summarise(entries, { countTokens, budgetTokens });
      expect(presentSections(text)).toEqual(SECTION_NAMES);
      expect(countTokens(text)).toBeLessThanOrEqual(budgetTokens);
    });

    it("has every human message verbatim in a summary with room for it", () => {
      const { text } = summarise(entries, { countTokens, budgetTokens: 200_000 });
      for (const { message } of digestSession(entries).exchanges) {
        if (message) expect(text.includes(message.text), `message of entry ${message.at}`).toBe(true);
      }
    });

    it("gives the same summary again", () => {
      expect(summarise(entries, { countTokens })).toEqual(summarise(entries, { countTokens }));
    });
  });
});
