import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type OpenAiTextRow, RULE_TEXTS } from "../../wording/refuse.ts";
import { assistant, calls, output, refusalOf, user } from "./chat-bench.case.ts";

const numbers: readonly number[] = Array.from({ length: 1_000_000 }, (_, index) => index);

/** Hostile values for any field. */
const VALUES: readonly unknown[] = [
  null,
  0,
  -1,
  1.5,
  "",
  "x",
  true,
  [],
  [[]],
  [null],
  {},
  { type: { toString: 1 } },
  { type: ["function"] },
  { type: "constructor" },
  { type: "__proto__" },
  JSON.parse('{"__proto__": 1, "hasOwnProperty": 2, "toString": 3}'),
];

const FIELDS = [
  "model",
  "messages",
  "audio",
  "functions",
  "function_call",
  "logit_bias",
  "max_tokens",
  "metadata",
  "modalities",
  "prediction",
  "reasoning_effort",
  "response_format",
  "stop",
  "stream_options",
  "tools",
  "tool_choice",
  "__proto__",
];

describe("hostile requests to chat completions", () => {
  it.each(FIELDS)("no value of %s makes the rules fail", (name) => {
    for (const value of VALUES) {
      const body = JSON.parse(`{${JSON.stringify(name)}: ${JSON.stringify(value)}}`);
      expect(() => refusalOf(body)).not.toThrow();
      expect(() => refusalOf(body, { switches: { unknownFields: "accepted" } })).not.toThrow();
    }
  });

  it.each([
    ["the messages", { messages: numbers }],
    ["the content", { messages: [user(numbers)] }],
    ["the calls", { messages: [user(), assistant(null, { tool_calls: numbers })] }],
    ["the tools", { tools: numbers }],
    ["the stop sequences", { stop: numbers }],
    ["the modalities", { modalities: numbers }],
    [
      "the allowed tools",
      {
        tools: numbers,
        tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: numbers } },
      },
    ],
  ])("a list of a million numbers as %s is refused", (_, body) => {
    expect(refusalOf(body)).toMatchObject({ status: 400 });
  });

  it("90,000 messages with calls are accepted", () => {
    const turns = Array.from({ length: 30_000 }, (_, index) => [
      user(),
      calls(`c${index}`),
      output(`c${index}`),
    ]).flat();
    expect(refusalOf({ messages: turns })).toBe("accepted");
  });

  it("white space in the data of an image does not stop the simulator", () => {
    const url = `data:image/png;base64,AA${" ".repeat(200_000)}%`;
    const messages = [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }];
    expect(refusalOf({ messages })).toMatchObject({ rule: "imageData" });
  });

  it("arbitrary bodies get an answer with a known rule and filled placeholders", () => {
    const rules: Readonly<Record<string, OpenAiTextRow>> = RULE_TEXTS;
    const message = fc.oneof(
      fc.record(
        {
          role: fc.constantFrom("user", "assistant", "tool", "system", "function", "developer"),
          content: fc.oneof(
            fc.string(),
            fc.constant(null),
            fc.array(fc.record({ type: fc.constantFrom("text", "image_url", "refusal"), text: fc.string() })),
          ),
          tool_calls: fc.array(
            fc.record({
              id: fc.constantFrom("a", "b"),
              type: fc.constant("function"),
              function: fc.record({ name: fc.constantFrom("Read", "a b"), arguments: fc.string() }),
            }),
          ),
          tool_call_id: fc.constantFrom("a", "b"),
        },
        { requiredKeys: ["role"] },
      ),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(
        fc.array(message),
        fc.dictionary(fc.constantFrom(...FIELDS), fc.jsonValue()),
        (messages, fields) => {
          const refused = refusalOf({ ...fields, messages });
          if (refused === "accepted") return;
          const { rule, message: words } = refused as { rule: string; message: string };
          expect(rules[rule]).toBeDefined();
          expect(words).not.toContain("undefined");
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
