import { scriptedModel } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { toolResult, toolUse } from "../../../../test/support/builders.ts";
import { type Compactor, createCompactor } from "../../../../test/support/full-compactor.ts";
import type { ApiMessage } from "../messages/message.ts";
import type { Turn } from "./options.ts";

const WINDOW_TOKENS = 20_000;

const round = (words: number, ...ids: readonly string[]): readonly ApiMessage[] => [
  { role: "assistant", content: ids.map((id) => toolUse(id, "Read", { file_path: `/project/${id}.ts` })) },
  { role: "user", content: ids.map((id) => toolResult(id, `${id} tide `.repeat(words))) },
];

const open = (form: "api" | "off", windowTokens: number = WINDOW_TOKENS): Compactor =>
  createCompactor({
    model: scriptedModel([], { name: "claude-sonnet-5-5", capabilities: { contextEdits: true } }),
    window: { tokens: windowTokens },
    request: { system: "You are careful.", max_tokens: 1_000 },
    compaction: { summarizer: "built-in", reactiveOnly: true },
    clearing: { form },
    settings: { environment: {} },
  });

/** Creates four rounds. The provider clears the first result and keeps the other three. */
const old = (words: number): readonly ApiMessage[] => [
  ...round(words, "old0"),
  ...[1, 2, 3].flatMap((at) => round(30, `old${at}`)),
];
const UNSEEN = round(1_200, "new0", "new1", "new2", "new3", "new4", "new5", "new6", "new7");
const ASKED: ApiMessage = { role: "user", content: "Look." };

async function recoverFrom(compactor: Compactor, stated: number): Promise<Turn | undefined> {
  const message = `prompt is too long: ${stated} tokens > ${WINDOW_TOKENS} maximum`;
  const error = { status: 400, error: { error: { type: "invalid_request_error", message } } };
  return await compactor.recover(Object.assign(new Error(message), error));
}

describe("an overflow of a request in which the provider clears old tool results", () => {
  it("recovers with a request that fits, even if the error states the size after the provider's clearing", async () => {
    const compactor = open("api");
    const { tokens, request, thresholds } = await compactor.before([ASKED, ...old(12_000), ...UNSEEN]);
    expect(request.context_management?.edits).toMatchObject([{ type: "clear_tool_uses_20250919" }]);
    const { tokens: stated } = await open("off").before([ASKED, ...old(2), ...UNSEEN]);
    expect(stated).toBeGreaterThan(WINDOW_TOKENS);
    expect(stated).toBeLessThan(tokens * 0.7);
    const recovered = await recoverFrom(compactor, stated);
    expect(recovered?.tokens).toBeLessThan(thresholds.blocking);
  });

  it("the recovery is the same as without clearing if the provider cleared nothing and the error states our count", async () => {
    // The provider clears at least 8,000 tokens or nothing. The first result has slightly more than 8,000
    // tokens by our count, but fewer by the provider's count.
    const list = [ASKED, ...old(1_900), ...UNSEEN];
    const [api, off] = [open("api"), open("off")];
    const { tokens } = await api.before(list);
    await off.before(list);
    const [recovered, usual] = [await recoverFrom(api, tokens), await recoverFrom(off, tokens)];
    expect(recovered?.tokens).toBe(usual?.tokens);
  });

  it("the recovery is the same as without clearing if the window is so large that the provider clears nothing", async () => {
    const list = [ASKED, ...old(4_000), ...UNSEEN];
    const [api, off] = [open("api", 200_000), open("off", 200_000)];
    const { tokens } = await api.before(list);
    await off.before(list);
    const [recovered, usual] = [await recoverFrom(api, tokens), await recoverFrom(off, tokens)];
    expect(recovered?.tokens).toBe(usual?.tokens);
  });
});
