import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deepFreeze } from "../../../test/support/deep-freeze.ts";
import {
  type GeneratedBody,
  type OpenAiTraits,
  soundChat,
  soundResponses,
} from "../../../test/support/openai-bodies.ts";
import { CHAT_FAULTS, RESPONSES_FAULTS, withFault } from "../../../test/support/openai-faults.ts";
import { checkChatRequest, checkResponsesRequest, OPENAI_RULES, type OpenAiCheckOptions } from "./index.ts";

const RUNS = { numRuns: 500 };

const MODELS: readonly OpenAiTraits[] = [
  { id: "plain", isReasoning: false, efforts: [], acceptsImages: true, maxOutputTokens: 16_384 },
  { id: "blind", isReasoning: false, efforts: [], acceptsImages: false, maxOutputTokens: 16_384 },
  {
    id: "deep",
    isReasoning: true,
    efforts: ["minimal", "low", "high"],
    acceptsImages: true,
    maxOutputTokens: 128_000,
  },
  { id: "both", isReasoning: true, efforts: ["none", "low"], acceptsImages: true, maxOutputTokens: 128_000 },
];

function optionsFor({ model, earlier }: GeneratedBody): OpenAiCheckOptions {
  const { isReasoning, efforts, acceptsImages, maxOutputTokens } = model;
  return {
    reasoningModel: isReasoning,
    efforts,
    acceptsImages,
    maxOutputTokens,
    ...(earlier && { earlier }),
  };
}

const APIS = [
  { api: "chat completions", sound: soundChat(MODELS), check: checkChatRequest, faults: CHAT_FAULTS },
  { api: "Responses", sound: soundResponses(MODELS), check: checkResponsesRequest, faults: RESPONSES_FAULTS },
];

describe.each(APIS)("generated requests to $api", ({ sound, check, faults }) => {
  it("a sound request has no findings, and the check does not change it", () => {
    fc.assert(
      fc.property(sound, (generated) => {
        const { findings } = check(deepFreeze(generated.body), optionsFor(generated));
        expect(findings).toEqual([]);
      }),
      RUNS,
    );
  });

  it("the rule of a planted fault is among the findings", () => {
    fc.assert(
      fc.property(withFault(sound, faults), (generated) => {
        const { findings } = check(generated.body, optionsFor(generated));
        expect(findings.map(({ rule }) => rule)).toContain(generated.fault.rule);
      }),
      RUNS,
    );
  });

  it.each(faults.map((fault) => [fault.name, fault] as const))("finds %s", (_, fault) => {
    fc.assert(
      fc.property(withFault(sound, [fault]), (generated) => {
        const { findings } = check(generated.body, optionsFor(generated));
        expect(findings.map(({ rule }) => rule)).toContain(fault.rule);
        expect(Object.keys(OPENAI_RULES)).toContain(fault.rule);
      }),
      { numRuns: 20 },
    );
  });

  it("any JSON at any place has a verdict", () => {
    fc.assert(
      fc.property(sound, fc.jsonValue(), fc.nat(), (generated, value, die) => {
        expect(check(value).ok).toBe(false);
        const body = structuredClone(generated.body);
        replace(body, value, die);
        const { ok, findings } = check(deepFreeze(body), optionsFor(generated));
        expect(ok).toBe(findings.length === 0);
        for (const { rule, path, message } of findings) {
          expect(Object.keys(OPENAI_RULES)).toContain(rule);
          expect(path).toEqual(expect.any(String));
          expect(message).toMatch(/^\S.*\.$/s);
        }
      }),
      RUNS,
    );
  });
});

/** Replaces one value of a body, at any depth. */
function replace(body: object, value: unknown, die: number): void {
  const places: (readonly [holder: Record<string, unknown>, key: string])[] = [];
  const visit = (holder: object): void => {
    for (const [key, child] of Object.entries(holder)) {
      places.push([holder as Record<string, unknown>, key]);
      if (typeof child === "object" && child !== null) visit(child);
    }
  };
  visit(body);
  const place = places[die % places.length];
  if (place !== undefined) place[0][place[1]] = value;
}

describe("hostile bodies", () => {
  it("a deep body, a deep schema and odd field names do not throw", () => {
    const deep = JSON.parse(`${'{"a":['.repeat(50_000)}${"]}".repeat(50_000)}`);
    let schema: object = { type: "array" };
    for (let level = 0; level < 50_000; level += 1) schema = { type: "object", properties: { a: schema } };
    const names = JSON.parse(
      '{"__proto__": 1, "constructor": 2, "toString": 3, "type": "constructor", "role": "__proto__"}',
    );
    for (const value of [deep, schema, names, [names], [deep]]) {
      expect(checkChatRequest(value).ok).toBe(false);
      expect(checkResponsesRequest(value).ok).toBe(false);
      const chatTool = { type: "function", function: { name: "a", parameters: value, strict: true } };
      const chat = {
        model: "m",
        messages: [value],
        tools: [chatTool],
        response_format: { type: "json_object" },
      };
      expect(checkChatRequest(chat).ok).toBe(false);
      const tool = { type: "function", name: "a", parameters: value, strict: true };
      const input = [value, { type: "message", role: "user", content: value }];
      expect(
        checkResponsesRequest({ model: "m", input, tools: [tool], text: { format: { type: "json_object" } } })
          .ok,
      ).toBe(false);
    }
  });
});
