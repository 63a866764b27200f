import { describe, expect, it } from "vitest";
import { ConversationBuilder, image, thinking, toolResult, toolUse } from "../../../test/support/builders.ts";
import { terminal } from "../../../test/support/terminal.ts";
import type { SpanReport } from "../../core/src/modules/collapse/report.ts";
import { collapseSection, spanView } from "./spans.ts";
import { textWidth } from "./view/text-width.ts";

const HOSTILE = "\u001b[2J\u001b]0;owned\u0007\r\u0000";

const span = (fields: Partial<SpanReport> = {}): SpanReport => ({
  spanId: "5ba40000-0000-4000-8000-000000000001",
  messages: 12,
  tokensBefore: 34_567,
  tokensAfter: 890,
  firstLine: "The harbour was looked at.",
  canBeExpanded: true,
  ...fields,
});

const together = (spans: readonly SpanReport[]) => ({
  spans,
  messages: 12,
  tokensBefore: 34_567,
  tokensAfter: 890,
});

describe("collapseSection", () => {
  it("lists collapsed spans, the newest last, with their tokens before and after the collapse", () => {
    const view = collapseSection(together([span()]), terminal(80));
    expect(view).toContain("1 collapsed span (12 messages, 34,567 tokens → 890, --span ID shows one)");
    expect(view).toMatch(/5ba40000 +12 {2}34,567 {2}890 {2}The harbour was looked at\.$/);
    const many = Array.from({ length: 30 }, (_, at) => span({ spanId: `${at}-span` }));
    expect(collapseSection(together(many), terminal(80))).toContain("29-span");
  });

  it("collapseSection is empty if no span is collapsed", () => {
    expect(collapseSection(together([]), terminal(80))).toBe("");
  });

  it.each([44, 60, 80, 100])(
    "keeps the list of collapsed spans within %d columns, without control sequences",
    (width) => {
      const view = collapseSection(
        together([span({ spanId: HOSTILE + "9".repeat(60), firstLine: HOSTILE + "word ".repeat(60) })]),
        terminal(width),
      );
      for (const line of view.split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(width);
      expect(view).not.toMatch(/[^\P{Cc}\n]/u);
    },
  );
});

describe("spanView", () => {
  it("shows all messages of a collapsed span in full, without control sequences", () => {
    const c = new ConversationBuilder();
    c.user(`look at it${HOSTILE}`);
    c.assistant([
      thinking("hm"),
      { type: "text", text: "I look." },
      toolUse("a", "Read", { file_path: "/a" }),
    ]);
    c.user([toolResult("a", `the text\n${"x".repeat(500)}`), image()]);
    c.push({ ...c.link(), type: "progress", data: {} });
    const view = spanView({ ...span(), entries: c.entries }, terminal(80));
    for (const text of [
      "look at it",
      "[thinking] hm",
      "I look.",
      '→ Read {"file_path":"/a"}',
      "← the text",
      "[image]",
    ])
      expect(view).toContain(text);
    expect(view).toContain("x".repeat(500));
    expect(view.match(/^(?:user|assistant|progress) 2026-01-01/gm)).toHaveLength(3);
    expect(view).not.toMatch(/[^\P{Cc}\n]/u);
  });
});
