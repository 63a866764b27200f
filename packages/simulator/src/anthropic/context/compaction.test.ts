import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../../../../core/src/messages/untrusted.ts";
import { BETAS } from "../wording/betas.ts";
import {
  asked,
  BINDING,
  type CallOptions,
  CONTROLS,
  edited,
  newTalk,
  said,
  type Talk,
  TestProvider,
  thought,
  tokensOf,
  withMessages,
  withTurns,
} from "./talk.case.ts";

const THRESHOLD: CallOptions = { betas: [BETAS.thresholdCompaction, ...CONTROLS] };
const MIN_TRIGGER = 50_000;

const compact = (more: JsonRecord = {}): JsonRecord => ({
  context_management: {
    edits: [{ type: "compact_20260112", trigger: { type: "input_tokens", value: MIN_TRIGGER }, ...more }],
  },
});
const assistant = (...content: readonly ContentBlock[]): ApiMessage => ({ role: "assistant", content });
const block = (fields: JsonRecord): ContentBlock =>
  ({ type: "compaction", ...fields }) as unknown as ContentBlock;

/** A conversation above the minimum trigger. */
function longTalk(provider: TestProvider, model = BINDING): Talk {
  const opening = { ...newTalk(model), system: "s".repeat(MIN_TRIGGER) };
  return withTurns(provider, opening, 2);
}

describe("the provider's compaction at a threshold", () => {
  it("a threshold compaction puts its block first in the reply and shows the model only the summary", () => {
    const provider = new TestProvider();
    const talk = longTalk(provider);
    const prepared = provider.call({ ...talk, ...compact() }, THRESHOLD);
    expect(prepared.compaction).toMatchObject({
      kind: "threshold",
      blocks: [{ type: "compaction", content: "What happened so far.", encrypted_content: null }],
      end: undefined,
      iteration: { type: "compaction", input_tokens: prepared.originalTokens, output_tokens: 21 },
    });
    expect(prepared.conversation.messages).toEqual([
      { role: "user", content: [said("What happened so far.")] },
    ]);
    expect(prepared.tokens).toBe(tokensOf(prepared.conversation));
    expect(prepared.appliedEdits).toEqual([]);
  });

  it("compacts only at or above the trigger of the request, which is 150,000 tokens by default", () => {
    const provider = new TestProvider();
    const talk = longTalk(provider);
    const { tokens } = provider.call(talk);
    const at = (value: number): JsonRecord => compact({ trigger: { type: "input_tokens", value } });
    expect(provider.call({ ...talk, ...at(tokens) }, THRESHOLD).compaction).toBeDefined();
    expect(provider.call({ ...talk, ...at(tokens + 1) }, THRESHOLD).compaction).toBeUndefined();
    expect(provider.call({ ...talk, ...compact({ trigger: null }) }, THRESHOLD).compaction).toBeUndefined();
    const larger = edited(talk, 0, () => asked("z".repeat(150_000)));
    const body = { ...larger, messages: larger.messages.slice(0, 1), ...compact({ trigger: null }) };
    expect(provider.call(body, THRESHOLD).compaction).toBeDefined();
  });

  it("ends the reply after the compaction when pause_after_compaction is set", () => {
    const provider = new TestProvider();
    const body = { ...longTalk(provider), ...compact({ pause_after_compaction: true }) };
    expect(provider.call(body, THRESHOLD).compaction?.end).toEqual({ stopReason: "compaction" });
  });

  it("passes the instructions of the request to the summarizer, but not empty instructions", () => {
    const provider = new TestProvider();
    const seen: (string | undefined)[] = [];
    const summarize = (_: readonly ApiMessage[], instructions: string | undefined): string => {
      seen.push(instructions);
      return "summary";
    };
    const talk = longTalk(provider);
    for (const instructions of ["Only names.", " ", null]) {
      provider.call({ ...talk, ...compact({ instructions }) }, { ...THRESHOLD, summarize });
    }
    expect(seen).toEqual(["Only names.", undefined, undefined]);
  });

  it("returns a compaction block without content and shows the model everything when there is no summary", () => {
    const provider = new TestProvider();
    const talk = longTalk(provider);
    const prepared = provider.call({ ...talk, ...compact() }, { ...THRESHOLD, summarize: () => undefined });
    expect(prepared.compaction?.blocks).toMatchObject([{ type: "compaction", content: null }]);
    expect(prepared.conversation.messages).toBe(talk.messages);
  });

  it("count_tokens never compacts, but applies existing compaction blocks", () => {
    const provider = new TestProvider();
    const options: CallOptions = { ...THRESHOLD, endpoint: "count_tokens" };
    const talk = longTalk(provider);
    expect(provider.call({ ...talk, ...compact() }, options).compaction).toBeUndefined();
    const compacted = withMessages(talk, [
      ...talk.messages,
      assistant(block({ content: "all" })),
      asked("go"),
    ]);
    const prepared = provider.call(compacted, options);
    expect(prepared.conversation.messages).toEqual([{ role: "user", content: [said("all")] }, asked("go")]);
  });

  it("reports usage.iterations in every response to a request with the compaction beta", () => {
    const provider = new TestProvider();
    const talk = withMessages(newTalk(), [asked("a")]);
    expect(provider.call(talk, THRESHOLD).reportsIterations).toBe(true);
    expect(provider.call(talk).reportsIterations).toBe(false);
  });
});

