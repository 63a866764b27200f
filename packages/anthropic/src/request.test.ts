import type { ModelRequest } from "@longhaul/core/models";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryRequest } from "../../../test/support/arbitrary-request.ts";
import { deepFreeze } from "../../../test/support/deep-freeze.ts";
import { anthropicCapabilities, onlySupported } from "./capabilities.ts";
import { messageCall } from "./request.ts";

const MODEL = "claude-opus-4-6";
const hello: ModelRequest = { messages: [{ role: "user", content: "Hello." }] };
const wire = { model: MODEL, betas: [], apiVersion: undefined };
const betasOf = (request: object, betas: readonly string[] = []): unknown =>
  (messageCall({ ...hello, ...request } as ModelRequest, { ...wire, betas }).params as { betas?: unknown })
    .betas;

describe("messageCall and onlySupported", () => {
  it("messageCall sends any request unchanged and only adds the model, streaming and an output limit", () => {
    fc.assert(
      fc.property(
        arbitraryRequest(),
        fc.dictionary(fc.constantFrom("metadata", "brand_new"), fc.jsonValue()),
        (request, more) => {
          const given = deepFreeze({ ...request, ...more }) as ModelRequest;
          const { params, changes } = messageCall(given, wire);
          const { betas: _, ...sent } = params as unknown as AnyFields;
          expect(sent).toEqual({ max_tokens: 128_000, ...given, model: MODEL, stream: true });
          expect(params.messages).toBe(given.messages);
          expect(changes).toEqual([]);
        },
      ),
    );
  });

  it("onlySupported returns the same request object for a model that supports everything", () => {
    const able = { ...anthropicCapabilities(MODEL), cacheEdits: true };
    fc.assert(
      fc.property(arbitraryRequest(), (request) => {
        const given = request as ModelRequest;
        expect(onlySupported(given, able, MODEL)).toEqual({ request: given, changes: [] });
        expect(onlySupported(given, able, MODEL).request).toBe(given);
      }),
    );
  });

  it("removes sampling fields, which the newer API version does not have, and reports each of them", () => {
    const { params, changes } = messageCall({ ...hello, temperature: 1, top_p: 1 } as ModelRequest, wire);
    expect(params).not.toHaveProperty("temperature");
    expect(changes).toEqual([
      { type: "not-supported", what: "temperature" },
      { type: "not-supported", what: "top_p" },
    ]);
  });

  it("keeps the output limit that the request already has, even 0", () => {
    expect(messageCall({ ...hello, max_tokens: 0 }, wire).params).toMatchObject({ max_tokens: 0 });
  });
});

type AnyFields = Readonly<Record<string, unknown>> & { readonly messages: readonly unknown[] };

describe("beta names that a request sends", () => {
  const summary = (fields: object): object => ({
    messages: [{ role: "assistant", content: [{ type: "compaction", content: "So far.", ...fields }] }],
  });
  const edits = (...types: readonly string[]): object => ({
    context_management: { edits: types.map((type) => ({ type })) },
  });

  it.each<readonly [string, object, readonly string[] | undefined]>([
    ["no beta for a plain request", {}, undefined],
    ["one beta for context edits", edits("clear_tool_uses_20250919"), ["context-management-2025-06-27"]],
    ["one beta for compaction at a threshold", edits("compact_20260112"), ["compact-2026-01-12"]],
    [
      "both betas for context edits with compaction at a threshold",
      edits("clear_thinking_20251015", "compact_20260112"),
      ["context-management-2025-06-27", "compact-2026-01-12"],
    ],
    ["one beta for a summary on demand", { compaction: { type: "summarize" } }, ["compact-2026-09-04"]],
    ["the on-demand beta for a signed compaction block", summary({ signature: "s" }), ["compact-2026-09-04"]],
    [
      "the threshold beta for an unsigned compaction block",
      summary({ encrypted_content: "e" }),
      ["compact-2026-01-12"],
    ],
    [
      "only the threshold beta for a threshold edit with a signed block",
      { ...summary({ signature: "s" }), ...edits("compact_20260112") },
      ["compact-2026-01-12"],
    ],
    [
      "one beta for controls of bound thinking",
      { thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } } },
      ["thinking-binding-controls-2026-08-01"],
    ],
    [
      "one beta for a task budget",
      { output_config: { task_budget: { type: "tokens", total: 9 } } },
      ["task-budgets-2026-03-13"],
    ],
    [
      "one beta for tool changes in mid-conversation",
      { messages: [{ role: "system", content: [{ type: "tool_removal", tool: {} }] }] },
      ["mid-conversation-tool-changes-2026-07-01"],
    ],
    [
      "one beta for system messages that are cleared",
      { messages: [{ role: "system", content: "x", clear_at: "next_user_message" }] },
      ["mid-conversation-system-clear-at-2026-08-21"],
    ],
  ])("sends %s", (_, request, expected) => expect(betasOf(request)).toEqual(expected));

  it("sends each beta name only once, whether the caller asks for it or the request needs it", () => {
    const request = { ...edits("clear_tool_uses_20250919"), betas: ["mine-2026"] };
    expect(betasOf(request, ["context-management-2025-06-27", "yours-2026"])).toEqual([
      "context-management-2025-06-27",
      "yours-2026",
      "mine-2026",
    ]);
  });
});

