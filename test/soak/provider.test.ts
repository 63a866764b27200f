import { complete } from "@longhaul/core";
import { coder } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { Provider } from "./provider.ts";
import { VirtualTime } from "./virtual-time.ts";

const MODEL = "claude-opus-5-5";
const WINDOW = 20_000;

async function refusalOf(words: number): Promise<string | undefined> {
  const provider = await Provider.open({
    windowTokens: WINDOW,
    seed: 1,
    clock: new VirtualTime(),
    countText: (text) => text.split(" ").length,
    behaviors: [coder({ turns: 1 })],
    latency: { firstByteMs: 0, betweenEventsMs: 0 },
  });
  const message = `prompt is too long: 21000 tokens > ${WINDOW} maximum`;
  provider.fail({ kind: "status", status: 400, type: "invalid_request_error", message });
  const content = Array.from({ length: words }, () => "word").join(" ");
  const request = { messages: [{ role: "user" as const, content }], max_tokens: 100 };
  await complete(provider.model(MODEL, "main"), request).catch(() => undefined);
  return provider.requests[0]?.error?.message;
}

describe("an overflow error that the soak run injects", () => {
  it("an injected overflow error applies to a prompt with fewer tokens than the error states", async () => {
    expect(await refusalOf(10)).toContain("21000 tokens");
  });

  it("an injected overflow error does not apply to a larger prompt, and the provider states the true size", async () => {
    expect(await refusalOf(40_000)).toMatch(/prompt is too long: [4-9]\d{4} tokens/);
  });
});
