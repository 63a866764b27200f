import type { ApiMessage } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import {
  condensedIn,
  SPAN_SYSTEM_PROMPT,
  spanPrompt,
} from "../../../core/src/modules/collapse/summarize-span.ts";
import type { SeenRequest, Turn } from "../exchange.ts";
import { coder } from "./coder.ts";
import { isSpanCall, type SpanKind, spanSummaries } from "./spans.ts";
import { human, play, seen } from "./toy-session.case.ts";

const { messages } = play(coder({ turns: 6 }), [human("Make the shop faster")]);
const prompt: ApiMessage = { role: "user", content: [{ type: "text", text: spanPrompt(200) }] };

const asking = (more: object = {}): SeenRequest => ({
  ...seen([...messages, prompt], { maxTokens: 800 }),
  system: SPAN_SYSTEM_PROMPT,
  ...more,
});

const textOf = (turn: Turn | undefined): string =>
  (turn?.blocks ?? []).map((block) => (block.type === "text" ? block.text : "")).join("");

describe("spanSummaries, the simulated model for summaries of a span of messages", () => {
  it("spanSummaries answers only requests for span summaries, and the coder answers all other requests", () => {
    expect(spanSummaries()(seen(messages))).toBeUndefined();
    expect(coder({ turns: 6 })(asking())).toBeUndefined();
    expect(coder({ turns: 6 })(seen(messages))).toBeDefined();
    expect(isSpanCall({ endpoint: "messages", body: { system: SPAN_SYSTEM_PROMPT } })).toBe(true);
    expect(isSpanCall({ endpoint: "count_tokens", body: { system: SPAN_SYSTEM_PROMPT } })).toBe(false);
    expect(isSpanCall({ endpoint: "messages", body: { system: "other" } })).toBe(false);
  });

  it("a good span summary has the requested form and contains the user's text, but not the prompt", () => {
    const text = condensedIn(textOf(spanSummaries("good")(asking()))) ?? "";
    expect(text).toContain("Make the shop faster");
    expect(text).not.toContain("word for word");
    const merged = [
      ...messages.slice(0, -1),
      { role: "user", content: [{ type: "text", text: "and the till" }, ...(prompt.content as [])] },
    ];
    const again = spanSummaries("good")(asking({ messages: merged }));
    expect(condensedIn(textOf(again))).toContain("and the till");
  });

  it.each<[SpanKind, (turn: Turn | undefined) => unknown, unknown]>([
    ["forgetful", (turn) => condensedIn(textOf(turn))?.includes("shop"), false],
    ["empty", (turn) => condensedIn(textOf(turn)), ""],
    ["no-tags", (turn) => condensedIn(textOf(turn)), undefined],
    ["endless", (turn) => condensedIn(textOf(turn)), undefined],
    ["tool-call", (turn) => turn?.blocks[0]?.type, "tool_use"],
    ["refuses", (turn) => turn?.stopReason, "refusal"],
  ])("spanSummaries writes a span summary of the kind %s", (kind, look, expected) => {
    expect(look(spanSummaries(kind)(asking()))).toBe(expected);
    const twice = spanSummaries(["good", kind]);
    expect(condensedIn(textOf(twice(asking())))).toBeTruthy();
    expect(look(twice(asking()))).toBe(expected);
  });
});
