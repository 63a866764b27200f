import { checkRequest } from "@longhaul/core/request";
import { describe, expect, it } from "vitest";
import { PNG } from "../../../../../test/support/builders.ts";
import { type CallFields, refusalOf } from "./rule-bench.case.ts";

/** A request that the API refuses, its text, and the nearest request that the API accepts. */
interface Pair {
  readonly rule: string;
  readonly refused: object;
  readonly text: unknown;
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

const user = { role: "user", content: "go" };
const marked = { cache_control: { type: "ephemeral" } };
const deferred = (more: object): object => ({ ...tools[0], name: "Late", defer_loading: true, ...more });
const closed = { type: "object", additionalProperties: false };
const strict = (schema: object): object => ({
  ...tools[0],
  strict: true,
  input_schema: { ...closed, ...schema },
});
const format = (schema: object): object => ({ output_config: { format: { type: "json_schema", schema } } });
const cited = (enabled: boolean): object => {
  const source = { type: "text", media_type: "text/plain", data: "x" };
  return { role: "user", content: [{ type: "document", source, citations: { enabled } }] };
};
const webSearch = { type: "web_search_20250305", name: "web_search" };
const referring = (name: string): readonly object[] => [
  user,
  { role: "assistant", content: [{ type: "tool_use", id: "t", name: "Read", input: {} }] },
  {
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "t", content: [{ type: "tool_reference", tool_name: name }] },
    ],
  },
];

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
  {
    rule: "temperature together with top_p",
    refused: { temperature: 0.5, top_p: 0.9 },
    text: "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
    accepted: { temperature: 0.5, top_k: 5 },
    call: older,
  },
  {
    rule: "the beginning of an answer without thinking, if thinking is enabled",
    refused: { thinking, messages: [user, { role: "assistant", content: "So" }] },
    text: expect.stringContaining(
      "messages.1.type: Expected `thinking` or `redacted_thinking`, but found `text`",
    ),
    accepted: { messages: [user, { role: "assistant", content: "So" }] },
  },
  {
    rule: "a mark on a deferred tool",
    refused: { tools: [...tools, deferred(marked)] },
    text: "Tool 'Late' cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use prompt caching.",
    accepted: { tools: [...tools, deferred({})] },
  },
  {
    rule: "an open schema of a strict tool",
    refused: { tools: [strict({ properties: { a: { type: "object" } } })] },
    text: "tools.0.custom: For 'object' type, 'additionalProperties' must be explicitly set to false",
    accepted: { tools: [strict({ properties: { a: { type: "string" } } })] },
  },
  {
    rule: "an open schema of a structured output",
    refused: format({ type: "object" }),
    text: "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
    accepted: format(closed),
  },
  {
    rule: "citations together with a structured output",
    refused: { ...format(closed), messages: [cited(true)] },
    text: "output_config.format: citations cannot be used together with structured outputs",
    accepted: { ...format(closed), messages: [cited(false)] },
  },
  {
    rule: "allowed together with blocked domains",
    refused: { tools: [{ ...webSearch, allowed_domains: ["a.test"], blocked_domains: ["b.test"] }] },
    text: "tools.0: `allowed_domains` cannot be used alongside `blocked_domains`",
    accepted: { tools: [{ ...webSearch, allowed_domains: ["a.test"] }] },
  },
  {
    rule: "a reference to a tool that the request does not define",
    refused: { tools, messages: referring("Late") },
    text: "Tool reference 'Late' not found in available tools",
    accepted: { tools: [...tools, deferred({})], messages: referring("Late") },
  },
  {
    rule: "a billing policy without its beta",
    refused: { billing_policy: { type: "billing_policy", bill_to: "self" } },
    text: "billing_policy: Extra inputs are not permitted",
    accepted: { billing_policy: { type: "billing_policy", bill_to: "self" } },
    call: { betas: [] },
    acceptedCall: { betas: ["user-profiles-billing-2026-10-01"] },
  },
];

