import Anthropic from "@anthropic-ai/sdk";
import { modelContract } from "@longhaul/simulator";
import AnthropicBefore1 from "anthropic-sdk-0";
import { describe, expect, it } from "vitest";
import { ANTHROPIC_WIRES } from "../../../test/wire/anthropic/wires.ts";
import { anthropicModel } from "./anthropic-model.ts";
import type { AnthropicClient } from "./client.ts";

const MODEL = "claude-opus-4-6";

type MakeClient = (baseURL: string) => AnthropicClient;

/** The compiler checks here that both client classes fit `AnthropicClient`. */
const CLIENTS: readonly (readonly [line: string, make: MakeClient])[] = [
  ["1.x", (baseURL) => new Anthropic({ baseURL, apiKey: "key" })],
  ["0.x", (baseURL) => new AnthropicBefore1({ baseURL, apiKey: "key" })],
];

describe.each(CLIENTS)("the Anthropic adapter with the SDK's %s line", (line, makeClient) => {
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
  it.each(cases)("$title", ({ run }) => run());
  it("has a case for every promise", () => expect(cases.length).toBeGreaterThanOrEqual(30));
});
