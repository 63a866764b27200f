import { describe, expect, it } from "vitest";
import { UNDOCUMENTED_RESPONSES } from "../../wording/undocumented.ts";
import {
  type CallFields,
  call,
  output,
  PLAIN,
  PNG,
  said,
  thought,
  tool,
  user,
  verdictOn,
} from "./rule-bench.case.ts";

const read = tool("read");
const stored = [user(), thought({ id: "rs_1" }), call("call_1", { id: "fc_1" })];

const format = {
  type: "json_schema",
  name: "answer",
  strict: true,
  schema: {
    type: "object",
    properties: { city: { type: ["string", "null"] } },
    required: ["city"],
    additionalProperties: false,
  },
};

type Row = readonly [title: string, body: object, fields?: CallFields];

const CONVERSATIONS: readonly Row[] = [
  ["a text", { input: "go", instructions: "rule" }],
  [
    "a message with all kinds of parts",
    {
      input: [
        { role: "developer", content: [{ type: "input_text", text: "rule" }] },
        user([
          { type: "input_text", text: "see", prompt_cache_breakpoint: { mode: "explicit", ttl: "30m" } },
          { type: "input_image", detail: "original", image_url: PNG },
          { type: "input_file", file_id: "file-1" },
          { type: "input_file", file_url: "https://example.com/a.pdf" },
        ]),
      ],
    },
  ],
  [
    "a whole answer that comes back without ids",
    {
      input: [user(), thought(), call("call_1"), output("call_1"), said(), user()],
      tools: [read],
      store: false,
      include: ["reasoning.encrypted_content"],
    },
  ],
  [
    "a whole answer that comes back with its ids",
    {
      input: [
        user(),
        thought({ id: "rs_1", encrypted_content: "known", status: null }),
        call("call_1", { id: "fc_1", status: "completed" }),
        output("call_1", { id: "fc_2", status: "completed" }),
        said("done", { id: "msg_1", phase: "final_answer" }),
      ],
    },
  ],
  [
    "parallel calls, with outputs in another order",
    {
      input: [user(), thought(), call("a"), call("b"), output("b"), output("a")],
      tools: [read],
      parallel_tool_calls: true,
    },
  ],
  [
    "an output for a stored response",
    { previous_response_id: "resp_1", input: [output("call_1")] },
    { earlier: stored },
  ],
  [
    "a stored response that ended with reasoning",
    { previous_response_id: "resp_1" },
    { earlier: [user(), thought({ id: "rs_1" })] },
  ],
  [
    "references to stored items",
    {
      input: [user(), { type: "item_reference", id: "rs_1" }, { id: "fc_1" }, output("call_1"), said()],
    },
  ],
  ["a conversation without new input", { conversation: "conv_1", input: undefined }, { earlier: [user()] }],
  [
    "a compaction, then the next turn",
    {
      input: [{ type: "compaction", id: "cmp_1", encrypted_content: "known", created_by: "a" }, user()],
      context_management: [{ type: "compaction", compact_threshold: 100_000 }],
    },
  ],
  ["a request for compaction", { input: [user(), said(), { type: "compaction_trigger" }] }],
  [
    "custom tools with a grammar",
    {
      input: [
        user(),
        {
          type: "custom_tool_call",
          id: "ctc_1",
          call_id: "c",
          name: "apply_patch",
          input: "*** Begin",
          status: "completed",
        },
        {
          type: "custom_tool_call_output",
          id: "ctco_1",
          call_id: "c",
          output: [{ type: "input_text", text: "ok" }],
        },
      ],
      tools: [
        {
          type: "custom",
          name: "apply_patch",
          format: { type: "grammar", syntax: "lark", definition: "start: /a/" },
        },
      ],
    },
  ],
  [
    "a local shell whose output is that of a function",
    {
      input: [
        user(),
        {
          type: "local_shell_call",
          call_id: "c",
          status: "completed",
          action: { type: "exec", command: ["ls"], env: {} },
        },
        output("c"),
      ],
      tools: [{ type: "local_shell" }],
    },
  ],
  [
    "a local shell whose output names the item",
    {
      input: [
        user(),
        { type: "local_shell_call", id: "lsh_1", call_id: "c", action: { type: "exec", command: ["ls"] } },
        { type: "local_shell_call_output", id: "lsh_1", output: "{}" },
      ],
    },
  ],
  [
    "a shell, a patch and a computer",
    {
      input: [
        user(),
        {
          type: "shell_call",
          call_id: "s",
          action: { commands: ["ls"], timeout_ms: null },
          environment: null,
        },
        {
          type: "shell_call_output",
          call_id: "s",
          output: [{ stdout: "", stderr: "", outcome: { type: "exit", exit_code: -1 } }],
        },
        {
          type: "apply_patch_call",
          call_id: "p",
          status: "completed",
          operation: { type: "create_file", path: "a", diff: "+" },
        },
        { type: "apply_patch_call_output", call_id: "p", status: "failed", output: null },
        {
          type: "computer_call",
          id: "cu_1",
          call_id: "k",
          status: "completed",
          pending_safety_checks: [],
          action: { type: "screenshot" },
        },
        {
          type: "computer_call_output",
          call_id: "k",
          output: { type: "computer_screenshot", image_url: PNG },
        },
      ],
      tools: [
        { type: "shell", environment: { type: "local" } },
        { type: "apply_patch" },
        { type: "computer" },
      ],
    },
  ],
  [
    "work of tools that OpenAI runs",
    {
      input: [
        user(),
        {
          type: "web_search_call",
          id: "ws_1",
          status: "completed",
          action: { type: "search", query: "a", sources: [] },
        },
        { type: "web_search_call", action: { type: "open_page", url: null } },
        { type: "file_search_call", id: "fs_1", queries: ["a"], status: "completed", results: null },
        { type: "image_generation_call", id: "ig_1", result: "aGk=", status: "completed" },
        {
          type: "code_interpreter_call",
          id: "ci_1",
          code: "1",
          container_id: "cntr_1",
          outputs: [{ type: "logs", logs: "" }],
        },
        { type: "mcp_list_tools", id: "mcpl_1", server_label: "a", tools: [{ name: "t", input_schema: {} }] },
        { type: "mcp_approval_request", id: "mcpr_1", server_label: "a", name: "t", arguments: "{}" },
        { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true },
        {
          type: "mcp_call",
          id: "mcp_1",
          server_label: "a",
          name: "t",
          arguments: "{}",
          output: null,
          error: null,
        },
        said(),
      ],
      tools: [
        { type: "web_search", user_location: { type: "approximate", country: "FR" } },
        { type: "file_search", vector_store_ids: ["vs_1"], max_num_results: 50 },
        { type: "code_interpreter", container: { type: "auto" } },
        { type: "image_generation", size: "auto" },
        { type: "mcp", server_label: "a", server_url: "https://a.example", allowed_tools: ["t"] },
      ],
    },
  ],
  [
    "a search for tools that OpenAI runs",
    {
      input: [
        user(),
        {
          type: "tool_search_call",
          id: "tsc_1",
          arguments: {},
          call_id: null,
          execution: "server",
          status: "completed",
        },
        { type: "tool_search_output", tools: [{ ...read, defer_loading: true }], call_id: null },
        call("c", { namespace: "read" }),
        output("c"),
      ],
      tools: [
        { type: "tool_search" },
        { type: "namespace", name: "crm", description: "d", tools: [{ ...read, defer_loading: true }] },
      ],
    },
  ],
  [
    "tools, efforts and formats that items add",
    {
      input: [
        { type: "additional_tools", role: "developer", tools: [read] },
        { type: "configuration_update", reasoning: { effort: "high" }, text: { format: { type: "text" } } },
        user(),
      ],
      tool_choice: { type: "function", name: "read" },
    },
  ],
  [
    "structured output with all common fields",
    {
      text: { format, verbosity: "low" },
      reasoning: { effort: "high", summary: "auto" },
      max_output_tokens: 100_000,
      metadata: { a: "b" },
      prompt_cache_key: "key",
      prompt_cache_options: { mode: "implicit", ttl: "30m" },
      prompt_cache_retention: "24h",
      safety_identifier: "u",
      service_tier: "auto",
      store: true,
      stream: true,
      stream_options: { include_obfuscation: false },
      truncation: "auto",
      user: "u",
    },
  ],
  [
    "null for every optional field",
    {
      ...Object.fromEntries(
        [
          "instructions",
          "temperature",
          "top_p",
          "tools",
          "tool_choice",
          "text",
          "reasoning",
          "metadata",
          "include",
          "stream",
          "previous_response_id",
          "conversation",
          "max_output_tokens",
          "truncation",
          "user",
        ].map((name) => [name, null]),
      ),
    },
  ],
  [
    "reasoning for a model that uses a computer",
    { input: [user(), thought(), said(), user()] },
    { model: { ...PLAIN, id: "computer-use-preview" } },
  ],
  [
    "an allowed MCP tool without the name of its server",
    {
      tools: [{ type: "mcp", server_label: "a", server_url: "https://a.example" }],
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "mcp" }] },
    },
  ],
  [
    "sampling parameters on a model that does not reason",
    { temperature: 2, top_p: 0, top_logprobs: 5 },
    { model: PLAIN },
  ],
];

