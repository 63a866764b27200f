import { describe, expect, it } from "vitest";
import type { ContentBlock } from "../../../conversation/block.ts";
import type { ApiMessage } from "../../../conversation/message.ts";
import type { JsonRecord } from "../../../conversation/untrusted.ts";
import { BETAS } from "../wording/betas.ts";
import { compactionUnavailable } from "./compaction.ts";
import {
  asked,
  BINDING,
  type CallOptions,
  CONTROLS,
  edited,
  newTalk,
  OTHER_BINDING,
  said,
  type Talk,
  TestProvider,
  TOOL,
  talkOn,
  thought,
  tokensOf,
  UNBOUND,
  withMessages,
} from "./talk.case.ts";

const ON_DEMAND: CallOptions = { betas: [BETAS.onDemandCompaction, ...CONTROLS] };
const THRESHOLD: CallOptions = { betas: [BETAS.thresholdCompaction, ...CONTROLS] };
const SUMMARIZE = { compaction: { type: "summarize" } };
const LEAST_TRIGGER = 50_000;

const compact = (more: JsonRecord = {}): JsonRecord => ({
  context_management: {
    edits: [{ type: "compact_20260112", trigger: { type: "input_tokens", value: LEAST_TRIGGER }, ...more }],
  },
});
const assistant = (...content: readonly ContentBlock[]): ApiMessage => ({ role: "assistant", content });
const block = (fields: JsonRecord): ContentBlock =>
  ({ type: "compaction", ...fields }) as unknown as ContentBlock;

/** A talk that is over the least trigger. */
function longTalk(provider: TestProvider, model = BINDING): Talk {
  const opening = { ...newTalk(model), system: "s".repeat(LEAST_TRIGGER) };
  return talkOn(provider, opening, 2);
}

