import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CHAT_TEXTS } from "./chat-texts.ts";
import { type OpenAiTextRow, RULE_TEXTS } from "./refuse.ts";
import { SCHEMA_FAULTS, SCHEMA_TEXTS } from "./schema-texts.ts";
import { SERVICE_TEXTS } from "./service-texts.ts";
import { SHAPE_TEXTS } from "./shape-texts.ts";
import { STORED_TEXTS } from "./stored-texts.ts";

const ROWS: Readonly<Record<string, OpenAiTextRow>> = {
  ...SHAPE_TEXTS,
  ...SCHEMA_TEXTS,
  ...SCHEMA_FAULTS,
  ...CHAT_TEXTS,
};

/** All texts of the API, by name. */
const ALL_ROWS: Readonly<Record<string, OpenAiTextRow>> = {
  ...RULE_TEXTS,
  ...SCHEMA_FAULTS,
  ...SERVICE_TEXTS,
  ...STORED_TEXTS,
};

/** An issue, a pull request, a file of a repository, or a page of OpenAI's documentation. */
const ADDRESS =
  /github\.com\/[\w.-]+\/[\w.-]+(?:\/(?:issues|pull)\/\d+|, [\w./-]+)|[\w.-]+\/[\w.-]+#\d+|\bguide on |help center article \d+/;

const RULES = join(import.meta.dirname, "..", "rules");

const tests = readdirSync(RULES, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => readFileSync(join(RULES, file), "utf8"))
  .join("\n");

describe("the error texts of the simulated OpenAI APIs", () => {
  it("each text has a unique name", () => {
    const parts = [SHAPE_TEXTS, SCHEMA_TEXTS, SCHEMA_FAULTS, CHAT_TEXTS];
    const count = parts.reduce((sum, part) => sum + Object.keys(part).length, 0);
    expect(Object.keys(ROWS).length).toBe(count);
  });

  it("a verified text names an answer of the API, and every other text names the source of its rule", () => {
    for (const [name, { verified, source }] of Object.entries(ROWS)) {
      const isCaptured = /^captured: /.test(source);
      expect({ name, isCaptured }).toEqual({ name, isCaptured: verified === true });
    }
  });

  it("the source of each verified text is an address that a reader can open", () => {
    const rows = Object.entries(ALL_ROWS).filter(([, { verified }]) => verified === true);
    expect(rows.length).toBeGreaterThan(80);
    expect(rows.filter(([, { source }]) => !ADDRESS.test(source)).map(([name]) => name)).toEqual([]);
  });

  it.each(Object.keys({ ...SHAPE_TEXTS, ...CHAT_TEXTS }))(
    "a test of chat completions expects the rule %s",
    (name) => {
      expect(tests).toContain(`rule: "${name}"`);
    },
  );
});
