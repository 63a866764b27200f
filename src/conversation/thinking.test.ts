import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../test/support/api-rules.ts";
import { arbitraryEntries } from "../../test/support/arbitraries.ts";
import { ConversationBuilder, thinking, toolUse } from "../../test/support/builders.ts";
import { deepFreeze } from "../../test/support/deep-freeze.ts";
import { flatten } from "./flatten/flatten.ts";
import { withoutThinkingFrom } from "./thinking.ts";

describe("thinking after a change", () => {
  it("is left out from that place on, and only from there", () => {
    const c = new ConversationBuilder();
    const before = c.assistant([thinking("early"), { type: "text", text: "one" }]);
    const after = c.assistant([thinking("late"), toolUse("t", "Read", {})]);
    const left = withoutThinkingFrom(c.entries, 1);
    expect(left[0]).toBe(before);
    expect(left[1]).toEqual({ ...after, message: { ...after.message, content: [toolUse("t", "Read", {})] } });
  });

  it("goes whether readable or withheld", () => {
    const c = new ConversationBuilder();
    c.assistant([
      { type: "redacted_thinking", data: "x" },
      { type: "text", text: "one" },
    ]);
    expect(JSON.stringify(withoutThinkingFrom(c.entries, 0))).not.toContain("redacted_thinking");
  });

  it("leaves the rest the objects they were, changes nothing a second time, and breaks no rule", () => {
    fc.assert(
      fc.property(arbitraryEntries(), fc.nat(20), (entries, index) => {
        deepFreeze(entries);
        const left = withoutThinkingFrom(entries, index);
        expect(left.length).toBe(entries.length);
        for (const [at, entry] of entries.entries()) {
          const hasThinking = entry?.type === "assistant" && JSON.stringify(entry).includes('"signature"');
          if (at < index || !hasThinking) expect(left[at]).toBe(entry);
        }
        const late = left.slice(index).filter((entry) => entry?.type === "assistant");
        expect(JSON.stringify(late)).not.toContain('"signature"');
        expect(withoutThinkingFrom(left, index)).toBe(left);
        expect(apiRuleViolations(flatten(left))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
