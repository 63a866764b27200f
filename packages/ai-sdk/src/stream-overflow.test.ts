import type { WireAnswer } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { compatible, type MakeModel, RICH, responses, send } from "../../../test/wire/ai-sdk-providers.ts";
import { wireOf } from "../../../test/wire/folder.ts";

/** Returns a stream that starts a reply and then breaks off with this event. */
function endingWith(wire: WireAnswer, event: unknown): WireAnswer {
  return { ...wire, body: `${wire.body}data: ${JSON.stringify(event)}\n\n` };
}

const exceeded = {
  code: "context_length_exceeded",
  message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
};

describe("an overflow reported in a stream with status 200", () => {
  it.each<readonly [string, MakeModel, WireAnswer]>([
    ["OpenAI, an error event", responses, wireOf("openai", "too-long-in-stream")],
    ["OpenAI, a failed response", responses, wireOf("openai", "too-long-response-failed")],
    [
      "OpenAI, an error event after some text",
      responses,
      endingWith(wireOf("openai", "hang"), { type: "error", sequence_number: 9, ...exceeded, param: null }),
    ],
    [
      "a compatible server",
      compatible,
      endingWith(wireOf("openai-compatible", "hang"), {
        error: { ...exceeded, type: "invalid_request_error" },
      }),
    ],
  ])("recognizes an overflow in a stream with status 200: %s", async (_, make, wire) => {
    await expect(send(make, RICH, wire)).rejects.toMatchObject({ failure: { kind: "too-long" } });
  });

  it("reads the token count and the limit from an overflow that a server reports in the stream", async () => {
    const error = {
      message: "request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it",
      type: "exceed_context_size_error",
    };
    const wire = endingWith(wireOf("openai-compatible", "hang"), { error });
    await expect(send(compatible, RICH, wire)).rejects.toMatchObject({
      failure: { kind: "too-long", tokens: 14_429, limit: 8_192 },
    });
  });
});
