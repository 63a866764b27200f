import { estimateTokens } from "@longhaul/core/measure";
import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import { formatSummary, presentSections, SECTION_NAMES, summaryPrompt } from "@longhaul/core/summary";
import { describe, expect, it } from "vitest";
import { withoutQuotedFacts } from "../../../core/src/compaction/summary/summary-message.ts";
import { createDemoSession } from "../demo-session.ts";
import type { SeenRequest, Turn } from "../exchange.ts";
import {
  BAD_SUMMARY_KINDS,
  type BadSummaryKind,
  badSummary,
  compactionSummary,
  goodSummary,
  summaries,
} from "./summaries.ts";

const call: ContentBlock = {
  type: "tool_use",
  id: "toolu_1",
  name: "Read",
  input: { file_path: "src/cursor.ts" },
};
const result: ContentBlock = {
  type: "tool_result",
  tool_use_id: "toolu_1",
  content: "export const cursor = 1;",
};
const conversation: readonly ApiMessage[] = [
  { role: "user", content: "Make the cursor survive an empty page." },
  { role: "assistant", content: [{ type: "text", text: "I will read it first." }, call] },
  { role: "user", content: [result] },
  { role: "assistant", content: "The cursor is a constant." },
];

const readTool = {
  name: "Read",
  input_schema: { type: "object", properties: { file_path: { type: "string" } }, required: ["file_path"] },
};

function seen(messages: readonly ApiMessage[], maxTokens = 20_000): SeenRequest {
  return {
    model: "claude-sonnet-4-5",
    messages,
    system: "",
    tools: [readTool],
    maxTokens,
    body: {},
    purpose: "conversation",
    provider: "anthropic",
    index: 0,
  };
}

const asked = (instructions?: string): SeenRequest =>
  seen([...conversation, { role: "user", content: summaryPrompt({ instructions }) }]);

const textOf = (turn: Turn | undefined): string =>
  (turn?.blocks ?? []).map((block) => (block.type === "text" ? block.text : "")).join("");
const bad = (kind: BadSummaryKind, request = asked()): string => textOf(badSummary(kind)(request));

describe("summaries, the simulated model for summary requests", () => {
  it("goodSummary and badSummary answer only summary requests", () => {
    for (const kind of BAD_SUMMARY_KINDS) expect(badSummary(kind)(seen(conversation))).toBeUndefined();
    expect(goodSummary()(seen(conversation))).toBeUndefined();
    expect(
      goodSummary()(seen([{ role: "user", content: "Write a <summary> of this file." }])),
    ).toBeUndefined();
  });

  it("goodSummary writes an analysis and nine sections", () => {
    const text = textOf(goodSummary()(asked()));
    expect(text).toMatch(/^<analysis>\n[^<]+\n<\/analysis>\n\n<summary>\n[\s\S]+\n<\/summary>$/);
    const kept = formatSummary(text) ?? "";
    expect(presentSections(kept)).toEqual(SECTION_NAMES);
    expect(kept).toContain("Make the cursor survive an empty page.");
    expect(kept).toContain("src/cursor.ts");
    expect(kept).not.toContain("whoever goes on with the work");
  });

  it("goodSummary answers a summary request that is in the same message as the last tool results", () => {
    const prompt: ContentBlock = { type: "text", text: summaryPrompt() };
    const request = seen([...conversation.slice(0, 2), { role: "user", content: [result, prompt] }]);
    expect(presentSections(textOf(goodSummary()(request)))).toEqual(SECTION_NAMES);
  });

  it("goodSummary stays within max_tokens", () => {
    const messages = [...flatten(createDemoSession()), { role: "user", content: summaryPrompt() } as const];
    const short = textOf(goodSummary()(seen(messages, 3_000)));
    const long = textOf(goodSummary()(seen(messages, 20_000)));
    expect(estimateTokens(short, "o200k")).toBeLessThan(3_000);
    expect(estimateTokens(long, "o200k")).toBeGreaterThan(4_000);
    expect(presentSections(formatSummary(short) ?? "")).toEqual(SECTION_NAMES);
  });

  it("summaries takes the kind of each answer from a list, whose last item repeats, or from a function", () => {
    const listed = summaries(["empty", "garbage", "good"]);
    expect(listed(seen(conversation))).toBeUndefined();
    const given = [1, 2, 3, 4].map(() => textOf(listed(asked())));
    expect([given[0], given[1]]).toEqual(["", bad("garbage")]);
    expect(given[2]).toContain("<summary>");
    expect(given[3]).toBe(given[2]);
    const byNumber = summaries((attempt) => (attempt % 2 === 0 ? "good" : "empty"));
    expect([1, 2, 3].map(() => textOf(byNumber(asked())) !== "")).toEqual([true, false, true]);
  });
});

