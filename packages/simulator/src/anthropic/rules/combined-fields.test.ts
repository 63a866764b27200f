import { describe, expect, it } from "vitest";
import { PNG } from "../../../../../test/support/builders.ts";
import { type CallFields, refusalOf } from "./rule-bench.case.ts";

/** A request that the API refuses, its text, and the nearest request that the API accepts. */
interface Pair {
  readonly rule: string;
  readonly refused: object;
  readonly text: string;
  readonly accepted: object;
  readonly call?: CallFields;
  /** Call of the accepted request, if it differs. */
  readonly acceptedCall?: CallFields;
}

const tools = [{ name: "Read", input_schema: { type: "object" } }];
const thinking = { type: "enabled", budget_tokens: 1_024 };
const display = { name: "computer", display_height_px: 1, display_width_px: 1 };
const older: CallFields = { version: "2023-06-01" };
const effort = (level: string): object => ({ output_config: { effort: level } });

const PAIRS: readonly Pair[] = [
  {
    rule: "a forced tool together with thinking",
    refused: { tools, thinking, tool_choice: { type: "any" } },
    text: "Thinking may not be enabled when tool_choice forces tool use.",
    accepted: { tools, thinking, tool_choice: { type: "auto" } },
  },
  {
    rule: "a forced tool together with adaptive thinking",
    refused: { tools, thinking: { type: "adaptive" }, tool_choice: { type: "tool", name: "Read" } },
    text: "Thinking may not be enabled when tool_choice forces tool use.",
    accepted: { tools, thinking: { type: "disabled" }, tool_choice: { type: "tool", name: "Read" } },
    call: { model: "claude-opus-4-6" },
  },
  {
    rule: "a temperature other than 1 together with thinking",
    refused: { thinking, temperature: 0.7 },
    text: "`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation at https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking#important-considerations-when-using-extended-thinking",
    accepted: { thinking, temperature: 1 },
    call: older,
  },
  {
    rule: "a low top_p together with thinking",
    refused: { thinking, top_p: 0.9 },
    text: "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.",
    accepted: { thinking, top_p: 0.95 },
    call: older,
  },
  {
    rule: "top_k together with thinking",
    refused: { thinking, top_k: 5 },
    text: "`top_k` must be unset when thinking is enabled.",
    accepted: { top_k: 5 },
    call: older,
  },
  {
    rule: "an effort on a model that has none",
    refused: effort("low"),
    text: "This model does not support the effort parameter.",
    accepted: { output_config: {} },
    call: { model: "claude-haiku-4-5" },
  },
  {
    rule: "the effort xhigh on a model before 4.7",
    refused: effort("xhigh"),
    text: "This model does not support effort level 'xhigh'. Supported levels: low, medium, high, max.",
    accepted: effort("max"),
    call: { model: "claude-sonnet-4-6" },
  },
  {
    rule: "the effort max on Opus 4.5",
    refused: effort("max"),
    text: "This model does not support effort level 'max'. Supported levels: low, medium, high.",
    accepted: effort("high"),
    call: { model: "claude-opus-4-5" },
  },
  {
    rule: "a stop sequence of white space",
    refused: { stop_sequences: ["END", "\n"] },
    text: "stop_sequences: each stop sequence must contain non-whitespace",
    accepted: { stop_sequences: ["END", "\nHuman"] },
  },
  {
    rule: "an empty stop sequence",
    refused: { stop_sequences: [""] },
    text: "stop_sequences: each stop sequence must be non-empty",
    accepted: { stop_sequences: [] },
  },
];

describe("rules for fields that exclude each other", () => {
  it.each(PAIRS)(
    "refuses $rule, and accepts its neighbor",
    ({ refused, text, accepted, call, acceptedCall }) => {
      expect(refusalOf(refused, call)).toBe(text);
      expect(refusalOf(accepted, acceptedCall ?? call)).toBe("accepted");
    },
  );

  it.each([
    ["computer_20241022", "computer-use-2024-10-22", display],
    ["computer_20250124", "computer-use-2025-01-24", display],
    ["computer_20251124", "computer-use-2025-11-24", display],
    ["bash_20241022", "computer-use-2024-10-22", { name: "bash" }],
    ["text_editor_20241022", "computer-use-2024-10-22", { name: "str_replace_editor" }],
    ["advisor_20260301", "advisor-tool-2026-03-01", { name: "advisor", model: "claude-opus-5" }],
    ["mcp_toolset", "mcp-client-2025-11-20", { mcp_server_name: "files" }],
  ])("refuses the tool %s without the beta %s, and accepts it with the beta", (type, beta, fields) => {
    const body = { tools: [{ type, ...fields }] };
    expect(refusalOf(body, { betas: [] })).toContain(`tools.0: Input tag '${type}' found using 'type'`);
    expect(refusalOf(body, { betas: [beta] })).toBe("accepted");
  });

  it.each([
    ["bash_20250124", { name: "bash" }],
    ["memory_20250818", { name: "memory" }],
    ["web_fetch_20250910", { name: "web_fetch" }],
    ["code_execution_20260521", { name: "code_execution" }],
  ])("accepts the generally available tool %s without any beta", (type, fields) => {
    expect(refusalOf({ tools: [{ type, ...fields }] }, { betas: [] })).toBe("accepted");
  });

  it("accepts a forced tool on a model that thinks by default, if the request does not turn thinking on", () => {
    const body = { tools, tool_choice: { type: "any" } };
    expect(refusalOf(body, { model: "claude-opus-5" })).toBe("accepted");
  });
});

const picture = (data: string, mediaType = "image/png"): object => ({
  type: "image",
  source: { type: "base64", media_type: mediaType, data },
});
const withPicture = (block: object): object => ({ messages: [{ role: "user", content: [block] }] });
const inResult = (block: object): object => ({
  tools,
  messages: [
    { role: "user", content: "look" },
    { role: "assistant", content: [{ type: "tool_use", id: "t", name: "Read", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [block] }] },
  ],
});

describe("rules for images", () => {
  it("accepts a complete image, also in a tool result", () => {
    expect(refusalOf(withPicture(picture(PNG)))).toBe("accepted");
    expect(refusalOf(inResult(picture(PNG)))).toBe("accepted");
  });

  it.each([
    ["data that is no image", picture("bm90IGFuIGltYWdlIGF0IGFsbA==")],
    ["an image that ends before its size", picture("iVBORw0KGgo=")],
  ])("refuses %s, also in a tool result", (_, block) => {
    expect(refusalOf(withPicture(block))).toBe("Could not process image");
    expect(refusalOf(inResult(block))).toBe("Could not process image");
  });

  it("refuses an image of another type than its media type", () => {
    expect(refusalOf(withPicture(picture(PNG, "image/jpeg")))).toBe(
      "messages.0.content.0.image.source.base64.data: Image does not match the provided media type image/jpeg",
    );
  });

  it("refuses data that is not base64", () => {
    expect(refusalOf(inResult(picture(`${PNG}!`)))).toBe(
      "messages.2.content.0.content.0.image.source.base64: invalid base64 data",
    );
  });
});