describe("rules for fields that exclude each other", () => {
  it.each(PAIRS)(
    "refuses $rule, and accepts its neighbor",
    ({ refused, text, accepted, call, acceptedCall }) => {
      expect(refusalOf(refused, call)).toEqual(text);
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
/** Returns an image with this width and a height of one pixel. Only its header is complete. */
const gif = (width: number): string =>
  btoa(`GIF89a${String.fromCharCode(width % 256, Math.floor(width / 256))}\x01\0\0\0`);
const withPicture = (block: object): object => ({ messages: [{ role: "user", content: [block] }] });
const inResult = (block: object): object => ({
  tools,
  messages: [
    { role: "user", content: "look" },
    { role: "assistant", content: [{ type: "tool_use", id: "t", name: "Read", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [block] }] },
  ],
});

describe("rules for images and documents", () => {
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

  it("accepts white space in the data of an image", () => {
    const wrapped = PNG.replace(/.{8}/g, "$&\n");
    expect(refusalOf(withPicture(picture(wrapped)))).toBe("accepted");
  });

  it("refuses an image with a side of more than 8000 pixels, and accepts one of 8000", () => {
    expect(refusalOf(withPicture(picture(gif(8_000))))).toContain("does not match");
    expect(refusalOf(withPicture(picture(gif(8_000), "image/gif")))).toBe("accepted");
    expect(refusalOf(inResult(picture(gif(8_001), "image/gif")))).toBe(
      "messages.2.content.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
    );
  });

  it("refuses a side of more than 2000 pixels in a request with more than 20 images", () => {
    const images = (count: number, side: number): object => ({
      messages: [
        { role: "user", content: Array.from({ length: count }, () => picture(gif(side), "image/gif")) },
      ],
    });
    expect(refusalOf(images(20, 2_001))).toBe("accepted");
    expect(refusalOf(images(21, 2_000))).toBe("accepted");
    expect(refusalOf(images(21, 2_001))).toBe(
      "messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
    );
  });

  it("refuses an image of more than 10 MB, counted in base64", () => {
    const sized = (bytes: number): object =>
      picture(`${gif(1).slice(0, -4)}${"A".repeat(bytes - 12)}`, "image/gif");
    expect(refusalOf(withPicture(sized(10_485_760)))).toBe("accepted");
    expect(refusalOf(withPicture(sized(10_485_764)))).toBe(
      "messages.0.content.0.image.source.base64: image exceeds 10 MB maximum: 10485764 bytes > 10485760 bytes",
    );
  });

  it("reads the size of an image behind a large color profile", () => {
    const segment = `\xff\xe2\xff\xff${"\0".repeat(65_533)}`;
    const frame = "\xff\xc0\0\x11\x08\0\x01\0\x01\x03\x01\x22\0\x02\x11\x01\x03\x11\x01";
    const data = Buffer.from(`\xff\xd8${segment.repeat(5)}${frame}`, "latin1").toString("base64");
    expect(refusalOf(withPicture(picture(data, "image/jpeg")))).toBe("accepted");
    expect(checkRequest(withPicture(picture(data, "image/jpeg")) as never).findings).toEqual([]);
  });

  it("refuses a document that is no PDF", () => {
    const pdf = (text: string): object => ({
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: btoa(text) },
    });
    expect(refusalOf(withPicture(pdf("%PDF-1.7\n")))).toBe("accepted");
    expect(refusalOf(withPicture(pdf("<!DOCTYPE html>")))).toBe(
      "messages.0.content.0.pdf.source.base64.data: The PDF specified was not valid.",
    );
  });

  it.each([
    ["a side of 8001 pixels", picture(gif(8_001), "image/gif")],
    ["more than 10 MB", picture(`${gif(1).slice(0, -4)}${"A".repeat(10_485_752)}`, "image/gif")],
    ["an end before its size", picture("iVBORw0KGgo=")],
  ])(
    "the request checker replaces an image with %s by a marker, and the simulator accepts the result",
    (_, block) => {
      const { request, findings } = checkRequest(withPicture(block) as never);
      expect(findings.map(({ rule }) => rule)).toEqual(["media-source"]);
      expect(refusalOf(withPicture(block))).not.toBe("accepted");
      expect(refusalOf(request)).toBe("accepted");
    },
  );

  it("refuses an image without data", () => {
    expect(refusalOf(inResult(picture("")))).toBe(
      "messages.2.content.0.content.0.image.source.base64: image cannot be empty",
    );
  });

  it("refuses data that is not base64", () => {
    expect(refusalOf(inResult(picture(`${PNG}!`)))).toBe(
      "messages.2.content.0.content.0.image.source.base64: invalid base64 data",
    );
  });
});
