import Anthropic from "@anthropic-ai/sdk";
import type { Model, ModelEvent, ModelReply, ModelRequest } from "@longhaul/core/models";
import { complete } from "@longhaul/core/models";
import type { WireAnswer } from "@longhaul/simulator";
import AnthropicBefore1 from "anthropic-sdk-0";
import { describe, expect, it } from "vitest";
import { ANTHROPIC_WIRES, anthropicWire } from "../../../test/wire/anthropic/wires.ts";
import { type ReceivedRequest, serveWires } from "../../simulator/src/contract/wire-server.ts";
import { type AnthropicModelOptions, anthropicModel } from "./anthropic-model.ts";
import type { AnthropicClient } from "./client.ts";

const request: ModelRequest = {
  max_tokens: 64,
  messages: [{ role: "user", content: "When is high water?" }],
};

type MakeClient = (baseURL: string) => AnthropicClient;
const newest: MakeClient = (baseURL) => new Anthropic({ baseURL, apiKey: "key" });
const before1: MakeClient = (baseURL) => new AnthropicBefore1({ baseURL, apiKey: "key" });

interface Served {
  readonly model: Model;
  readonly requests: readonly ReceivedRequest[];
}

async function served<T>(
  answers: readonly WireAnswer[],
  work: (served: Served) => Promise<T>,
  options: Partial<AnthropicModelOptions> = {},
  makeClient: MakeClient = newest,
): Promise<T> {
  const server = await serveWires(answers);
  try {
    const model = anthropicModel({
      model: "claude-opus-4-6",
      client: makeClient(server.baseUrl),
      ...options,
    });
    return await work({ model, requests: server.requests });
  } finally {
    await server.close();
  }
}

const reply = (file: string): Promise<ModelReply> =>
  served([anthropicWire(file)], ({ model }) => complete(model, request));

const failure = (file: string, answer: Omit<WireAnswer, "body">): Promise<unknown> =>
  served([anthropicWire(file, answer)], async ({ model }) =>
    complete(model, request).then(
      () => undefined,
      (error: unknown) => error,
    ),
  );

