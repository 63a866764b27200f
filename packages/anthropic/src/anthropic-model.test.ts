import Anthropic from "@anthropic-ai/sdk";
import { modelContract } from "@longhaul/simulator";
import AnthropicBefore1 from "anthropic-sdk-0";
import { describe, expect, it } from "vitest";
import { ANTHROPIC_WIRES } from "../../../test/wire/anthropic/wires.ts";
import { anthropicModel } from "./anthropic-model.ts";
import type { AnthropicClient } from "./client.ts";

const MODEL = "claude-opus-4-6";

type MakeClient = (baseURL: string) => AnthropicClient;

/** Clients of both SDK versions. The compiler checks that both classes fit `AnthropicClient`. */
const CLIENTS: readonly (readonly [line: string, make: MakeClient])[] = [
  ["1.x", (baseURL) => new Anthropic({ baseURL, apiKey: "key" })],
  ["0.x", (baseURL) => new AnthropicBefore1({ baseURL, apiKey: "key" })],
];

describe.each(CLIENTS)("anthropicModel with SDK version %s", (line, makeClient) => {
  const cases = modelContract({
    name: `anthropic ${line}`,
    wires: ANTHROPIC_WIRES,
    connect: (baseUrl) => anthropicModel({ model: MODEL, client: makeClient(baseUrl) }),
    failures: {
      refused: {
        failure: { kind: "refused", category: "cyber" },
        retryHelps: false,
        partial: [{ type: "text", text: "I read the table." }],
      },
    },
    countedTokens: 431,
  });
  it.each(cases.map(({ title, run }) => [title, run] as const))("%s", (_, run) => run());
  it("the model contract for the Anthropic SDK has at least 30 test cases", () =>
    expect(cases.length).toBeGreaterThanOrEqual(30));
});
