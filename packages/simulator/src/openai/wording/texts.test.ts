import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CHAT_TEXTS } from "./chat-texts.ts";
import type { OpenAiTextRow } from "./refuse.ts";
import { SCHEMA_FAULTS, SCHEMA_TEXTS } from "./schema-texts.ts";
import { SHAPE_TEXTS } from "./shape-texts.ts";

const ROWS: Readonly<Record<string, OpenAiTextRow>> = {
  ...SHAPE_TEXTS,
  ...SCHEMA_TEXTS,
  ...SCHEMA_FAULTS,
  ...CHAT_TEXTS,
};

const RULES = join(import.meta.dirname, "..", "rules");

const tests = readdirSync(RULES, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => readFileSync(join(RULES, file), "utf8"))
  .join("\n");

describe("the error texts of OpenAI's shared rules and of chat completions", () => {
  it("each text has a unique name", () => {
    const parts = [SHAPE_TEXTS, SCHEMA_TEXTS, SCHEMA_FAULTS, CHAT_TEXTS];
    const count = parts.reduce((sum, part) => sum + Object.keys(part).length, 0);
    expect(Object.keys(ROWS).length).toBe(count);
  });

  it("a verified text names an answer of the API, and every other text names the source of its rule", () => {
    for (const [name, { verified, source }] of Object.entries(ROWS)) {
      const isCaptured = /^(?:captured|measured)[: ]/.test(source);
      expect({ name, isCaptured }).toEqual({ name, isCaptured: verified === true });
    }
  });

  it.each(Object.keys({ ...SHAPE_TEXTS, ...CHAT_TEXTS }))(
    "a test of chat completions expects the rule %s",
    (name) => {
      expect(tests).toContain(`rule: "${name}"`);
    },
  );
});
