import { type Script, type ScriptedModel, scriptedModel } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { withoutUsage } from "../../../../../test/support/long-session.ts";
import { ESTIMATORS } from "../../measure/tokens/estimators.ts";
import { measureEntries } from "../../measure/tokens/measure.ts";
import type { Entry } from "../../messages/entry.ts";
import { ModelError } from "../../models/model-error.ts";
import type { SpanPlan } from "./plan-span.ts";
import {
  asCondensed,
  SPAN_SYSTEM_PROMPT,
  type SpanSummary,
  type SpanSummaryOptions,
  summarizeSpan,
} from "./summarize-span.ts";

const countTokens = ESTIMATORS.o200k;

function work(): ConversationBuilder {
  const c = new ConversationBuilder();
  c.user("Please make the parser take trailing commas, and keep it at 80 columns.");
  c.tool("t1", "Read", { file_path: "/project/src/parser.ts" }, "export const parse = 1;\n".repeat(150));
  c.tool("t2", "Edit", { file_path: "/project/src/parser.ts", old_string: "1", new_string: "2" }, "done");
  c.tool("t3", "Bash", { command: "npm test" }, "Error: 2 tests failed\n".repeat(30));
  c.user("No, do not touch the tests.");
  c.assistant("Decided: the lexer skips the comma, because the grammar must stay as it is.");
  return c;
}

function planFor(entries: readonly Entry[], budgetTokens?: number): SpanPlan {
  const tokens = measureEntries(entries, countTokens);
  const uuids = entries.flatMap(({ uuid }) => uuid ?? []);
  return {
    entries,
    uuids,
    messages: uuids.length,
    tokens,
    budgetTokens: budgetTokens ?? Math.floor(tokens / 3),
  };
}

const plan = planFor(work().entries.map(withoutUsage));

interface Outcome {
  readonly summary: SpanSummary;
  readonly model: ScriptedModel;
  readonly failures: readonly string[];
}

async function summarized(
  script: Script,
  more: Partial<SpanSummaryOptions> = {},
  of = plan,
): Promise<Outcome> {
  const model = scriptedModel(script);
  const failures: string[] = [];
  const onFailure = (error: unknown): void => void failures.push((error as ModelError).code);
  const summary = await summarizeSpan(of, { model, countTokens, onFailure, ...more });
  return { summary, model, failures };
}

const GOOD = asCondensed(
  '## All User Messages\n- "Please make the parser take trailing commas, and keep it at 80 columns."\n- "No, do not touch the tests."\n## Problem Solving\n- The lexer skips the comma.',
);

