import { ESTIMATORS } from "@longhaul/core/measure";
import type { ApiMessage } from "@longhaul/core/messages";
import { checkRequest, flatten } from "@longhaul/core/request";
import { continuationMessage } from "@longhaul/core/summary";
import { describe, expect, it } from "vitest";
import { summarizeMessages } from "../../../core/src/compaction/summary/builtin/summarize-messages.ts";
import { createDemoSession } from "../demo-session.ts";
import { coder } from "./coder.ts";
import { conforms } from "./schema/schema.ts";
import { compactionSummary } from "./summaries.ts";
import { callsOf, countOf, human, play, seen, TOOLS, wordsOf } from "./toy-session.case.ts";

describe("the simulated coder over a long session", () => {
  it("the coder continues the demo session, and all calls of the demo session match the tools of these tests", () => {
    const demo = flatten(createDemoSession());
    const recorded = demo.flatMap(({ content }) =>
      typeof content === "string" ? [] : content.filter((block) => block.type === "tool_use"),
    );
    for (const { name, input } of recorded) {
      const definition = TOOLS.find((candidate) => candidate.name === name);
      expect([name, conforms(input, definition?.input_schema ?? false)]).toEqual([name, true]);
    }
    const start = demo.at(-1)?.role === "user" ? demo : [...demo, human("Now the harbour map")];
    const { messages, turns } = play(coder({ turns: 12 }), start);
    expect(turns.length).toBeGreaterThan(1);
    expect(turns.length).toBeLessThanOrEqual(13);
    expect(checkRequest({ messages: messages.slice(0, -1), tools: TOOLS }).findings).toEqual([]);
  });

  it("the coder uses no tool call id twice, even if the user repeats the same words", () => {
    const behavior = coder({ turns: 5 });
    let messages: readonly ApiMessage[] = [];
    for (let task = 0; task < 6; task++) messages = play(behavior, [...messages, human("Go on")]).messages;
    expect(messages).toHaveLength(6 * 12);
    expect(checkRequest({ messages: messages.slice(0, -1), tools: TOOLS }).findings).toEqual([]);
  });

  it("the coder works for 2,000 turns with valid messages and makes no call more than four times", () => {
    const { messages, turns, project } = play(coder({ turns: 2_000, web: true }), [
      human("Make the shop faster"),
    ]);
    expect(turns).toHaveLength(2_001);
    expect(
      checkRequest({
        model: "claude-sonnet-4-5",
        max_tokens: 16_000,
        messages: messages.slice(0, -1),
        tools: TOOLS,
      }).findings,
    ).toEqual([]);
    const calls = turns.flatMap(callsOf);
    const repeats = Math.max(
      ...countOf(calls.map(({ name, input }) => JSON.stringify([name, input]))).values(),
    );
    expect(repeats).toBeLessThanOrEqual(4);
    const names = countOf(calls.map(({ name }) => name));
    for (const { name } of TOOLS as readonly { name: string }[])
      expect(names.get(name) ?? 0).toBeGreaterThan(10);
    expect(project.edits).toBeGreaterThan(100);
    expect(project.failures).toBeGreaterThan(10);
    expect(project.failures).toBeLessThan(calls.length / 4);
    expect(turns.filter((turn) => callsOf(turn).length > 1).length).toBeGreaterThan(50);
    expect(wordsOf(turns[1_999])).toContain("Make the shop faster");
  });

  it("the coder resumes at the right step after every compaction, with or without kept messages", () => {
    const compact = (messages: readonly ApiMessage[], step: number): ApiMessage[] => {
      if (step % 37 !== 0) return [...messages];
      const keptTail = step % 2 === 0 ? messages.slice(-2) : [];
      const summary = compactionSummary(messages.slice(0, messages.length - keptTail.length));
      const content = continuationMessage({ summary, keptRecent: keptTail.length > 0, trigger: "auto" });
      return [{ role: "user", content }, ...keptTail];
    };
    const { turns, messages } = play(coder({ turns: 400 }), [human("Make the shop faster")], { compact });
    expect(turns).toHaveLength(401);
    expect(messages.length).toBeLessThan(100);
    expect(wordsOf(turns.at(-1))).toContain("(done at step 400: Make the shop faster)");
  });

  it("the coder resumes near the right step after a summary without step marks", () => {
    const compact = (messages: readonly ApiMessage[], step: number): ApiMessage[] => {
      if (step % 41 !== 0) return [...messages];
      const { text: summary } = summarizeMessages(messages, {
        countTokens: ESTIMATORS.o200k,
        budgetTokens: 3_000,
      });
      return [human(continuationMessage({ summary, keptRecent: false, trigger: "auto" }))];
    };
    const { turns } = play(coder({ turns: 300 }), [human("Make the shop faster")], { compact });
    expect(turns.length).toBeGreaterThanOrEqual(301);
    expect(turns.length).toBeLessThan(340);
    expect(wordsOf(turns.at(-1))).toContain("Make the shop faster");
  });

  it("the coder treats a request after the summary of a finished task as a new task", () => {
    const behavior = coder({ turns: 6 });
    const { messages } = play(behavior, [human("Fix the cursor")]);
    const summary = compactionSummary(messages);
    const content = continuationMessage({ summary, keptRecent: false, trigger: "manual" });
    const after = play(behavior, [human(content), human("Now the invoices")]);
    expect(after.turns).toHaveLength(7);
    expect(wordsOf(after.turns[0])).toContain("(step 1: Now the invoices)");
    expect(wordsOf(behavior(seen([human(content)])))).toContain("(step 1: Fix the cursor)");
  });

  it("the coder starts work on a request that was summarized before any work on it", () => {
    const behavior = coder({ turns: 6 });
    const { messages } = play(behavior, [human("Fix the cursor")]);
    const summary = compactionSummary([...messages, human("Now the invoices")]);
    const content = continuationMessage({ summary, keptRecent: false, trigger: "auto" });
    const after = play(behavior, [human(content)]);
    expect(wordsOf(after.turns[3])).toContain("(step 4: Now the invoices)");
    expect(after.turns).toHaveLength(7);
  });

  it("the coder reads only the first four and the newest messages of a long conversation", () => {
    const { messages } = play(coder({ turns: 60 }), [human("Fix the cursor")], { limit: 60 });
    const untouched = messages.map((message, index) =>
      index >= 4 && index < messages.length - 20
        ? new Proxy(message, { get: () => expect.unreachable("An old message was read") })
        : message,
    );
    expect(callsOf(coder({ turns: 100 })(seen(untouched))).length).toBeGreaterThan(0);
  });

  it("the coder continues a conversation that another model started", () => {
    const foreign: ApiMessage[] = [
      human("Fix the cursor"),
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "toolu_01AbC", name: "Read", input: { file_path: "a.ts" } }],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "toolu_01AbC", content: "const a = 1;" }],
      },
    ];
    const { turns } = play(coder({ turns: 10 }), foreign);
    expect(turns).toHaveLength(10);
    expect(wordsOf(turns.at(-1))).toContain("Fix the cursor");
  });
});
