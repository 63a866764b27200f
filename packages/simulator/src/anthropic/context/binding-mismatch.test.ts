import type { ContentBlock } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import {
  asked,
  BINDING,
  type CallOptions,
  CONTROLS,
  drops,
  edited,
  failing,
  newTalk,
  OTHER_BINDING,
  said,
  started,
  type Talk,
  TestProvider,
  thought,
  UNBOUND,
  withMessages,
  withoutThinking,
  withTurns,
} from "./talk.case.ts";

const BOUND_TEXT =
  'Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';
const DROP: CallOptions = { betas: CONTROLS };
describe("a thinking block that is sent back in a changed conversation", () => {
  it("refuses thinking in a changed conversation, and names the block, the beta that helps, and the change", () => {
    const { provider, talk } = started();
    const { status, type, message } = provider.refusal({ ...talk, system: "Be long." });
    expect([status, type]).toEqual([400, "invalid_request_error"]);
    expect(message).toBe(
      `messages.1.content.0: ${BOUND_TEXT} That setting requires the \`thinking-binding-controls-2026-08-01\` value in the \`anthropic-beta\` header. The \`system\` prompt differs from when this block was created.`,
    );
    expect(provider.refusal({ ...talk, system: "Be long." }, DROP).message).toBe(
      `messages.1.content.0: ${BOUND_TEXT} The \`system\` prompt differs from when this block was created.`,
    );
  });

  it("the refusal of a thinking block says what changed in the conversation", () => {
    const { provider, talk } = started();
    const named = (changed: Talk): string =>
      provider.refusal(changed, DROP).message.split('"drop_block". ')[1] ?? "";
    expect(named({ ...talk, tools: [] })).toContain("`tools` list differs");
    expect(named(withoutThinking(talk, (number) => number === 2))).toBe(
      "The `thinking` block that preceded this one when it was created is missing from this request.",
    );
    expect(named(withMessages(talk, talk.messages.slice(4)))).toContain("is missing from this request");
    expect(
      named(
        withMessages(talk, [asked("before"), { role: "assistant", content: [said("ok")] }, ...talk.messages]),
      ),
    ).toContain("was added");
    expect(named(edited(talk, 0, () => asked("other")))).toBe(
      "A message older than `messages.1.content.0` differs from when this block was created.",
    );
  });

  it("drops thinking that does not match its conversation if the request asks for that", () => {
    const { provider, talk } = started();
    const changed = drops(edited(talk, 0, () => asked("other")));
    const prepared = provider.call(changed, DROP);
    const kinds = prepared.conversation.messages.flatMap(({ content }) =>
      typeof content === "string" ? [] : content.map(({ type }) => type),
    );
    expect(kinds).not.toContain("thinking");
    expect(prepared.inputTransformations?.[0]).toEqual({
      type: "thinking_dropped",
      path: "messages.1.content.0",
      reason: "prefix_binding_mismatch",
    });
    const longer = withTurns(provider, changed as Talk, 1, DROP);
    const dropped = provider.call(longer, DROP).inputTransformations ?? [];
    expect(dropped).toHaveLength(6);
    expect(dropped.map(({ path }) => path)).not.toContain(`messages.${talk.messages.length + 1}.content.0`);
  });

  it("drops a thinking block that directly follows a dropped thinking block", () => {
    const provider = new TestProvider();
    const opening = withMessages(newTalk(), [asked("hello")]);
    const content = provider.reply(opening, [thought("one"), said("so"), thought("two"), said("x")]);
    const foreign = { ...thought("three"), signature: "ErUBCkYIBRgC" } as ContentBlock;
    const mixed = [...content.slice(0, 3), foreign, ...content.slice(3), foreign, said("y")];
    const talk = withMessages(opening, [asked("bye"), { role: "assistant", content: mixed }, asked("next")]);
    const options: CallOptions = { ...DROP, switches: { foreignSignatures: "accepted" } };
    const dropped = provider.call(drops(talk), options).inputTransformations ?? [];
    expect(dropped.map(({ path }) => path)).toEqual([0, 2, 3].map((index) => `messages.1.content.${index}`));
  });

  it("accepts thinking that was written after an earlier thinking block was removed", () => {
    const { provider, talk } = started();
    const gap = drops(withoutThinking(talk, (number) => number === 2));
    const longer = withTurns(provider, gap, 1, DROP);
    expect(failing(provider, longer)).toEqual([7, 9, 11].map((index) => `messages.${index}.content.0`));
  });

  it("on accounts without enforcement, keeps and lists thinking that does not match its conversation", () => {
    const { provider, talk } = started();
    const changed = { ...talk, system: "Be long." };
    const lenient: CallOptions = { ...DROP, switches: { enforceBinding: false } };
    const prepared = provider.call(changed, lenient);
    expect(prepared.inputTransformations).toHaveLength(6);
    expect(prepared.inputTransformations?.[0]?.type).toBe("thinking_mismatch_allowed");
    expect(prepared.conversation.messages).toBe(talk.messages);
    expect(
      provider.call(changed, { switches: { enforceBinding: false } }).inputTransformations,
    ).toBeUndefined();
    const asking = {
      ...changed,
      thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } },
    };
    expect(provider.refusal(asking, lenient).message).toContain(BOUND_TEXT);
  });

  it("count_tokens also refuses thinking that does not match its conversation", () => {
    const { provider, talk } = started();
    const options: CallOptions = { endpoint: "count_tokens" };
    expect(provider.refusal({ ...talk, system: "Be long." }, options).message).toContain(BOUND_TEXT);
    expect(provider.call(talk, options).tokens).toBeGreaterThan(0);
  });

  it("accepts thinking after changed messages on models that do not bind thinking to its conversation", () => {
    const { provider, talk } = started(UNBOUND);
    const changed = { ...edited(talk, 0, () => asked("other")), system: "Be long." };
    expect(provider.call(changed, DROP).inputTransformations).toEqual([]);
  });
});