describe("summarizeSpan", () => {
  it("requests a span summary in a separate, capped call without thinking or tools", async () => {
    const { summary, model, failures } = await summarized([GOOD], { transcriptPath: "/sessions/a.jsonl" });
    const [request] = model.requests;
    expect(request).toMatchObject({
      system: SPAN_SYSTEM_PROMPT,
      thinking: { type: "disabled" },
      tool_choice: { type: "none" },
    });
    expect(request?.max_tokens).toBeLessThanOrEqual(plan.budgetTokens);
    expect(JSON.stringify(request?.messages.at(-1))).toContain("word for word");
    expect(failures).toEqual([]);
    expect(summary).toMatchObject({ by: "direct", usage: { output_tokens: expect.any(Number) } });
    expect(summary.text).toContain("replace 9 earlier messages");
    expect(summary.text).toContain("/sessions/a.jsonl");
    expect(summary.text).toContain("The lexer skips the comma.");
    expect(summary.text).not.toContain("condensed>");
    expect(summary.tokens).toBe(countTokens(summary.text));
    expect(summary.tokens).toBeLessThanOrEqual(plan.budgetTokens);
  });

  it("a span summary quotes the user's messages word for word, even when the model leaves them out", async () => {
    const { summary } = await summarized([asCondensed("## Problem Solving\n- The lexer skips the comma.")]);
    expect(summary.by).toBe("direct");
    expect(summary.text).toContain(
      '"Please make the parser take trailing commas, and keep it at 80 columns."',
    );
    expect(summary.text).toContain('"No, do not touch the tests."');
    expect((await summarized([GOOD])).summary.text.match(/do not touch/g)).toHaveLength(1);
  });

  it.each([
    ["nothing", ""],
    ["no tags", "The lexer skips the comma."],
    ["a tag that is never closed", "<condensed>\nThe lexer"],
    ["tags with nothing between them", asCondensed("  ")],
    ["more than a third of the span", asCondensed("and so on, and ".repeat(400))],
    ["a tool call", { content: [{ type: "tool_use", id: "x", name: "Read", input: {} }] }],
    ["a failure", new ModelError({ kind: "authentication" }, "no")],
  ] as const)(
    "uses the built-in summarizer for a span when the model answers with %s",
    async (_case, answer) => {
      const { summary, failures } = await summarized(() => answer as never);
      expect(failures).toHaveLength(1);
      expect(summary).toMatchObject({ by: "built-in", usage: undefined });
      expect(summary.text).toContain("do not touch the tests");
      expect(summary.text).toContain("src/parser.ts");
      expect(summary.tokens).toBeLessThanOrEqual(plan.budgetTokens);
    },
  );

  it("uses the built-in summarizer for a span when there is no model, or when the model hangs until an abort", async () => {
    const { summary, failures } = await summarized([{ content: "<conden", hangs: true }], {
      signal: AbortSignal.timeout(1),
    });
    expect(summary.by).toBe("built-in");
    expect(failures).toEqual(["model-aborted"]);
    expect((await summarizeSpan(plan, { countTokens })).text).toBe(summary.text);
    // A model that ignores the signal leads to the same result.
    const deaf = {
      ...scriptedModel([]),
      stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) }),
    };
    const given = summarizeSpan(plan, { model: deaf as never, countTokens, signal: AbortSignal.timeout(1) });
    expect((await given).by).toBe("built-in");
  });

  it("retries a span summary after a temporary failure", async () => {
    const busy = new ModelError({ kind: "overloaded", delayMs: 0 }, "busy");
    const { summary, model } = await summarized([busy, busy, GOOD]);
    expect(summary.by).toBe("direct");
    expect(model.requests).toHaveLength(3);
  });

  it("summarizeSpan fails when no useful summary fits the token budget", async () => {
    await expect(summarized([GOOD], {}, { ...plan, budgetTokens: 60 })).rejects.toMatchObject({
      code: "summary-too-large",
    });
  });
});

describe("a summary of several spans", () => {
  const spanOf = (summary: SpanSummary, at: number): Entry =>
    ({
      type: "user",
      uuid: `span-${at}`,
      isMeta: true,
      message: { role: "user", content: summary.text },
      collapsed: { spanId: `span-${at}`, messages: 9, uuids: [], tokensBefore: 900, tokensAfter: 100 },
    }) as unknown as Entry;

  it("keeps the user's messages when span summaries are summarized again, with and without a model", async () => {
    for (const script of [[asCondensed("- Work was done.")], []] as const) {
      let summary = (await summarized(script)).summary;
      for (let level = 0; level < 4; level++) {
        const others = new ConversationBuilder(`l${level}`);
        others.user(`Wish number ${level}.`);
        others.tool(
          `l${level}`,
          "Write",
          { file_path: `/project/l${level}.ts`, content: "x" },
          "ok ".repeat(900),
        );
        const entries = [spanOf(summary, level), ...others.entries];
        summary = (await summarized(script, {}, planFor(entries, 500))).summary;
        expect(summary.text).toContain("No, do not touch the tests.");
        expect(summary.text).toContain(`Wish number ${level}.`);
      }
      expect(summary.text).toContain("Wish number 0.");
      expect(summary.by).toBe(script.length > 0 ? "direct" : "built-in");
    }
  });
});