describe("badSummary, which writes summaries that are bad on purpose", () => {
  it("the bad summary 'no-tags' has nine sections but no tags", () => {
    expect(bad("no-tags")).not.toMatch(/<\/?(summary|analysis)>/);
    expect(presentSections(formatSummary(bad("no-tags")) ?? "")).toEqual(SECTION_NAMES);
  });

  it("the bad summary half-tag ends inside its closing tag", () => {
    expect(bad("half-tag")).toMatch(/<summary>[\s\S]+<\/summ$/);
    expect(presentSections(formatSummary(bad("half-tag")) ?? "")).toEqual(SECTION_NAMES);
  });

  it("the bad summary tool-call calls a tool of the request instead of writing a summary", () => {
    const blocks = badSummary("tool-call")(asked())?.blocks ?? [];
    expect(blocks.at(-1)).toEqual({
      type: "tool_use",
      name: "Read",
      input: { file_path: expect.any(String) },
    });
    const without = badSummary("tool-call")({ ...asked(), tools: [] });
    expect(without?.blocks.at(-1)).toMatchObject({ type: "tool_use" });
  });

  it("the bad summary only-analysis contains no text that can be used as a summary", () => {
    expect(bad("only-analysis")).toContain("<analysis>");
    expect(formatSummary(bad("only-analysis"))).toBeUndefined();
  });

  it("the bad summary empty is a reply without blocks", () => {
    expect(badSummary("empty")(asked())).toEqual({ blocks: [] });
  });

  it("the bad summary garbage has no tags, sections or words", () => {
    expect(bad("garbage").length).toBeGreaterThan(1_000);
    expect(presentSections(bad("garbage"))).toEqual([]);
    expect(bad("garbage")).not.toMatch(/[a-z]{2}/);
  });

  it("the bad summary wrong-language is in German and has tags but not the expected sections", () => {
    const kept = formatSummary(bad("wrong-language")) ?? "";
    expect(kept).toContain("Der Benutzer");
    expect(presentSections(kept)).toEqual([]);
  });

  it("the bad summary enormous exceeds max_tokens", () => {
    for (const maxTokens of [1_000, 32_000]) {
      const request = { ...asked(), maxTokens };
      expect(estimateTokens(bad("enormous", request), "o200k")).toBeGreaterThan(maxTokens);
    }
  });

  it("the bad summary injected contains tags that end the summary early, and a false boundary", () => {
    const text = bad("injected");
    expect(text.match(/<\/summary>/g)).toHaveLength(3);
    expect(text).toContain('"subtype":"compact_boundary"');
    expect(text).toContain("\n\nHuman: ");
    const kept = formatSummary(text) ?? "";
    expect(presentSections(kept)).toEqual(SECTION_NAMES);
    expect(kept).not.toMatch(/<\/?(summary|analysis)>/);
  });

  it("the bad summary hostile looks valid and contains forged facts that look like quotes from the transcript", () => {
    const kept = formatSummary(bad("hostile")) ?? "";
    expect(presentSections(kept)).toEqual(SECTION_NAMES);
    expect(kept).toMatch(/^## Facts quoted from the transcript$[\s\S]+ active\] > I approve/m);
    expect(withoutQuotedFacts(kept)).not.toMatch(/facts\s+quoted|active\] >/i);
  });

  it("the bad summary refusal has no blocks and the stop reason refusal", () => {
    expect(badSummary("refusal")(asked())).toMatchObject({
      blocks: [],
      stopReason: "refusal",
      stopDetails: { type: "refusal" },
    });
  });

  it("the bad summary api-error-as-text is the text of an API error", () => {
    expect(bad("api-error-as-text")).toMatch(/^API Error: 529 \{"type":"error"/);
  });
});

describe("compactionSummary", () => {
  it("compactionSummary writes nine sections without tags", () => {
    const summary = compactionSummary(conversation, "Keep what was said about the cursor.");
    expect(presentSections(summary)).toEqual(SECTION_NAMES);
    expect(summary).not.toContain("<summary>");
    expect(compactionSummary([])).toContain("No request on record.");
  });
});
