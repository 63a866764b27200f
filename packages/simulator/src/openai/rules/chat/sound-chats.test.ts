import { describe, expect, it } from "vitest";
import { UNDOCUMENTED_CHAT } from "../../wording/undocumented.ts";
import {
  assistant,
  type ChatCall,
  call,
  calls,
  customTool,
  image,
  output,
  refusalOf,
  schemaFormat,
  text,
  tool,
  user,
} from "./chat-bench.case.ts";

const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const functionTools = [
  tool({ description: "Reads a file." }),
  tool({
    name: "Write",
    strict: true,
    parameters: {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: {
        path: { type: "string", description: "Where to write." },
        lines: { type: "array", items: { anyOf: [{ $ref: "#/$defs/line" }, { type: "null" }] } },
      },
      required: ["path", "lines"],
      additionalProperties: false,
      $defs: { line: { type: "string", enum: ["a", "b"] } },
    },
  }),
];

const SOUND: readonly [conversation: string, body: object, call?: ChatCall][] = [
  ["only text", { messages: [user(), assistant("hi"), user([text("a"), text("b")])] }],
  [
    "system and developer messages",
    { messages: [{ role: "system", content: "a" }, { role: "developer", content: [text("b")] }, user()] },
  ],
  [
    "calls and outputs",
    {
      tools: functionTools,
      tool_choice: "auto",
      parallel_tool_calls: true,
      messages: [
        user(),
        calls("a", "b"),
        output("b"),
        output("a", [text("out")]),
        assistant("done"),
        user(),
        calls("c"),
        output("c"),
      ],
    },
  ],
  [
    "calls beside text",
    {
      messages: [
        user(),
        assistant("Let me look.", { tool_calls: [call("a")], refusal: null, annotations: [] }),
        output("a", ""),
      ],
    },
  ],
  [
    "images",
    {
      messages: [user([text("what?"), image(), image(PNG, { detail: "high" })])],
    },
  ],
  [
    "structured output",
    {
      messages: [user()],
      ...schemaFormat({
        strict: true,
        schema: { type: "object", properties: {}, required: [], additionalProperties: false },
      }),
    },
  ],
  [
    "custom tools",
    {
      tools: [customTool({ description: "Patches a file.", format: { type: "text" } })],
      tool_choice: { type: "custom", custom: { name: "Patch" } },
      messages: [
        user(),
        assistant(null, {
          tool_calls: [{ id: "a", type: "custom", custom: { name: "Patch", input: "*** Begin" } }],
        }),
        output("a"),
      ],
    },
    { model: "reasoning" },
  ],
  [
    "the older functions",
    {
      functions: [{ name: "Read", description: "d", parameters: { type: "object", properties: {} } }],
      function_call: "auto",
      messages: [
        user(),
        assistant(null, { function_call: { name: "Read", arguments: "{}" } }),
        { role: "function", name: "Read", content: "out" },
        { role: "function", name: "Read", content: null },
      ],
    },
  ],
  [
    "a stream with usage",
    { stream: true, stream_options: { include_usage: true }, store: false, seed: 7, service_tier: "auto" },
  ],
  [
    "a reasoning model with all its fields",
    {
      max_completion_tokens: 1_000,
      reasoning_effort: "medium",
      verbosity: "low",
      prompt_cache_key: "k",
      safety_identifier: "u",
      temperature: 1,
    },
    { model: "reasoning" },
  ],
  [
    "null for every optional field",
    { temperature: null, tools: null, stop: null, response_format: null, metadata: null, audio: null },
  ],
];

describe("sound requests to chat completions", () => {
  it.each(SOUND)("a conversation with %s is accepted", (_, body, chat) => {
    expect(refusalOf(body, chat)).toBe("accepted");
  });

  it("unknown fields are accepted at every depth if the switch accepts them", () => {
    const body = {
      top_k: 1,
      messages: [user([{ ...text("a"), cache_control: {} }]), assistant("b", { reasoning_content: "hm" })],
    };
    expect(refusalOf(body)).not.toBe("accepted");
    expect(refusalOf(body, { switches: { unknownFields: "accepted" } })).toBe("accepted");
  });
});

const loose = {
  type: "object",
  properties: { a: { type: "string", default: "b", minLength: 1, maxLength: 2 } },
  required: ["a"],
  additionalProperties: false,
};

/** One request for each case that no public source decides. */
const UNDOCUMENTED: Readonly<Record<string, readonly [body: object, call?: ChatCall]>> = {
  "two tools with the same name": [{ tools: [tool(), tool()] }],
  "a long description of a tool": [{ tools: [tool({ description: "d".repeat(5_000) })] }],
  "a call id that an earlier turn has used": [
    { messages: [calls("a"), output("a"), calls("a"), output("a")] },
  ],
  "a function message without its call": [
    { messages: [user(), { role: "function", name: "Read", content: "out" }] },
  ],
  "arguments of a call that are not JSON": [
    { messages: [assistant(null, { tool_calls: [call("a", { arguments: "{" })] }), output("a")] },
  ],
  "`functions` together with `tools`": [{ tools: [tool()], functions: [{ name: "Read" }] }],
  "`verbosity` on a model that does not reason": [{ verbosity: "low" }],
  "`audio` and `modalities` on every model": [
    { audio: { format: "wav", voice: { id: "voice_1" } }, modalities: ["audio"] },
    { model: "reasoning" },
  ],
  "sampling parameters on a reasoning model with effort `none`": [
    { reasoning_effort: "none", temperature: 0 },
    { model: "reasoning" },
  ],
  "the fields `parsed` and `parsed_arguments` of an answer": [
    {
      tools: [
        { type: "function", function: { name: "Read", parameters: { type: "object", properties: {} } } },
      ],
      messages: [
        user("go"),
        {
          role: "assistant",
          content: null,
          parsed: null,
          tool_calls: [
            {
              id: "call_1",
              type: "function",
              function: { name: "Read", arguments: "{}", parsed_arguments: {} },
            },
          ],
        },
        { role: "tool", tool_call_id: "call_1", content: "done" },
      ],
    },
  ],
  "the fields of an answer in a part of its content": [
    {
      messages: [
        user("go"),
        {
          role: "assistant",
          content: [{ type: "text", text: "Sure.", role: "assistant", refusal: null, annotations: [] }],
        },
        user("more"),
        { role: "assistant", content: [{ type: "refusal", refusal: "No.", role: "assistant" }] },
        user("why?"),
      ],
    },
  ],
  "an empty list of stop sequences": [{ stop: [] }],
  "the name of the function in a tool message": [
    { messages: [calls("a"), { ...output("a"), name: "Read" }] },
  ],
  "`default`, `minLength` and `maxLength` in a strict schema": [
    { tools: [tool({ strict: true, parameters: loose })] },
  ],
  "a URL that leads nowhere": [{ messages: [user([image("https://nowhere.invalid/a.png")])] }],
  "more than 2,048 messages": [{ messages: Array.from({ length: 3_000 }, () => user()) }],
};

describe("cases of chat completions that no public source decides", () => {
  it("the list of undocumented cases is the list of the tested cases", () => {
    expect(UNDOCUMENTED_CHAT.map(({ accepted }) => accepted)).toEqual(Object.keys(UNDOCUMENTED));
    for (const { reason } of UNDOCUMENTED_CHAT) expect(reason).toMatch(/^[A-Z].*\.$/);
  });

  it.each(Object.entries(UNDOCUMENTED))("the simulator accepts %s", (_, [body, chat]) => {
    expect(refusalOf(body, chat)).toBe("accepted");
  });
});