describe("compaction at a threshold", () => {
  it("puts the block first, and the model goes on from the summary alone", () => {
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

  it("happens at the trigger and not below; by default that is 150,000 tokens", () => {
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

  it("ends the reply when the request wants a pause", () => {
    const provider = new TestProvider();
    const body = { ...longTalk(provider), ...compact({ pause_after_compaction: true }) };
    expect(provider.call(body, THRESHOLD).compaction?.end).toEqual({ stopReason: "compaction" });
  });

  it("hands the instructions on in place of the default ones", () => {
    const provider = new TestProvider();
    const seen: (string | undefined)[] = [];
    const summarise = (_: readonly ApiMessage[], instructions: string | undefined): string => {
      seen.push(instructions);
      return "summary";
    };
    const talk = longTalk(provider);
    for (const instructions of ["Only names.", " ", null]) {
      provider.call({ ...talk, ...compact({ instructions }) }, { ...THRESHOLD, summarise });
    }
    expect(seen).toEqual(["Only names.", undefined, undefined]);
  });

  it("leaves a block without content when there is no summary, and the model sees everything", () => {
    const provider = new TestProvider();
    const talk = longTalk(provider);
    const prepared = provider.call({ ...talk, ...compact() }, { ...THRESHOLD, summarise: () => undefined });
    expect(prepared.compaction?.blocks).toMatchObject([{ type: "compaction", content: null }]);
    expect(prepared.conversation.messages).toBe(talk.messages);
  });

  it("is never made by a count, which reads the blocks that are there", () => {
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

  it("lists iterations in every response under its beta", () => {
    const provider = new TestProvider();
    const talk = withMessages(newTalk(), [asked("a")]);
    expect(provider.call(talk, THRESHOLD).reportsIterations).toBe(true);
    expect(provider.call(talk).reportsIterations).toBe(false);
  });
});

describe("a block of a compaction at a threshold", () => {
  const provider = new TestProvider();
  const reply = assistant(block({ content: "one" }), said("answer"));

  it("hides everything before the last one, kept or not", () => {
    const messages = [asked("a"), assistant(block({ content: "zero" })), asked("b"), reply, asked("c")];
    const shown = provider.call(withMessages(newTalk(), messages), THRESHOLD).conversation.messages;
    expect(shown).toEqual([{ role: "user", content: [said("one")] }, assistant(said("answer")), asked("c")]);
    expect(shown[2]).toBe(messages[4]);
    const dropped = withMessages(newTalk(), [reply, asked("c")]);
    expect(provider.call(dropped, THRESHOLD).conversation.messages).toEqual(shown);
  });

  it("keeps its cache mark in what the model sees", () => {
    const cache_control = { type: "ephemeral" };
    const messages = [assistant(block({ content: "one", cache_control })), asked("c")];
    const [first] = provider.call(withMessages(newTalk(), messages), THRESHOLD).conversation.messages;
    expect(first).toEqual({ role: "user", content: [{ type: "text", text: "one", cache_control }] });
  });

  it("without content counts for nothing", () => {
    const messages = [asked("a"), assistant(block({ content: null }), said("b")), asked("c")];
    const shown = provider.call(withMessages(newTalk(), messages), THRESHOLD).conversation.messages;
    expect(shown).toEqual([asked("a"), assistant(said("b")), asked("c")]);
    const alone = [asked("a"), assistant(block({ content: null })), asked("c")];
    expect(provider.call(withMessages(newTalk(), alone), THRESHOLD).conversation.messages).toHaveLength(2);
  });

  it("is gone on from when the reply was paused after it", () => {
    const talk = withMessages(newTalk(), [asked("z".repeat(LEAST_TRIGGER))]);
    const body = { ...talk, ...compact({ pause_after_compaction: true }) };
    const paused = provider.reply(body, [], THRESHOLD);
    const next = provider.call({ ...body, messages: [...talk.messages, assistant(...paused)] }, THRESHOLD);
    expect(next.conversation.messages).toEqual([{ role: "user", content: [said("What happened so far.")] }]);
    expect(next.compaction).toBeUndefined();
  });

  it("begins what thinking is bound to anew, whether the messages before it stay or go", () => {
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

  it("makes thinking invalid that is put back behind it", () => {
    const talk = longTalk(provider);
    const body = { ...talk, ...compact({ pause_after_compaction: true }) };
    const content = provider.reply(body, [], THRESHOLD);
    const tail = withMessages(talk, [assistant(...content), ...talk.messages.slice(4)]);
    expect(provider.refusal(tail, THRESHOLD).message).toContain("bound to a different conversation");
  });
});

describe("compaction on demand", () => {
  it("answers with nothing but a signed block", () => {
    const provider = new TestProvider();
    const talk = talkOn(provider, newTalk(), 1);
    const prepared = provider.call({ ...talk, ...SUMMARIZE }, ON_DEMAND);
    expect(prepared.compaction).toMatchObject({
      kind: "on-demand",
      blocks: [
        { type: "compaction", content: "What happened so far.", encrypted_content: null, tool_changes: [] },
      ],
      end: { stopReason: "compaction" },
      iteration: { type: "compaction", input_tokens: prepared.tokens, output_tokens: 21 },
    });
  });

  it("says how the inner call ended when there is no summary", () => {
    const provider = new TestProvider();
    const talk = { ...withMessages(newTalk(), [asked("a")]), ...SUMMARIZE };
    const end = (summary: ReturnType<NonNullable<CallOptions["summarise"]>>): unknown => {
      const { compaction } = provider.call(talk, { ...ON_DEMAND, summarise: () => summary });
      expect(compaction?.blocks).toEqual([]);
      return compaction?.end;
    };
    expect(end(undefined)).toEqual({ stopReason: "end_turn" });
    expect(end("  ")).toEqual({ stopReason: "end_turn" });
    expect(end({ stopReason: "max_tokens" })).toEqual({ stopReason: "max_tokens" });
  });

  it("can be unavailable for the moment", () => {
    const provider = new TestProvider();
    const summarise = (): string => {
      throw compactionUnavailable();
    };
    const body = { ...withMessages(newTalk(), [asked("a")]), ...SUMMARIZE };
    const refusal = provider.refusal(body, { ...ON_DEMAND, summarise });
    expect([refusal.status, refusal.type]).toEqual([529, "overloaded_error"]);
    expect(refusal.details).toEqual({ error_code: "compaction_unavailable" });
  });

  it("must fit the window like any other request", () => {
    const body = { ...withMessages(newTalk(), [asked("a".repeat(500))]), ...SUMMARIZE };
    expect(new TestProvider().refusal(body, { ...ON_DEMAND, windowTokens: 100 }).message).toMatch(
      /^prompt is too long: \d+ tokens > 100 maximum$/,
    );
  });

  it("is made of a conversation that ends with an answer of the assistant", () => {
    const talk = withMessages(newTalk(), [asked("a"), assistant(said("b"))]);
    const { compaction } = new TestProvider().call({ ...talk, ...SUMMARIZE }, ON_DEMAND);
    expect(compaction).toMatchObject({ end: { stopReason: "compaction" } });
  });

  it("is ignored by a count", () => {
    const provider = new TestProvider();
    const body = { ...withMessages(newTalk(), [asked("a")]), ...SUMMARIZE };
    expect(provider.call(body, { ...ON_DEMAND, endpoint: "count_tokens" }).compaction).toBeUndefined();
  });

  it("carries on the changes of tools that were not taken back", () => {
    const provider = new TestProvider();
    const change = (kind: "addition" | "removal", name: string): ContentBlock =>
      ({ type: `tool_${kind}`, tool: { type: "tool_reference", name } }) as unknown as ContentBlock;
    const inline = {
      type: "tool_addition",
      tool: { type: "tool_definition", definition: { name: "new", input_schema: { type: "object" } } },
      cache_control: { type: "ephemeral" },
    } as unknown as ContentBlock;
    const changes = [
      change("removal", "read"),
      change("addition", "later"),
      change("removal", "other"),
      change("addition", "other"),
      inline,
    ];
    const deferred = { ...TOOL, name: "later", defer_loading: true };
    const messages: readonly ApiMessage[] = [
      asked("a"),
      { role: "system", content: changes },
      assistant(said("ok")),
    ];
    const talk = {
      ...withMessages(newTalk(), messages),
      tools: [TOOL, deferred, { ...TOOL, name: "other" }],
      ...SUMMARIZE,
    };
    const options: CallOptions = {
      betas: [...(ON_DEMAND.betas ?? []), BETAS.toolChanges, BETAS.inlineTools],
    };
    const [first] = provider.call(talk, options).compaction?.blocks ?? [];
    const { cache_control: _, ...unmarked } = inline as unknown as Record<string, unknown>;
    expect(first).toMatchObject({ tool_changes: [changes[0], changes[1], unmarked] });
    const next = {
      ...talk,
      compaction: null,
      messages: [assistant(first as ContentBlock), asked("go")],
    };
    expect(provider.call(next, options).conversation.messages[1]).toEqual({
      role: "system",
      content: [changes[0], changes[1], unmarked],
    });
  });
});

describe("a signed compaction block", () => {
  function compacted(
    model = BINDING,
    summariser = model,
  ): { provider: TestProvider; talk: Talk; block: ContentBlock } {
    const provider = new TestProvider();
    const talk = talkOn(provider, newTalk(model), 3);
    return { provider, talk, block: summaryOf(provider, { ...talk, model: summariser }, 8) };
  }

  function summaryOf(provider: TestProvider, talk: Talk, until: number): ContentBlock {
    const older = withMessages(talk, talk.messages.slice(0, until));
    const made = provider.reply({ ...older, ...SUMMARIZE }, [], ON_DEMAND)[0];
    if (made === undefined) throw new Error("no summary");
    return made;
  }

  const swapped = (talk: Talk, summary: ContentBlock, from = 8): Talk =>
    withMessages(talk, [assistant(summary), ...talk.messages.slice(from)]);
  const failing = (provider: TestProvider, talk: Talk): number => {
    const thinking = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } };
    return provider.call({ ...talk, thinking }, ON_DEMAND).inputTransformations?.length ?? 0;
  };
  const code = (provider: TestProvider, talk: Talk, options = ON_DEMAND): unknown =>
    provider.refusal(talk, options).details?.error_code;

  it("takes the place of what it summarises", () => {
    const { provider, talk, block: summary } = compacted();
    const shown = provider.call(swapped(talk, summary), ON_DEMAND).conversation.messages;
    expect(shown[0]).toEqual({ role: "user", content: [said("What happened so far.")] });
    expect(shown.slice(1)).toEqual(talk.messages.slice(8));
  });

  it("may stand in the first message itself, whatever its role", () => {
    const { provider, talk, block: summary } = compacted();
    const messages: readonly ApiMessage[] = [
      { role: "user", content: [summary, said("question 0_2")] },
      ...talk.messages.slice(9),
    ];
    expect(failing(provider, withMessages(talk, messages))).toBe(0);
  });

  it("is refused with a code when it is not as it was returned", () => {
    const { provider, talk, block: summary } = compacted();
    const removal = { type: "tool_removal", tool: { type: "tool_reference", name: "read" } };
    const changed = (fields: JsonRecord): Talk => swapped(talk, { ...summary, ...fields } as ContentBlock);
    expect(code(provider, changed({ content: "other" }))).toBe("compaction_content_mismatch");
    expect(code(provider, changed({ signature: "forged" }))).toBe("compaction_signature_invalid");
    expect(code(provider, changed({ signature: null }))).toBe("compaction_signature_invalid");
    expect(code(provider, changed({ tool_changes: [removal] }))).toBe("compaction_tool_changes_mismatch");
  });

  it("of another simulator is taken where foreign signatures are", () => {
    const { talk, block: summary } = compacted();
    const other = new TestProvider("other");
    const body = withMessages(talk, [assistant(summary), asked("x")]);
    expect(code(other, body)).toBe("compaction_signature_invalid");
    const options: CallOptions = { ...ON_DEMAND, switches: { foreignSignatures: "accepted" } };
    expect(other.call(body, options).conversation.messages).toHaveLength(2);
  });

  it("keeps the thinking of the kept turns valid, also through a second compaction", () => {
    const { provider, talk, block: summary } = compacted();
    const once = talkOn(provider, swapped(talk, summary), 1, ON_DEMAND);
    expect(failing(provider, once)).toBe(0);
    const second = summaryOf(provider, once, 2);
    const kept = swapped(once, second, 2);
    expect(kept.messages[1]).toBe(talk.messages[9]);
    expect(failing(provider, talkOn(provider, kept, 1, ON_DEMAND))).toBe(0);
  });

  it("does not do so for turns that do not directly follow, or were changed", () => {
    const { provider, talk, block: summary } = compacted();
    const swap = swapped(talk, summary);
    expect(
      failing(
        provider,
        edited(swap, 1, () => asked("other")),
      ),
    ).toBe(2);
    const [first = asked(""), ...rest] = swap.messages;
    expect(failing(provider, withMessages(swap, [first, asked("between"), ...rest]))).toBe(2);
    expect(failing(provider, withMessages(swap, [first, ...rest.slice(0, 1), ...rest.slice(3)]))).toBe(1);
    expect(failing(provider, swapped(talk, summary, 4))).toBe(4);
  });

  it("does not do so when the first kept message has the role of the last summarised one", () => {
    const provider = new TestProvider();
    const talk = withMessages(newTalk(), [asked("a"), asked("b")]);
    const content = provider.reply(talk, [thought("t"), said("x")]);
    const longer = withMessages(talk, [...talk.messages, assistant(...content), asked("c")]);
    expect(failing(provider, swapped(longer, summaryOf(provider, longer, 1), 1))).toBe(1);
    expect(failing(provider, swapped(longer, summaryOf(provider, longer, 2), 2))).toBe(0);
  });

  it("does not do so when a system message follows it", () => {
    const provider = new TestProvider();
    const talk = withMessages(newTalk(), [asked("a"), { role: "system", content: "s" }]);
    const content = provider.reply(talk, [thought("t"), said("x")]);
    const longer = withMessages(talk, [...talk.messages, assistant(...content), asked("c")]);
    const first: ApiMessage = { role: "user", content: [summaryOf(provider, longer, 1)] };
    expect(failing(provider, withMessages(longer, [first, ...longer.messages.slice(1)]))).toBe(1);
  });

  it("does not do so after a change of system or tools", () => {
    const { provider, talk, block: summary } = compacted();
    expect(failing(provider, { ...swapped(talk, summary), system: "Be long." })).toBe(2);
    expect(failing(provider, { ...swapped(talk, summary), tools: [] })).toBe(2);
    const elsewhere = summaryOf(provider, { ...withMessages(talk, [asked("a")]), system: "Be long." }, 1);
    expect(failing(provider, swapped(talk, elsewhere))).toBe(2);
  });

  it("does not do so when a model without bound thinking wrote it", () => {
    const { provider, talk, block: summary } = compacted(BINDING, UNBOUND);
    expect(failing(provider, swapped(talk, summary))).toBe(2);
    const bound = compacted(BINDING, OTHER_BINDING);
    expect(failing(bound.provider, swapped(bound.talk, bound.block))).toBe(0);
  });

  it("binds the thinking that is written after it to itself", () => {
    const { provider, talk, block: summary } = compacted();
    const longer = talkOn(provider, swapped(talk, summary), 1, ON_DEMAND);
    const uncompacted = withMessages(talk, [...talk.messages.slice(0, 8), ...longer.messages.slice(1)]);
    expect(failing(provider, uncompacted)).toBe(2);
  });
});
