import { describe, expect, it } from "vitest";
import { ESTIMATORS } from "../../measure/tokens/estimators.ts";
import type { Ledger, LedgerFact } from "../../messages/fact-ledger.ts";
import { ledgerText } from "./ledger-text.ts";

const fact = (id: string, fields: Partial<LedgerFact> = {}): LedgerFact => ({
  id,
  kind: "file",
  text: `changed ${id}.ts`,
  entryIds: [`e-${id}`],
  fate: "recoverable",
  ...fields,
});

const ledger = (facts: readonly LedgerFact[], fields: Partial<Ledger> = {}): Ledger => ({
  facts,
  summarized: { messages: 40, tokens: 90_000 },
  kept: { messages: 3, tokens: 700 },
  restored: [],
  skipped: [],
  quotedTokens: 0,
  ...fields,
});

describe("ledgerText", () => {
  it("the text of a ledger says which facts are in the context, and lists the ids of the other facts", () => {
    const facts = [
      fact("a", { fate: "summary" }),
      fact("b", { fate: "kept" }),
      fact("c", { fate: "quoted" }),
      fact("d", { kind: "directive", status: "done", text: "rename\nthe module" }),
    ];
    expect(ledgerText(ledger(facts), { recallTool: "recall" })).toBe(
      [
        "The summary replaced 40 messages of this conversation (about 90000 tokens). Facts found in them: 4. In your context: 3 (1 in the summary, 1 in kept messages, 1 quoted, 0 in restored content). Only in the transcript: 1. Nothing is lost.",
        "Not in your context. Call `recall` with an id to read the message:",
        "- [directive, done] rename the module (e-d)",
      ].join("\n"),
    );
  });

  it("the text of a ledger says which facts are lost when there is no transcript", () => {
    const text = ledgerText(ledger([fact("a", { fate: "gone" })]));
    expect(text).toContain("no transcript of them: 1.");
    expect(text).not.toContain("Nothing is lost");
    expect(text).toContain("- [file] changed a.ts (lost)");
  });

  it("the text of a ledger does not point to a transcript when there is none", () => {
    const facts = Array.from({ length: 900 }, (_, nth) => fact(`f${nth}`, { fate: "gone" }));
    for (const recallTool of [undefined, "recall"]) {
      const [opening, heading, ...lines] = ledgerText(ledger(facts), { recallTool }).split("\n");
      expect(opening).toContain("Lost, because there is no transcript of them: 900.");
      expect(heading).toBe("Not in your context:");
      expect(lines.at(-1)).toBe(`- and ${900 - lines.length + 1} more, without a transcript.`);
    }
    expect(ledgerText(ledger(facts), { maxTokens: 0 })).toMatch(/\n- 900, without a transcript\.$/);
  });

  it("keeps a ledger text within its token budget, and counts the facts that do not fit", () => {
    const facts = Array.from({ length: 900 }, (_, nth) => fact(`f${nth}`, { text: "word ".repeat(200) }));
    const many = ledger(facts, { unlisted: 50, earlier: { boundary: "e-0", facts: 25 } });
    for (const maxTokens of [200, 500, 2_000]) {
      const text = ledgerText(many, { maxTokens });
      expect(ESTIMATORS.o200k(text)).toBeLessThanOrEqual(maxTokens);
      const listed = text.split("\n").filter((line) => line.startsWith("- [")).length;
      expect(text).toContain(`${900 - listed + 75}${listed > 0 ? " more" : ""}, only in the transcript`);
    }
  });

  it("the text of a ledger names eight restored files and counts the others", () => {
    const restored = Array.from({ length: 10 }, (_, nth) => ({
      kind: "files",
      name: `f${nth}.ts`,
      tokens: 1,
    }));
    expect(ledgerText(ledger([], { restored }))).toMatch(/Restored: f0\.ts, .*f7\.ts and 2 more\.$/);
  });
});