describe("features that a model does not support", () => {
  const unable = {
    promptCache: false,
    cacheEdits: false,
    contextEdits: false,
    compaction: { onDemand: false, threshold: false },
    images: false,
  };
  const capabilities = anthropicCapabilities("qwen3-coder", unable);
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "eA==" } } as const;
  const mark = { type: "ephemeral" } as const;
  const given: ModelRequest = deepFreeze({
    system: [{ type: "text", text: "Be kind.", cache_control: mark }],
    tools: [{ name: "look", input_schema: { type: "object" }, cache_control: mark }],
    messages: [
      { role: "assistant", content: [{ type: "compaction", content: "So far.", signature: "s" } as never] },
      { role: "user", content: [image, { type: "text", text: "What is it?", cache_control: mark }] },
      { role: "assistant", content: [{ type: "compaction", content: null } as never] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "t", content: [image], cache_control: mark }],
      },
    ],
    context_management: { edits: [{ type: "clear_tool_uses_20250919" }, { type: "compact_20260112" }] },
    compaction: { type: "summarize" },
    cache_edits: [{ type: "delete_tool_result", tool_use_id: "t" }],
  });

  it("sends disabled thinking only to a model that can stop thinking", () => {
    const quiet: ModelRequest = { ...hello, thinking: { type: "disabled" } };
    const sentTo = (model: string) => onlySupported(quiet, anthropicCapabilities(model), model);
    expect(sentTo("claude-opus-4-6").request).toBe(quiet);
    expect(sentTo("qwen3-coder").request).toBe(quiet);
    for (const model of ["claude-fable-5-1", "claude-mythos-preview"])
      expect(sentTo(model)).toEqual({
        request: hello,
        changes: [{ type: "not-supported", what: "thinking: disabled" }],
      });
  });

  it("leaves out unsupported features or sends them as text, and reports each change", () => {
    const { request, changes } = onlySupported(given, capabilities, "qwen3-coder");
    const mention = { type: "text", text: "[image]" };
    expect(request).toEqual({
      system: [{ type: "text", text: "Be kind." }],
      tools: [{ name: "look", input_schema: { type: "object" } }],
      messages: [
        { role: "assistant", content: [{ type: "text", text: "So far." }] },
        { role: "user", content: [mention, { type: "text", text: "What is it?" }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [mention] }] },
      ],
    });
    expect(changes.map((change) => change.type === "not-supported" && change.what)).toEqual([
      "cache_control",
      "cache_edits",
      "compaction",
      "a compaction block, sent as text",
      "context_management: compaction",
      "context_management",
      "an image, replaced by the text [image]",
    ]);
  });

  it("removes only the context edits that the model does not support", () => {
    const half = { ...anthropicCapabilities(MODEL), contextEdits: false };
    expect(onlySupported(given, half, "qwen3-coder").request.context_management).toEqual({
      edits: [{ type: "compact_20260112" }],
    });
  });

  it("removes cache marks from any request, even a malformed one, and keeps all its messages", () => {
    fc.assert(
      fc.property(arbitraryRequest(), (request) => {
        const { messages } = onlySupported(deepFreeze(request) as ModelRequest, capabilities, MODEL).request;
        expect(JSON.stringify(messages)).not.toContain("cache_control");
        expect(messages).toHaveLength(request.messages.length);
      }),
    );
  });

  it("derives the capabilities of a model from its name", () => {
    expect(anthropicCapabilities("claude-opus-5-5")).toMatchObject({
      boundThinking: true,
      contextEdits: true,
    });
    expect(anthropicCapabilities("claude-haiku-4-5")).toMatchObject({
      compaction: { onDemand: false, threshold: false },
      boundThinking: false,
    });
    expect(anthropicCapabilities("glm-4.6")).toMatchObject({ contextEdits: false, countTokens: "estimate" });
  });
});