describe("signatures of thinking blocks", () => {
  const forged = (talk: Talk, index: number): Talk =>
    edited(talk, index, (message) => ({
      ...message,
      content: (message.content as readonly ContentBlock[]).map((block) =>
        block.type === "thinking" ? { ...block, signature: "ErUBCkYIBRgC" } : block,
      ),
    }));
  const rewritten = (talk: Talk, index: number, thinking: string): Talk =>
    edited(talk, index, (message) => ({
      ...message,
      content: (message.content as readonly ContentBlock[]).map((block) =>
        block.type === "thinking" ? { ...block, thinking } : block,
      ),
    }));

  it.each([BINDING, UNBOUND])(
    'refuses thinking signatures of another provider on %s unless foreignSignatures is "accepted"',
    (model) => {
      const { provider, talk } = started(model);
      const text = "messages.3.content.0: Invalid `signature` in `thinking` block";
      expect(provider.refusal(forged(talk, 3)).message).toBe(text);
      expect(new TestProvider("other").refusal(talk).message).toBe(text.replace("3", "1"));
      const lenient: CallOptions = { ...DROP, switches: { foreignSignatures: "accepted" } };
      expect(provider.call(forged(talk, 11), lenient).inputTransformations).toEqual([]);
      expect(new TestProvider("other").call(talk, lenient).inputTransformations).toEqual([]);
    },
  );

  it.each([BINDING, UNBOUND])("refuses a thinking block whose text was changed, on %s", (model) => {
    const { provider, talk } = started(model);
    expect(provider.refusal(rewritten(talk, 3, "else")).message).toBe(
      "messages.3.content.0: Invalid `signature` in `thinking` block",
    );
    expect(provider.refusal(rewritten(talk, 11, "else")).message).toBe(
      "messages.11.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
    );
  });

  it("accepts a thinking block whose text was withheld from the client", () => {
    const { provider, talk } = started();
    expect(failing(provider, rewritten(talk, 3, ""))).toEqual([]);
  });

  it("uses the field `data` of redacted thinking as its signature", () => {
    const provider = new TestProvider();
    const opening = withMessages(newTalk(), [asked("hello")]);
    const data = provider.call(opening).signer.sign("secret", []);
    const content: readonly ContentBlock[] = [{ type: "redacted_thinking", data }, said("hi")];
    const talk = withMessages(opening, [asked("hello"), { role: "assistant", content }, asked("next")]);
    expect(failing(provider, talk)).toEqual([]);
    expect(provider.refusal({ ...talk, system: "x" }).message).toContain(
      "in `redacted_thinking` block. The block",
    );
  });
});

describe("thinking that another model wrote", () => {
  it("drops thinking of another model that the current model cannot read, and does not count the dropped tokens", () => {
    const { provider, talk } = started(BINDING);
    for (const model of [UNBOUND, OTHER_BINDING]) {
      const prepared = provider.call({ ...talk, model });
      expect(prepared.inputTransformations).toBeUndefined();
      expect(prepared.tokens).toBe(provider.call({ ...withoutThinking(talk, () => true), model }).tokens);
      const listed = provider.call({ ...talk, model }, DROP).inputTransformations ?? [];
      expect(listed).toHaveLength(6);
      expect(new Set(listed.map(({ type, reason }) => `${type} ${reason}`))).toEqual(
        new Set(["thinking_dropped model_binding_mismatch"]),
      );
    }
  });

  it("keeps thinking of another model if that model does not bind thinking to its conversation", () => {
    const { provider, talk } = started(UNBOUND);
    expect(provider.call({ ...talk, model: "claude-opus-4-7" }, DROP).inputTransformations).toEqual([]);
  });
});
