import type { CompactorEvent } from "@longhaul/core/engine";
import { describe, expect, it } from "vitest";
import { compactorLine } from "./compactor-lines.ts";

const line = (event: object): string | undefined =>
  compactorLine({ agentId: undefined, turnId: "t", ...event } as CompactorEvent);

describe("compactorLine", () => {
  it.each([
    [
      {
        type: "results-cleared",
        form: "time",
        results: 2,
        tools: ["Read", "Bash"],
        tokensBefore: 9_000,
        tokensAfter: 1_000,
      },
      "Cleared 2 old tool results of Read, Bash, after a long pause: 9,000 → 1,000 tokens",
    ],
    [
      { type: "background-started", tokens: 17_939, isRefresh: false },
      "Writing a summary in the background, at 17,939 tokens",
    ],
    [
      { type: "background-ended", outcome: "discarded", reason: "conversation-changed", durationMs: 1 },
      "The background summary was dropped (conversation changed)",
    ],
    [
      { type: "notes-updated", by: "built-in", tokens: 631, durationMs: 400 },
      "Notes updated: 631 tokens, without a model, 0.4 s",
    ],
    [
      {
        type: "memory-attached",
        files: [{ path: "/p/AGENTS.md", tokens: 320 }],
        skipped: [{ path: "/p/b/CLAUDE.md", reason: "over-budget" }],
      },
      "Attached memory: AGENTS.md (320 tokens); not attached: CLAUDE.md over budget",
    ],
    [
      { type: "cache-break", before: 9, after: 3_000, expected: 90_000, causes: ["tools-changed"] },
      "The prompt cache was lost: 3,000 of 90,000 tokens were read from it (tools changed)",
    ],
    [
      { type: "breaker-opened", why: "failures", strikes: 3 },
      "Auto-compact is paused: several compactions failed in a row. /compact compacts now.",
    ],
    [
      { type: "snipped", messages: 4, tokensFreed: 5_126 },
      "4 messages removed from the context: 5,126 tokens freed",
    ],
    [
      { type: "span-staged", by: "direct", messages: 11, tokensBefore: 5_722, tokensAfter: 566 },
      "Summarized a span of 11 messages ahead of time: 5,722 → 566 tokens",
    ],
    [
      { type: "span-failed", reason: "timed-out", durationMs: 1 },
      "A span could not be summarized (timed-out)",
    ],
    [
      {
        type: "spans-committed",
        spans: 2,
        messages: 26,
        tokensBefore: 31_000,
        tokensAfter: 19_000,
        waitedMs: 1_200,
      },
      "Collapsed 2 spans, 26 messages: 31,000 → 19,000 tokens, waited 1.2 s",
    ],
    [{ type: "spans-expanded", spans: 1, messages: 11 }, "Expanded 1 span: 11 messages back in the context"],
    [
      {
        type: "undone",
        direction: "undo",
        step: "compaction",
        tokensBefore: 1_000,
        tokensAfter: 9_000,
        messagesRestored: 40,
        messagesCarried: 2,
      },
      "Undid the compaction: 1,000 → 9,000 tokens, 40 messages restored, 2 newer",
    ],
  ])("describes the engine event %j in words", (event, words) => {
    expect(line(event)).toBe(words);
  });

  it("returns no line for engine events that are shown elsewhere or only logged", () => {
    expect(line({ type: "window-checked" })).toBeUndefined();
    expect(line({ type: "compacted" })).toBeUndefined();
    expect(line({ type: "notes-declined", reason: "no-file" })).toBeUndefined();
    expect(line({ type: "compaction-judged", verdict: "effective" })).toBeUndefined();
  });
});
