import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../../../../core/src/messages/untrusted.ts";
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
  thought,
  UNBOUND,
  withMessages,
  withTurns,
} from "./talk.case.ts";

const ON_DEMAND: CallOptions = { betas: [BETAS.onDemandCompaction, ...CONTROLS] };
const SUMMARIZE = { compaction: { type: "summarize" } };

const assistant = (...content: readonly ContentBlock[]): ApiMessage => ({ role: "assistant", content });

describe("compaction on demand", () => {
  it("answers a compaction on demand with one signed block", () => {
    const provider = new TestProvider();
    const talk = withTurns(provider, newTalk(), 1);
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

  it("reports the stop reason of the summarizing call when there is no summary", () => {
    const provider = new TestProvider();
    const talk = { ...withMessages(newTalk(), [asked("a")]), ...SUMMARIZE };
    const end = (summary: ReturnType<NonNullable<CallOptions["summarize"]>>): unknown => {
      const { compaction } = provider.call(talk, { ...ON_DEMAND, summarize: () => summary });
      expect(compaction?.blocks).toEqual([]);
      return compaction?.end;
    };
    expect(end(undefined)).toEqual({ stopReason: "end_turn" });
    expect(end("  ")).toEqual({ stopReason: "end_turn" });
    expect(end({ stopReason: "max_tokens" })).toEqual({ stopReason: "max_tokens" });
  });

  it("refuses a compaction with the code compaction_unavailable when the summarizer is not available", () => {
    const provider = new TestProvider();
    const summarize = (): string => {
      throw compactionUnavailable();
    };
    const body = { ...withMessages(newTalk(), [asked("a")]), ...SUMMARIZE };
    const refusal = provider.refusal(body, { ...ON_DEMAND, summarize });
    expect([refusal.status, refusal.type]).toEqual([529, "overloaded_error"]);
    expect(refusal.details).toEqual({ error_code: "compaction_unavailable" });
  });

  it("refuses a compaction request that exceeds the context window", () => {
    const body = { ...withMessages(newTalk(), [asked("a".repeat(500))]), ...SUMMARIZE };
    expect(new TestProvider().refusal(body, { ...ON_DEMAND, windowTokens: 100 }).message).toMatch(
      /^prompt is too long: \d+ tokens > 100 maximum$/,
    );
  });

  it("compacts a conversation that ends with an assistant message", () => {
    const talk = withMessages(newTalk(), [asked("a"), assistant(said("b"))]);
    const { compaction } = new TestProvider().call({ ...talk, ...SUMMARIZE }, ON_DEMAND);
    expect(compaction).toMatchObject({ end: { stopReason: "compaction" } });
  });

  it("ignores the compaction field in count_tokens", () => {
    const provider = new TestProvider();
    const body = { ...withMessages(newTalk(), [asked("a")]), ...SUMMARIZE };
    expect(provider.call(body, { ...ON_DEMAND, endpoint: "count_tokens" }).compaction).toBeUndefined();
  });

  it("a compaction block keeps the tool changes that were not reverted", () => {
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
    summarizer = model,
  ): { provider: TestProvider; talk: Talk; block: ContentBlock } {
    const provider = new TestProvider();
    const talk = withTurns(provider, newTalk(model), 3);
    return { provider, talk, block: summaryOf(provider, { ...talk, model: summarizer }, 8) };
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

  it("the model sees the text of a compaction block in place of the summarized messages", () => {
    const { provider, talk, block: summary } = compacted();
    const shown = provider.call(swapped(talk, summary), ON_DEMAND).conversation.messages;
    expect(shown[0]).toEqual({ role: "user", content: [said("What happened so far.")] });
    expect(shown.slice(1)).toEqual(talk.messages.slice(8));
  });

  it("accepts a compaction block at the start of the first message if the role of that message is user", () => {
    const { provider, talk, block: summary } = compacted();
    const messages: readonly ApiMessage[] = [
      { role: "user", content: [summary, said("question 0_2")] },
      ...talk.messages.slice(9),
    ];
    expect(failing(provider, withMessages(talk, messages))).toBe(0);
  });

  it("refuses a changed compaction block with an error code for the changed field", () => {
    const { provider, talk, block: summary } = compacted();
    const removal = { type: "tool_removal", tool: { type: "tool_reference", name: "read" } };
    const changed = (fields: JsonRecord): Talk => swapped(talk, { ...summary, ...fields } as ContentBlock);
    expect(code(provider, changed({ content: "other" }))).toBe("compaction_content_mismatch");
    expect(code(provider, changed({ signature: "forged" }))).toBe("compaction_signature_invalid");
    expect(code(provider, changed({ signature: null }))).toBe("compaction_signature_invalid");
    expect(code(provider, changed({ tool_changes: [removal] }))).toBe("compaction_tool_changes_mismatch");
  });

  it("accepts a compaction block of another simulator only with foreign signatures enabled", () => {
    const { talk, block: summary } = compacted();
    const other = new TestProvider("other");
    const body = withMessages(talk, [assistant(summary), asked("x")]);
    expect(code(other, body)).toBe("compaction_signature_invalid");
    const options: CallOptions = { ...ON_DEMAND, switches: { foreignSignatures: "accepted" } };
    expect(other.call(body, options).conversation.messages).toHaveLength(2);
  });

  it("thinking in the kept messages stays valid after a compaction, and after a second compaction", () => {
    const { provider, talk, block: summary } = compacted();
    const once = withTurns(provider, swapped(talk, summary), 1, ON_DEMAND);
    expect(failing(provider, once)).toBe(0);
    const second = summaryOf(provider, once, 2);
    const kept = swapped(once, second, 2);
    expect(kept.messages[1]).toBe(talk.messages[9]);
    expect(failing(provider, withTurns(provider, kept, 1, ON_DEMAND))).toBe(0);
  });

  it("thinking in kept messages is invalid if these were changed or do not directly follow the compaction block", () => {
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

  it("kept thinking is invalid if the first kept message has the same role as the last summarized message", () => {
    const provider = new TestProvider();
    const talk = withMessages(newTalk(), [asked("a"), asked("b")]);
    const content = provider.reply(talk, [thought("t"), said("x")]);
    const longer = withMessages(talk, [...talk.messages, assistant(...content), asked("c")]);
    expect(failing(provider, swapped(longer, summaryOf(provider, longer, 1), 1))).toBe(1);
    expect(failing(provider, swapped(longer, summaryOf(provider, longer, 2), 2))).toBe(0);
  });

  it("kept thinking is invalid if a system message follows the compaction block", () => {
    const provider = new TestProvider();
    const talk = withMessages(newTalk(), [asked("a"), { role: "system", content: "s" }]);
    const content = provider.reply(talk, [thought("t"), said("x")]);
    const longer = withMessages(talk, [...talk.messages, assistant(...content), asked("c")]);
    const first: ApiMessage = { role: "user", content: [summaryOf(provider, longer, 1)] };
    expect(failing(provider, withMessages(longer, [first, ...longer.messages.slice(1)]))).toBe(1);
  });

  it("kept thinking is invalid if the system prompt or the tools change after a compaction", () => {
    const { provider, talk, block: summary } = compacted();
    expect(failing(provider, { ...swapped(talk, summary), system: "Be long." })).toBe(2);
    expect(failing(provider, { ...swapped(talk, summary), tools: [] })).toBe(2);
    const elsewhere = summaryOf(provider, { ...withMessages(talk, [asked("a")]), system: "Be long." }, 1);
    expect(failing(provider, swapped(talk, elsewhere))).toBe(2);
  });

  it("kept thinking is invalid if a model that does not bind thinking wrote the summary", () => {
    const { provider, talk, block: summary } = compacted(BINDING, UNBOUND);
    expect(failing(provider, swapped(talk, summary))).toBe(2);
    const bound = compacted(BINDING, OTHER_BINDING);
    expect(failing(bound.provider, swapped(bound.talk, bound.block))).toBe(0);
  });

  it("thinking after a compaction is invalid if the client restores the summarized messages", () => {
    const { provider, talk, block: summary } = compacted();
    const longer = withTurns(provider, swapped(talk, summary), 1, ON_DEMAND);
    const uncompacted = withMessages(talk, [...talk.messages.slice(0, 8), ...longer.messages.slice(1)]);
    expect(failing(provider, uncompacted)).toBe(2);
  });
});
