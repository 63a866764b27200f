import { type ScriptedAnswer, scriptedModel } from "@longhaul/simulator";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { ConversationBuilder, toolUse } from "../../../../../test/support/builders.ts";
import { ESTIMATORS } from "../../measure/tokens/estimators.ts";
import { measureRequest } from "../../measure/tokens/measure.ts";
import { ModelError } from "../../models/model-error.ts";
import type { ModelRequest } from "../../models/port.ts";
import { checkRequest } from "../../request/check/check.ts";
import { SECTION_NAMES } from "../summary/summary-message.ts";
import { isSummaryRequest } from "../summary/summary-prompt.ts";
import { messagesToSummarize } from "./ask-model.ts";
import type { SummaryProgress } from "./attempts.ts";
import { requestSummary } from "./request-summary.ts";

const GOOD = `<analysis>\nthinking aloud\n</analysis>\n<summary>\n${SECTION_NAMES.map((name, at) => `${at + 1}. ${name}:\n   some`).join("\n")}\n</summary>`;
const tooLong = (tokens: number, limit: number): ModelError =>
  new ModelError({ kind: "too-long", tokens, limit }, "too long");

function longConversation(rounds = 10): ConversationBuilder {
  const built = new ConversationBuilder();
  for (let round = 0; round < rounds; round++) {
    built.user(`request-${round}: please look into part ${round} of the work`);
    built.tool(`t${round}`, "Read", { file_path: `/project/part-${round}.ts` }, "line of code\n".repeat(200));
  }
  return built;
}

const textIn = (request: ModelRequest | undefined): string => JSON.stringify(request?.messages);

async function outcome(answers: readonly ScriptedAnswer[]): Promise<{
  error?: unknown;
  text?: string;
  requests: readonly ModelRequest[];
  progress: SummaryProgress[];
}> {
  const model = scriptedModel(answers);
  const progress: SummaryProgress[] = [];
  const onProgress = (step: SummaryProgress): void => void progress.push(step);
  try {
    const { text } = await requestSummary(model, longConversation().entries, { onProgress });
    return { text, requests: model.requests, progress };
  } catch (error) {
    return { error, requests: model.requests, progress };
  }
}

