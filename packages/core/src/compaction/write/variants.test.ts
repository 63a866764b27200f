import { scriptedModel } from "@longhaul/simulator";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { ConversationBuilder, image, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { ModelError } from "../../models/model-error.ts";
import type { Model, ModelRequest } from "../../models/port.ts";
import { checkRequest } from "../../request/check/check.ts";
import { MAX_REQUEST_BYTES } from "../../request/check/limits.ts";
import { jsonBytes } from "../../request/check/media-rules.ts";
import { SECTION_NAMES } from "../summary/summary-message.ts";
import type { SummaryProgress } from "./attempts.ts";
import { requestSummary } from "./request-summary.ts";

const GOOD = `<summary>\n${SECTION_NAMES.map((name, at) => `${at + 1}. ${name}: some`).join("\n")}\n</summary>`;
const tooLong = (excess: number): ModelError =>
  new ModelError({ kind: "too-long", tokens: 10_000 + excess, limit: 10_000 }, "too long");
const textIn = (request: ModelRequest | undefined): string => JSON.stringify(request?.messages);

/** Builds `count` rounds, each with a distinct word. */
function rounds(word: string, count: number): ConversationBuilder {
  const built = new ConversationBuilder(word);
  for (let round = 0; round < count; round++) {
    built.user(`${word}-${round} please`);
    built.tool(
      `${word}${round}`,
      "Read",
      { file_path: `/${word}-${round}.ts` },
      "line of code\n".repeat(100),
    );
  }
  return built;
}

describe("summary of the messages from one point on", () => {
  const before = rounds("kept", 5).entries;
  const after = rounds("told", 5).entries;
  const options = { variant: "from", before } as const;

  it("sends kept messages before the summarized ones, and tells the model not to repeat kept messages", async () => {
    const model = scriptedModel([GOOD]);
    await requestSummary(model, after, options);
    expect(textIn(model.requests[0])).toMatch(
      /kept-0.*told-4.*begins with \\"told-0 please\\".*do not repeat them/s,
    );
  });

  it("condenses kept and summarized messages separately when the request is too long", async () => {
    const model = scriptedModel([tooLong(1_000), GOOD]);
    await requestSummary(model, after, options);
    const [digest] = model.requests[1]?.messages ?? [];
    const notes = typeof digest?.content === "string" ? [] : (digest?.content ?? []);
    const texts = notes.map((block) => (block.type === "text" ? block.text : ""));
    expect(texts[0]).toMatch(/stays in the conversation unchanged.*do not repeat them.*kept-0/s);
    expect(texts[0]).not.toContain("told-");
    expect(texts[1]).toMatch(/Carry their content into the summary.*told-0/s);
    expect(texts[1]).not.toContain("kept-");
  });

  it("does not ask to update an earlier summary that stays in the conversation", async () => {
    const built = new ConversationBuilder();
    built.summary("Summary:\n1. Primary Request and Intent: sheep");
    const incremental = /start with an earlier summary/;
    const model = scriptedModel([GOOD, GOOD]);
    await requestSummary(model, after, { ...options, before: built.entries });
    expect(textIn(model.requests[0])).not.toMatch(incremental);
    await requestSummary(model, [...built.entries, ...after], { variant: "up-to" });
    expect(textIn(model.requests[1])).toMatch(incremental);
  });

  it("sends only valid requests for a summary from any message on, however often it drops messages", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryEntries(), fc.nat(12), fc.nat(3), async (entries, at, cuts) => {
        const model = scriptedModel((_, index) => (index < cuts ? tooLong(100) : GOOD));
        await requestSummary(model, entries.slice(at), {
          variant: "from",
          before: entries.slice(0, at),
        }).catch((error: unknown) => expect(error).toBeInstanceOf(ModelError));
        for (const request of model.requests) expect(checkRequest(request).findings).toEqual([]);
      }),
    );
  });
});

describe("request with too many bytes", () => {
  /** Creates a model that records only the sizes of requests, because the texts are large. */
  function sizeRecorder(): { readonly model: Model; readonly sizes: number[] } {
    const sizes: number[] = [];
    const model = scriptedModel((request) => {
      sizes.push(jsonBytes(request));
      return { content: GOOD, usage: { input_tokens: 1, output_tokens: 1 } };
    });
    return { model, sizes };
  }

  function largeRounds(
    count: number,
    content: (round: number) => ReturnType<typeof image> | string,
  ): ConversationBuilder {
    const built = new ConversationBuilder();
    for (let round = 0; round < count; round++) {
      built.user(`part ${round}`);
      built.assistant([toolUse(`t${round}`, "Read", {})]);
      const result = content(round);
      built.user([toolResult(`t${round}`, typeof result === "string" ? result : [result])]);
    }
    return built;
  }

  it("drops messages from a request with too many bytes before sending it, and reports the cut", async () => {
    const { model, sizes } = sizeRecorder();
    const progress: SummaryProgress[] = [];
    const summary = await requestSummary(model, largeRounds(5, () => "\u0001".repeat(1_500_000)).entries, {
      onProgress: (step) => void progress.push(step),
    });
    expect(sizes).toHaveLength(1);
    expect(sizes[0]).toBeLessThanOrEqual(MAX_REQUEST_BYTES);
    expect(summary.condensedRounds).toBeGreaterThan(0);
    expect(summary.condensedRounds).toBeLessThan(5);
    expect(progress[0]).toMatchObject({ phase: "cut", droppedRounds: summary.condensedRounds });
  });

  it("large images cause no drop of messages, because a summary request contains no images", async () => {
    const { model, sizes } = sizeRecorder();
    const { condensedRounds } = await requestSummary(
      model,
      largeRounds(5, () => image("A".repeat(9_000_000))).entries,
    );
    expect(condensedRounds).toBe(0);
    expect(sizes[0]).toBeLessThan(20_000);
  });

  it("gives up on a request with too many bytes that cannot be cut, and says what to do", async () => {
    const { model, sizes } = sizeRecorder();
    const failure = requestSummary(model, largeRounds(1, () => "\u0001".repeat(6_000_000)).entries);
    await expect(failure).rejects.toMatchObject({
      code: "model-too-large",
      remedy: expect.stringMatching(/^Remove a few/),
    });
    expect(sizes).toEqual([]);
  });
});