describe("a compaction block from a threshold compaction", () => {
  const provider = new TestProvider();
  const reply = assistant(block({ content: "one" }), said("answer"));

  it("the model sees no message before the last compaction block, even if the client still sends such messages", () => {
    const messages = [asked("a"), assistant(block({ content: "zero" })), asked("b"), reply, asked("c")];
    const shown = provider.call(withMessages(newTalk(), messages), THRESHOLD).conversation.messages;
    expect(shown).toEqual([{ role: "user", content: [said("one")] }, assistant(said("answer")), asked("c")]);
    expect(shown[2]).toBe(messages[4]);
    const dropped = withMessages(newTalk(), [reply, asked("c")]);
    expect(provider.call(dropped, THRESHOLD).conversation.messages).toEqual(shown);
  });

  it("the summary that the model sees keeps the cache mark of the compaction block", () => {
    const cache_control = { type: "ephemeral" };
    const messages = [assistant(block({ content: "one", cache_control })), asked("c")];
    const [first] = provider.call(withMessages(newTalk(), messages), THRESHOLD).conversation.messages;
    expect(first).toEqual({ role: "user", content: [{ type: "text", text: "one", cache_control }] });
  });

  it("ignores a compaction block without content", () => {
    const messages = [asked("a"), assistant(block({ content: null }), said("b")), asked("c")];
    const shown = provider.call(withMessages(newTalk(), messages), THRESHOLD).conversation.messages;
    expect(shown).toEqual([asked("a"), assistant(said("b")), asked("c")]);
    const alone = [asked("a"), assistant(block({ content: null })), asked("c")];
    expect(provider.call(withMessages(newTalk(), alone), THRESHOLD).conversation.messages).toHaveLength(2);
  });

  it("answers from the compaction block when the client sends back a reply that paused after this block", () => {
    const talk = withMessages(newTalk(), [asked("z".repeat(MIN_TRIGGER))]);
    const body = { ...talk, ...compact({ pause_after_compaction: true }) };
    const paused = provider.reply(body, [], THRESHOLD);
    const next = provider.call({ ...body, messages: [...talk.messages, assistant(...paused)] }, THRESHOLD);
    expect(next.conversation.messages).toEqual([{ role: "user", content: [said("What happened so far.")] }]);
    expect(next.compaction).toBeUndefined();
  });

  it("thinking after a compaction block stays valid if earlier messages are removed or changed", () => {
    const talk = longTalk(provider);
    const content = provider.reply({ ...talk, ...compact() }, [thought("after"), said("answer")], THRESHOLD);
    const kept = withMessages(talk, [...talk.messages, assistant(...content), asked("next")]);
    const gone = withMessages(talk, [assistant(...content), asked("next")]);
    const rewritten = edited(kept, 0, () => asked("other"));
    for (const body of [kept, gone, rewritten]) {
      expect(provider.call(body, THRESHOLD).inputTransformations).toEqual([]);
    }
    const otherSummary = withMessages(talk, [
      assistant(block({ content: "forged" }), ...content.slice(1)),
      asked("next"),
    ]);
    expect(provider.refusal(otherSummary, THRESHOLD).message).toContain("bound to a different conversation");
  });

  it("thinking from before a compaction is invalid if the client sends it after the compaction block", () => {
    const talk = longTalk(provider);
    const body = { ...talk, ...compact({ pause_after_compaction: true }) };
    const content = provider.reply(body, [], THRESHOLD);
    const tail = withMessages(talk, [assistant(...content), ...talk.messages.slice(4)]);
    expect(provider.refusal(tail, THRESHOLD).message).toContain("bound to a different conversation");
  });
});
