import Anthropic from "@anthropic-ai/sdk";
import { anthropicModel } from "@longhaul/anthropic";
import { isRecord } from "@longhaul/core/internal/messages";
import { scriptedModel, startSimulator, textTurn } from "@longhaul/simulator";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDemoSession } from "../../simulator/src/demo-session.ts";
import { judgeContext, readAnswers } from "./judge.ts";
import { deriveExam } from "./probes/exam.ts";
import { toStream } from "./session-stream.ts";

const { probes } = deriveExam(toStream(createDemoSession({ approximateTokens: 60_000 })));
const QUESTIONS_PER_CALL = 20;
const callsFor = (count: number): number => Math.ceil(count / QUESTIONS_PER_CALL);

/** Answers every question of a call with the probe's own passage. */
const knowing = (text: string): string =>
  [...text.matchAll(/^(\d+)\. (.+)$/gm)]
    .map(([, number, question]) => `${number}. ${probes.find((probe) => probe.question === question)?.text}`)
    .join("\n");

describe("judgeContext", () => {
  it("asks every question once, and counts answers that contain the fact as right", async () => {
    const asked: string[] = [];
    const model = scriptedModel(({ messages }) => {
      const text = JSON.stringify(messages[0]?.content.at(-1));
      asked.push(...[...text.matchAll(/\\n\d+\. /g)].map(([mark]) => mark));
      return knowing(JSON.parse(text).text);
    });
    const answered: number[] = [];
    const { missed, ...judged } = await judgeContext(probes, "context", model, {
      onAnswered: (count) => answered.push(count),
    });
    expect(asked).toHaveLength(probes.length);
    expect(answered.at(-1)).toBe(probes.length);
    expect(judged).toMatchObject({ model: "scripted", asked: probes.length });
    expect(judged.right).toBeGreaterThan(probes.length / 2);
    expect(judged.right + judged.unknown + judged.wrong).toBe(probes.length);
    expect(missed).toHaveLength(judged.unknown + judged.wrong);
  });

  it("tells an answer of `unknown` apart from a wrong answer", async () => {
    const unknown = scriptedModel(() => probes.map((_, index) => `${index + 1}. unknown`).join("\n"));
    expect(await judgeContext(probes, "", unknown)).toMatchObject({
      right: 0,
      unknown: probes.length,
      wrong: 0,
    });
    const wrong = scriptedModel(() => probes.map((_, index) => `${index + 1}. It was the moon.`).join("\n"));
    expect(await judgeContext(probes, "", wrong)).toMatchObject({
      right: 0,
      unknown: 0,
      wrong: probes.length,
    });
  });

  it("sends the context through the simulator without a refused request, and reads it from the cache after the first call", async () => {
    const simulator = await startSimulator({
      behaviors: [
        ({ body }) => {
          const [message] = Array.isArray(body.messages) ? body.messages : [];
          const questions = isRecord(message) && Array.isArray(message.content) ? message.content.at(-1) : {};
          return textTurn(knowing(String(questions?.text)));
        },
      ],
    });
    try {
      const client = new Anthropic({ baseURL: simulator.url, apiKey: "key", logLevel: "off" });
      const model = anthropicModel({ model: "claude-haiku-4-5", client });
      const context = "The harbour has four berths, and each has a lamp. ".repeat(1_000);
      const { right, usage } = await judgeContext(probes, context, model);
      expect(simulator.requests.invalid).toEqual([]);
      expect(simulator.requests.all).toHaveLength(callsFor(probes.length));
      expect(right).toBeGreaterThan(probes.length / 2);
      expect(usage.cache_creation_input_tokens).toBeGreaterThan(5_000);
      expect(usage.cache_read_input_tokens).toBe(
        (callsFor(probes.length) - 1) * (usage.cache_creation_input_tokens ?? 0),
      );
    } finally {
      await simulator.close();
    }
  });

  it("stops between two calls when the caller aborts", async () => {
    const abort = new AbortController();
    const model = scriptedModel(() => {
      abort.abort();
      return "1. unknown";
    });
    await expect(judgeContext(probes, "", model, { signal: abort.signal })).rejects.toThrow();
    expect(model.requests).toHaveLength(1);
  });
});

describe("readAnswers", () => {
  it("reads answers in order, whatever stands around their numbers, and joins their lines", () => {
    const text = "Here they are.\n1. tabs\n**2.** port 8443\n   and 9000\n4) unknown\n99. no question";
    expect(readAnswers(text, 4)).toEqual(["tabs", "port 8443\nand 9000", "", "unknown\n99. no question"]);
  });

  it("returns one answer for each question, whatever the model wrote", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 0, max: 30 }), (text, count) => {
        expect(readAnswers(text, count)).toHaveLength(count);
      }),
    );
  });
});