describe("sound conversations in the Responses API", () => {
  it.each(
    CONVERSATIONS.map(([title, body, fields = {}]): [string, object, CallFields] => [title, body, fields]),
  )("the rules accept %s", (_, body, fields) => {
    expect(verdictOn(body, fields)).toBe("accepted");
  });
});

describe("other endpoints of the Responses API", () => {
  const compact = { endpoint: "compact" } as const;
  const count = { endpoint: "count_tokens" } as const;

  it.each([
    ["/responses/compact accepts a history", { input: [user(), said()], service_tier: null }, compact],
    ["/responses/compact accepts a response without input", { previous_response_id: "resp_1" }, compact],
    ["/responses/input_tokens accepts an empty body", { model: undefined }, { ...count, model: undefined }],
    [
      "/responses/input_tokens accepts tools and a call without output",
      { input: [call("c")], tools: [read] },
      count,
    ],
  ] as const)("%s", (_, body, fields) => {
    expect(verdictOn(body, fields)).toBe("accepted");
  });

  it.each([
    ["a model for compaction", { model: undefined }, compact, "Missing required parameter: 'model'."],
    ["tools for compaction", { tools: [read] }, compact, "Unknown parameter: 'tools'."],
    [
      "a long cache for compaction",
      { prompt_cache_options: { ttl: "12h" } },
      compact,
      "Invalid value: '12h'. Supported values are: '30m'.",
    ],
    [
      "a broken pair for compaction",
      { input: [output("c")] },
      compact,
      "No tool call found for function call output with call_id c.",
    ],
    [
      "an output limit for a count",
      { max_output_tokens: 16 },
      count,
      "Unknown parameter: 'max_output_tokens'.",
    ],
    [
      "a broken item for a count",
      { input: [user(7)] },
      count,
      "Invalid type for 'input[0].content': expected one of an array of objects or string, but got an integer instead.",
    ],
  ] as const)("check %s by rules of their own", (_, body, fields, expected) => {
    expect(verdictOn(body, fields)).toBe(expected);
  });

  it("accept unknown fields at every depth if the switch accepts them", () => {
    const body = { novelty: 1, input: [{ ...user(), bogus: 1 }], tools: [{ ...read, more: 1 }] };
    expect(verdictOn(body, { switches: { unknownFields: "accepted" } })).toBe("accepted");
    expect(verdictOn(body)).toBe("Unknown parameter: 'novelty'.");
  });
});

