import { describe, expect, it } from "vitest";
import { PICTURE_DATA } from "../../../../test/soak/texts.ts";
import { createCompactor } from "../../../../test/support/full-compactor.ts";
import type { ApiMessage, ContentBlock } from "../messages/message.ts";
import type { CompactorEvent } from "./events.ts";

const PICTURE: ContentBlock = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: PICTURE_DATA },
};

/** Runs two turns. The usage report of the first turn is this share of its token count. */
async function countAfter(modelName: string, first: ApiMessage, share: number) {
  const events: CompactorEvent[] = [];
  const compactor = createCompactor({
    model: modelName,
    request: { system: "You are careful.", max_tokens: 1_000 },
    settings: { environment: {} },
    host: { onEvent: (event) => events.push(event) },
  });
  const { tokens } = await compactor.before([first]);
  compactor.after({ id: "msg_1", usage: { input_tokens: Math.round(tokens * share), output_tokens: 5 } });
  const reply: ApiMessage = { role: "assistant", content: "Done." };
  const next = await compactor.before([first, reply, { role: "user", content: "Next." }]);
  return { before: tokens, after: next.tokens, events };
}

describe("safe lower bound of a token count", () => {
  it("the lower bound of a token count includes images by their area", async () => {
    const content = [{ type: "text", text: "Look." } as const, PICTURE, PICTURE, PICTURE, PICTURE];
    const { after, events } = await countAfter("claude-haiku-4-5", { role: "user", content }, 0.1);
    expect(after).toBeGreaterThanOrEqual(6_000);
    expect(events).toContainEqual(expect.objectContaining({ type: "usage-distrusted", why: "too-low" }));
  });

  it("the lower bound of a token count is higher for newer models, which need more tokens for the same text", async () => {
    const message: ApiMessage = { role: "user", content: "The tide table of the harbor. ".repeat(4_000) };
    const trusted = await countAfter("claude-haiku-4-5", message, 0.6);
    expect(trusted.events.some(({ type }) => type === "usage-distrusted")).toBe(false);
    const { events } = await countAfter("claude-opus-5", message, 0.6);
    expect(events).toContainEqual(expect.objectContaining({ type: "usage-distrusted", why: "too-low" }));
  });
});