describe("answers of the Messages API", () => {
  it("reads a requested summary as one block, and its cost from the iterations of the usage", async () => {
    const { content, stopReason, usage } = await reply("compaction-on-demand.sse");
    expect(content).toEqual([
      {
        type: "compaction",
        content: "The gate opens at six; the tables are in tides.csv.",
        encrypted_content: null,
        signature: "c3VtbWFyeS1zaWduZWQ=",
      },
    ]);
    expect(stopReason).toBe("compaction");
    expect(usage).toMatchObject({ input_tokens: 0, output_tokens: 0 });
    expect(usage.iterations).toMatchObject([{ type: "compaction", input_tokens: 9_120, output_tokens: 214 }]);
  });

  it("reads a summary from a single delta when the provider writes it at a threshold", async () => {
    const { content, usage } = await reply("compaction-at-threshold.sse");
    expect(content).toEqual([
      { type: "compaction", content: "The gate opens at six.", encrypted_content: "ZW5jcnlwdGVk" },
      { type: "text", text: "I go on." },
    ]);
    expect(usage.iterations?.map(({ type }) => type)).toEqual(["compaction", "message"]);
  });

  it("keeps server tool calls, their results, citations and unknown blocks", async () => {
    const { content, stopReason, appliedEdits } = await reply("server-tool.sse");
    expect(content).toMatchObject([
      { type: "server_tool_use", id: "srvtoolu_1", input: { query: "tides" } },
      { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [{ title: "Tides" }] },
      { type: "text", text: "High water at 05:48.", citations: [{ cited_text: "05:48" }] },
      { type: "hologram", frames: [1, 2] },
    ]);
    expect(stopReason).toBe("pause_turn");
    expect(appliedEdits).toEqual([
      { type: "clear_tool_uses_20250919", cleared_tool_uses: 8, cleared_input_tokens: 50_000 },
    ]);
  });

  it.each([
    ["1.x", newest],
    ["0.x", before1],
  ])("reports a ping as keep-alive, although SDK version %s hides it", async (_, makeClient) => {
    const collect = async ({ model }: Served): Promise<readonly ModelEvent[]> => {
      const events: ModelEvent[] = [];
      for await (const event of model.stream(request)) events.push(event);
      return events;
    };
    const events = await served([ANTHROPIC_WIRES.text], collect, {}, makeClient);
    expect(events.filter(({ type }) => type === "keep-alive")).toHaveLength(1);
    expect(events.at(-1)?.type).toBe("end");
  });

  it("reports a spend limit as a failure that a retry cannot fix", async () => {
    expect(await failure("spend-limit.body", { status: 429 })).toMatchObject({
      failure: { kind: "other", retry: false },
      providerCode: "enforced_spend_limit_reached",
    });
  });

  it("reports an overflow when the input and the output limit together exceed the window", async () => {
    expect(await failure("too-long-with-output.body", { status: 400 })).toMatchObject({
      failure: { kind: "too-long", tokens: 188_240 + 21_333, limit: 200_000 },
      status: 400,
      requestId: "req_01Harbour",
      remedy: expect.stringContaining("Compact"),
    });
  });

  it("reports a key without permission as an authentication failure", async () => {
    expect(await failure("permission.body", { status: 403 })).toMatchObject({
      failure: { kind: "authentication" },
      remedy: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
  });
});

describe("requests that the Anthropic SDK sends", () => {
  it("both SDK versions send the same body, each with its own API version", async () => {
    const send = (makeClient: MakeClient): Promise<ReceivedRequest | undefined> =>
      served(
        [ANTHROPIC_WIRES.text],
        async ({ model, requests }) => {
          await complete(model, {
            ...request,
            context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
          });
          return requests[0];
        },
        {},
        makeClient,
      );
    const [now, before] = [await send(newest), await send(before1)];
    expect(now?.body).toEqual(before?.body);
    expect(now?.headers["anthropic-version"]).toBe("2026-10-21");
    expect(before?.headers["anthropic-version"]).toBe("2023-06-01");
    expect(now?.headers["anthropic-beta"]).toBe("context-management-2025-06-27");
  });

  it("sends the API version that the caller sets", async () => {
    await served(
      [ANTHROPIC_WIRES.text],
      async ({ model, requests }) => {
        const { changes } = await complete(model, { ...request, temperature: 0.2 } as ModelRequest);
        expect(changes).toEqual([]);
        expect(requests[0]?.headers["anthropic-version"]).toBe("2023-06-01");
        expect(requests[0]?.body).toMatchObject({ temperature: 0.2 });
      },
      { apiVersion: "2023-06-01" },
    );
  });

  it("omits fields that token counting rejects, and estimates the count for a model without token counting", async () => {
    const full = {
      ...request,
      metadata: { user_id: "u" },
      stop_sequences: ["."],
      compaction: { type: "summarize" },
    };
    await served([ANTHROPIC_WIRES["count-tokens"]], async ({ model, requests }) => {
      expect(await model.countTokens(full as ModelRequest)).toEqual({ tokens: 431, source: "exact" });
      expect(requests[0]?.path).toContain("/v1/messages/count_tokens");
      expect(requests[0]?.body).toEqual({ model: "claude-opus-4-6", messages: request.messages });
    });
    await served(
      [ANTHROPIC_WIRES["count-tokens"]],
      async ({ model, requests }) => {
        expect((await model.countTokens(request)).source).toBe("estimate");
        expect(requests).toEqual([]);
      },
      { model: "qwen3-coder" },
    );
  });
});

describe("thinking that the API rejects", () => {
  const refusal = anthropicWire("thinking-mismatch.body", { status: 400 });
  const thought = (signature: string): object => ({ type: "thinking", thinking: "Hm.", signature });
  const history = (...signatures: readonly string[]): ModelRequest =>
    ({
      max_tokens: 64,
      messages: signatures
        .flatMap((signature) => [
          { role: "user", content: "Go on." },
          { role: "assistant", content: [thought(signature), { type: "text", text: "Done." }] },
        ])
        .concat([{ role: "user", content: "And now?" }]),
    }) as ModelRequest;
  const sentSignatures = (received: ReceivedRequest | undefined): readonly string[] =>
    JSON.stringify(received?.body).match(/(?<="signature":")[^"]+/g) ?? [];
  const bound = { model: "claude-opus-5-5" };

  it("leaves rejected thinking out of the repeated call and of later calls, and keeps newer thinking", async () => {
    await served(
      [refusal, ANTHROPIC_WIRES.text],
      async ({ model, requests }) => {
        const { changes } = await complete(model, history("a", "b"));
        expect(changes).toEqual([
          { type: "thinking-left-out", blocks: 2, reason: "refused because it belongs to another history" },
        ]);
        expect(requests.map(sentSignatures)).toEqual([["a", "b"], []]);
        const later = await complete(model, history("a", "b", "c"));
        expect(later.changes).toMatchObject([{ type: "thinking-left-out", blocks: 2 }]);
        expect(requests.map(sentSignatures).at(-1)).toEqual(["c"]);
        expect(requests).toHaveLength(3);
      },
      bound,
    );
  });

  it("reports a thinking mismatch when the call without the rejected thinking fails too", async () => {
    await served(
      [refusal],
      async ({ model, requests }) => {
        await expect(complete(model, history("a"))).rejects.toMatchObject({
          code: "model-thinking-mismatch",
        });
        expect(requests).toHaveLength(2);
        await expect(complete(model, history())).rejects.toMatchObject({ code: "model-thinking-mismatch" });
        expect(requests).toHaveLength(3);
      },
      bound,
    );
  });

  it("onThinkingMismatch fail reports rejected thinking after a single call", async () => {
    await served(
      [refusal],
      async ({ model, requests }) => {
        await expect(complete(model, history("a"))).rejects.toMatchObject({
          code: "model-thinking-mismatch",
        });
        expect(requests).toHaveLength(1);
      },
      { ...bound, onThinkingMismatch: "fail" },
    );
  });

  it("onThinkingMismatch drop-block asks the provider to drop mismatched thinking and sends the beta name", async () => {
    await served(
      [ANTHROPIC_WIRES.text],
      async ({ model, requests }) => {
        await complete(model, history("a"));
        expect(requests[0]?.body).toMatchObject({
          thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
        });
        expect(requests[0]?.headers["anthropic-beta"]).toContain("thinking-binding-controls-2026-08-01");
        expect(sentSignatures(requests[0])).toEqual(["a"]);
      },
      { ...bound, onThinkingMismatch: "drop-block" },
    );
  });

  it("token counting leaves out the thinking that the API rejected", async () => {
    await served(
      [refusal, ANTHROPIC_WIRES["count-tokens"]],
      async ({ model, requests }) => {
        expect(await model.countTokens(history("a"))).toEqual({ tokens: 431, source: "exact" });
        expect(requests.map(sentSignatures)).toEqual([["a"], []]);
      },
      bound,
    );
  });
});