describe("requestSummary", () => {
  it("requests a summary with 20,000 output tokens, thinking off, tools denied and the prompt last", async () => {
    const { requests } = await outcome([GOOD]);
    expect(requests[0]).toMatchObject({
      max_tokens: 20_000,
      thinking: { type: "disabled" },
      tool_choice: { type: "none" },
      tools: [{ name: "Read" }],
    });
    const last = requests[0]?.messages.at(-1);
    const block = typeof last?.content === "string" ? undefined : last?.content.at(-1);
    expect(block?.type === "text" && isSummaryRequest(block.text)).toBe(true);
  });

  it("requests no more output tokens for a summary than the model supports", async () => {
    const model = scriptedModel([GOOD], { name: "gpt-4o" });
    await requestSummary(model, longConversation().entries);
    expect(model.requests[0]?.max_tokens).toBe(16_384);
  });

  it("requests no more output tokens for a summary than the caller allows", async () => {
    const model = scriptedModel([GOOD]);
    await requestSummary(model, longConversation().entries, { maxOutputTokens: 3_200 });
    expect(model.requests[0]?.max_tokens).toBe(3_200);
  });

  it("drops messages by the provider's token count, not by our count, when a request is too long", async () => {
    const entries = longConversation(100).entries;
    const model = scriptedModel((request, index) => {
      const counted = Math.round(measureRequest(request, ESTIMATORS.o200k) * 1.5);
      return index === 0 ? tooLong(counted, counted / 2) : GOOD;
    });
    const { condensedRounds } = await requestSummary(model, entries);
    expect(condensedRounds).toBeGreaterThan(60);
    expect(condensedRounds).toBeLessThan(90);
  });

  it("drops no more messages than the stated excess, the digest and the minimum answer require", async () => {
    const entries = longConversation(200).entries;
    const model = scriptedModel((request, index) => {
      const counted = measureRequest(request, ESTIMATORS.o200k);
      return index === 0 ? tooLong(counted, counted - 11_000) : GOOD;
    });
    const { condensedRounds } = await requestSummary(model, entries);
    const [first, second] = model.requests.map((request) => measureRequest(request, ESTIMATORS.o200k));
    const freed = (first ?? 0) - (second ?? 0);
    expect(freed).toBeGreaterThanOrEqual(11_000);
    expect(freed).toBeLessThan(11_000 * 1.05 + 4_000 + 3_000 + 1_000);
    expect(condensedRounds).toBeLessThan(60);
  });

  it.each([1_000, 5_000, 30_000])(
    "needs only one cut when the error states an excess of %i tokens",
    async (gap) => {
      const entries = longConversation(200).entries;
      const limits: number[] = [];
      const model = scriptedModel((request) => {
        const counted = Math.round(measureRequest(request, ESTIMATORS.o200k) * 1.3);
        limits.push(limits[0] ?? counted - gap);
        return counted > (limits[0] ?? 0) ? tooLong(counted, limits[0] ?? 0) : GOOD;
      });
      await requestSummary(model, entries);
      expect(model.requests).toHaveLength(2);
    },
  );

  it("drops a fifth of the rounds of messages when the error states only a lower bound of the size", async () => {
    const bound = new ModelError(
      { kind: "too-long", tokens: 11_001, limit: 11_000, isLowerBound: true },
      "too long",
    );
    const { progress } = await outcome([bound, GOOD]);
    expect(progress).toContainEqual(expect.objectContaining({ phase: "cut", droppedRounds: 2 }));
  });

  it("asks again with fewer messages when the reduced output limit cut the summary off", async () => {
    const entries = longConversation(100).entries;
    const model = scriptedModel(({ max_tokens = 0 }) =>
      max_tokens < 8_000
        ? { content: "<summary>1.", stopReason: "max_tokens", usage: { output_tokens: max_tokens } }
        : GOOD,
    );
    const [prompt = 0] = [measureRequest({ messages: messagesToSummarize(entries) }, ESTIMATORS.o200k)];
    await requestSummary(model, entries, { windowOf: () => Math.ceil(prompt * 1.05) + 8_000 });
    expect(model.requests).toHaveLength(2);
  });

  it("asks again with fewer messages when a full window cut the summary off, unless no message can be dropped", async () => {
    const full = {
      content: "<summary>\n1. Primary Request and",
      stopReason: "model_context_window_exceeded",
      usage: { input_tokens: 9_900, output_tokens: 100 },
    } as const;
    const { text, requests } = await outcome([full, GOOD]);
    expect(text).toContain("Optional Next Step");
    expect(requests).toHaveLength(2);
    const single = new ConversationBuilder();
    single.user("go on");
    const summary = await requestSummary(scriptedModel([full]), single.entries);
    expect(summary).toMatchObject({ isTruncated: true, condensedRounds: 0 });
  });

  it("returns the summary without the model's scratchpad", async () => {
    const { text } = await outcome([GOOD]);
    expect(text).toMatch(/^Summary:\n1\. Primary Request and Intent/);
    expect(text).not.toContain("thinking aloud");
  });

  it("drops the oldest messages by the excess in the error, and sends a digest of them", async () => {
    const { requests, progress, text } = await outcome([tooLong(12_000, 11_000), GOOD]);
    expect(text).toBeDefined();
    expect(requests).toHaveLength(2);
    expect(textIn(requests[1])).not.toContain('part-0.ts\\"');
    expect(textIn(requests[1])).toContain("request-0");
    expect(textIn(requests[1])).toContain("request-9");
    expect(progress).toContainEqual(expect.objectContaining({ phase: "cut" }));
  });

  it("drops a fifth of the messages up to three times when the error has no figures, then fails", async () => {
    const silent = new ModelError({ kind: "too-long" }, "too long");
    const { requests, error, progress } = await outcome([silent, silent, silent, silent, GOOD]);
    expect(requests).toHaveLength(4);
    expect(progress.flatMap((step) => (step.phase === "cut" ? [step.droppedRounds] : []))).toEqual([2, 3, 4]);
    expect(error).toMatchObject({ code: "model-too-long", remedy: expect.stringMatching(/^Remove a few/) });
  });

  it("retries a summary request when a retry can help, also after an answer that broke off", async () => {
    const overloaded = new ModelError({ kind: "overloaded", delayMs: 1 }, "busy");
    const { text, requests, progress } = await outcome([
      overloaded,
      { content: "<summary>half", failsWith: overloaded },
      GOOD,
    ]);
    expect(text).not.toContain("half");
    expect(requests).toHaveLength(3);
    expect(progress.filter((step) => step.phase === "retrying")).toHaveLength(2);
  });

  it("a summary request fails at once when a retry cannot help", async () => {
    const { requests, error } = await outcome([new ModelError({ kind: "authentication" }, "no key"), GOOD]);
    expect(requests).toHaveLength(1);
    expect(error).toMatchObject({ code: "model-authentication" });
  });

  it.each([
    ["an empty answer", ""],
    ["a scratchpad alone", "<analysis>only this</analysis>"],
    ["a tool call", { content: [toolUse("t", "Read", {})] }],
    [
      "a remark before a tool call",
      { content: [{ type: "text", text: "One more file." }, toolUse("t", "Read", {})] },
    ],
    ["an API error as text", 'API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}'],
    ["an excuse", "I am sorry, but I cannot summarize this conversation."],
    ["noise", "�)î6Þ�)'�┊�����┡�━;�ū�╝ġ*:4Æ"],
  ] as const)("rejects %s as a summary", async (_, answer) => {
    expect((await outcome([answer])).error).toMatchObject({ code: "no-summary" });
  });

  it.each([
    ["sections without tags", GOOD.replace(/<\/?summary>/g, "")],
    ["tags around sections with other names", "<summary>\n1. Anliegen: Schafe zählen\n</summary>"],
  ])("accepts %s as a summary", async (_, answer) => {
    expect((await outcome([answer])).error).toBeUndefined();
  });

  it("marks a summary as truncated when the model reached its output limit", async () => {
    const model = scriptedModel([{ content: GOOD, stopReason: "max_tokens" }]);
    expect(await requestSummary(model, longConversation().entries)).toMatchObject({ isTruncated: true });
  });

  it("a summary request stops at once on an abort", async () => {
    const abort = new AbortController();
    const model = scriptedModel([{ content: "<summary>", hangs: true }]);
    const onProgress = (step: SummaryProgress): void => {
      if (step.phase === "writing") abort.abort();
    };
    await expect(
      requestSummary(model, longConversation().entries, { signal: abort.signal, onProgress }),
    ).rejects.toMatchObject({ code: "model-aborted" });
  });

  it("asks the model to update an earlier summary that starts the conversation", async () => {
    const built = new ConversationBuilder();
    built.boundary();
    built.summary("Summary:\n1. Primary Request and Intent: to count sheep");
    built.user("go on");
    built.assistant("counting");
    const model = scriptedModel([GOOD]);
    await requestSummary(model, built.entries);
    expect(textIn(model.requests[0])).toContain("start with an earlier summary");
  });

  it("sends only valid summary requests for any conversation, however often it drops messages", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryEntries(), fc.integer({ min: 0, max: 3 }), async (entries, cuts) => {
        const answers = [...Array.from({ length: cuts }, () => tooLong(1_100, 1_000)), GOOD, GOOD];
        const model = scriptedModel(answers);
        await requestSummary(model, entries).catch((error: unknown) =>
          expect(error).toBeInstanceOf(ModelError),
        );
        for (const request of model.requests) expect(checkRequest(request).findings).toEqual([]);
      }),
    );
  });
});
