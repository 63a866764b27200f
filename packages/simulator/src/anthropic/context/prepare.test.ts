import type { ApiMessage } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { BETAS } from "../wording/betas.ts";
import {
  asked,
  type CallOptions,
  CONTROLS,
  FORGETFUL,
  newTalk,
  reparsed,
  result,
  said,
  TestProvider,
  thought,
  used,
  withMessages,
  withTurns,
} from "./talk.case.ts";

const EDITING: CallOptions = { betas: [BETAS.contextManagement, ...CONTROLS] };
const EDITS = {
  context_management: {
    edits: [
      {
        type: "clear_tool_uses_20250919",
        trigger: { type: "tool_uses", value: 1 },
        keep: { type: "tool_uses", value: 0 },
      },
    ],
  },
};

describe("prepareContext, which prepares a request for the model", () => {
  it("prepareContext does not change an ordinary request and builds its prompt once", () => {
    const provider = new TestProvider();
    const talk = withTurns(provider, newTalk(), 2);
    provider.builds.length = 0;
    const prepared = provider.call(talk);
    expect(prepared.conversation.messages).toBe(talk.messages);
    expect(prepared.tokens).toBe(prepared.originalTokens);
    expect(prepared.prompt.tokens).toBe(prepared.tokens);
    expect(provider.builds).toHaveLength(1);
    expect(prepared).toMatchObject({ appliedEdits: [], reportsIterations: false });
    expect(prepared.inputTransformations).toBeUndefined();
  });

  it("inputTransformations is empty if the request has the thinkingBinding beta and no thinking was transformed", () => {
    expect(
      new TestProvider().call(withMessages(newTalk(), [asked("a")]), { betas: CONTROLS })
        .inputTransformations,
    ).toEqual([]);
  });

  it("checks thinking against the messages as the client sent them, not against the edited messages", () => {
    const provider = new TestProvider();
    const options = EDITING;
    const opening = { ...withMessages(newTalk(), [asked("read two")]), ...EDITS };
    const calls = provider.reply(opening, [thought("both"), used("a"), used("b")], options);
    const results = [result("a", "x".repeat(500)), result("b", "y".repeat(500))];
    const messages: readonly ApiMessage[] = [
      ...opening.messages,
      { role: "assistant", content: calls },
      { role: "user", content: results },
    ];
    const talk = withMessages(opening, messages);
    const answer = provider.reply(talk, [thought("cleared"), said("done")], options);
    const next = withMessages(talk, [...messages, { role: "assistant", content: answer }, asked("thanks")]);
    const prepared = provider.call(next, options);
    expect(prepared.appliedEdits).toMatchObject([{ cleared_tool_uses: 2 }]);
    expect(prepared.inputTransformations).toEqual([]);
  });

  it("applies context edits before it compares a request with the context window", () => {
    const provider = new TestProvider();
    const talk = withTurns(provider, newTalk(), 1);
    const content = [{ type: "tool_result", tool_use_id: "toolu_0_0", content: "x".repeat(5_000) }] as const;
    const messages = talk.messages.slice(0, 2);
    const large = withMessages(talk, [...messages, { role: "user", content }]);
    const options: CallOptions = { ...EDITING, windowTokens: 4_000 };
    const trigger = { type: "input_tokens", value: 100 };
    const edits = [{ ...EDITS.context_management.edits[0], trigger }];
    const prepared = provider.call({ ...large, context_management: { edits } }, options);
    expect(prepared.appliedEdits).toMatchObject([{ type: "clear_tool_uses_20250919", cleared_tool_uses: 1 }]);
    expect(prepared.tokens).toBeLessThan(4_000);
    const { originalTokens } = prepared;
    expect(originalTokens).toBe(provider.call(large, { endpoint: "count_tokens" }).tokens);
    expect(provider.refusal(large, options).message).toBe(
      `prompt is too long: ${originalTokens} tokens > 4000 maximum`,
    );
  });

  it("accepts a request whose input plus max_tokens exceeds the window only if the model can stop at the window", () => {
    const provider = new TestProvider();
    const talk = withMessages(newTalk(), [asked("hello")]);
    const { tokens } = provider.call(talk);
    const options: CallOptions = { windowTokens: tokens + 50 };
    expect(provider.call(talk, options).tokens).toBe(tokens);
    const old = { ...talk, model: "claude-opus-4-1" };
    expect(provider.refusal(old, options).message).toBe(
      `input length and \`max_tokens\` exceed context limit: ${tokens} + 100 > ${tokens + 50}, decrease input length or \`max_tokens\` and try again`,
    );
    expect(provider.call(old, { ...options, betas: [BETAS.stopAtWindow] }).tokens).toBe(tokens);
    expect(provider.call(old, { windowTokens: tokens + 100 }).tokens).toBe(tokens);
  });

  it("count_tokens accepts a request that is longer than the window", () => {
    const provider = new TestProvider();
    const talk = withMessages(newTalk(), [asked("x".repeat(500))]);
    expect(provider.call(talk, { endpoint: "count_tokens", windowTokens: 100 }).tokens).toBeGreaterThan(500);
  });

  it("removes the thinking of earlier turns on older models before it counts the tokens", () => {
    const provider = new TestProvider();
    const talk = withTurns(provider, newTalk(FORGETFUL), 2);
    const prepared = provider.call(talk);
    expect(JSON.stringify(prepared.conversation.messages)).not.toContain('"thinking"');
    expect(prepared.tokens).toBe(prepared.originalTokens);
  });

  it("prepareContext never changes the request object", () => {
    const provider = new TestProvider();
    const talk = deepFreeze(reparsed({ ...withTurns(provider, newTalk(), 3), ...EDITS }));
    provider.call(talk, EDITING);
    const drops = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } };
    const changed = deepFreeze({ ...talk, system: "other", thinking: drops });
    expect(provider.call(changed, EDITING).inputTransformations).toHaveLength(6);
  });
});