const pair = [user(), call("call_1"), output("call_1")];

/** One request for each case that no public source decides. */
const UNDOCUMENTED: Readonly<Record<string, object>> = {
  "two outputs for one call": { tools: [read], input: [...pair, output("call_1")] },
  "two function tools with the same name": { tools: [read, read] },
  "a sent item without the id that the types require": {
    input: [user(), said(), { type: "web_search_call", status: "completed" }, user()],
  },
  "an id with an unknown prefix on an item of a hosted tool": {
    input: [user(), { type: "file_search_call", id: "abc_1", status: "completed", queries: ["q"] }, user()],
  },
  "the settings of cache breakpoints on older models": { prompt_cache_options: { mode: "implicit" } },
  "the defaults of `top_p` and of the penalties on a reasoning model": {
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
  },
  "a status on a reasoning item": {
    input: [user(), thought({ id: "rs_1", status: "completed" }), call("call_1"), output("call_1")],
    tools: [read],
  },
  "a prompt template with an unknown id": { prompt: { id: "pmpt_unknown" } },
};

describe("requests to Responses that no public source decides", () => {
  it("the list of undocumented cases of Responses has one request for each case", () => {
    expect(UNDOCUMENTED_RESPONSES.map(({ accepted }) => accepted)).toEqual(Object.keys(UNDOCUMENTED));
  });

  it.each(Object.entries(UNDOCUMENTED))("the Responses API of the simulator accepts %s", (_, body) => {
    expect(verdictOn(body)).toBe("accepted");
  });
});
