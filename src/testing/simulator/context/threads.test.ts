import { describe, expect, it } from "vitest";
import type { ApiMessage } from "../../../conversation/message.ts";
import type { JsonRecord } from "../../../conversation/untrusted.ts";
import { asked, type CallOptions, newTalk, said, TestProvider, withMessages } from "./talk.case.ts";
import { BETAS } from "./texts.ts";
import { THREAD_LIFETIME_MS } from "./threads.ts";

const THREADS: CallOptions = { betas: [BETAS.threads] };
const CREATE = { thread: { type: "create" } };
const continuing = (previous_message_id: string): JsonRecord => ({
  thread: { type: "continue", previous_message_id },
});
const onward = (id: string, ...messages: readonly ApiMessage[]): JsonRecord => {
  const { system: _, tools: __, ...talk } = withMessages(newTalk(), messages);
  return { ...talk, ...continuing(id) };
};
const answered = (text: string, at = 0, stopReason = "end_turn") => ({
  content: [said(text)],
  stopReason,
  at,
});

function created(): TestProvider {
  const provider = new TestProvider();
  const talk = { ...withMessages(newTalk(), [asked("one")]), ...CREATE };
  provider.call(talk, THREADS).thread?.store("msg_1", answered("first"));
  return provider;
}

describe("a message thread", () => {
  it("keeps the conversation, so that only what is new is sent", () => {
    const provider = created();
    const second = provider.call(onward("msg_1", asked("two")), THREADS);
    expect(second.conversation).toEqual({
      system: newTalk().system,
      tools: newTalk().tools,
      messages: [asked("one"), { role: "assistant", content: [said("first")] }, asked("two")],
    });
    second.thread?.store("msg_2", answered("second"));
    const third = provider.call(onward("msg_2", asked("three")), THREADS);
    expect(third.conversation.messages).toHaveLength(5);
    expect(third.request.body.messages).toEqual(third.conversation.messages);
  });

  it("is put together before the rules are checked, and let go when they refuse", () => {
    const provider = created();
    const tooLong = onward("msg_1", asked("x".repeat(500)));
    expect(provider.refusal(tooLong, { ...THREADS, windowTokens: 300 }).message).toContain("too long");
    expect(provider.call(onward("msg_1", asked("two")), THREADS).thread).toBeDefined();
  });

  it("forgets cache marks with the request that set them", () => {
    const provider = new TestProvider();
    const marked = { type: "text", text: "one", cache_control: { type: "ephemeral" } } as const;
    const talk = { ...withMessages(newTalk(), [{ role: "user", content: [marked] }]), ...CREATE };
    provider.call(talk, THREADS).thread?.store("msg_1", answered("first"));
    const [first] = provider.call(onward("msg_1", asked("two")), THREADS).conversation.messages;
    expect(first).toEqual({ role: "user", content: [said("one")] });
  });

  it("is found for five minutes after its last response", () => {
    const provider = created();
    const second = provider.call(onward("msg_1", asked("two")), { ...THREADS, at: THREAD_LIFETIME_MS });
    second.thread?.store("msg_2", answered("second", THREAD_LIFETIME_MS));
    const late = 2 * THREAD_LIFETIME_MS;
    expect(provider.call(onward("msg_2", asked("x")), { ...THREADS, at: late }).thread).toBeDefined();
    const refusal = provider.refusal(onward("msg_2", asked("x")), { ...THREADS, at: late + 1 });
    expect([refusal.status, refusal.type]).toEqual([404, "not_found_error"]);
    expect(refusal.details).toEqual({ error_code: "thread_not_found" });
  });

  it("is not found under another id or in another workspace", () => {
    const provider = created();
    expect(provider.refusal(onward("msg_9", asked("x")), THREADS).status).toBe(404);
    expect(provider.refusal(onward("msg_1", asked("x")), { ...THREADS, workspace: "other" }).status).toBe(
      404,
    );
  });

  it("is continued once from each response, by one request at a time", () => {
    const provider = created();
    const code = (): unknown => provider.refusal(onward("msg_1", asked("x")), THREADS).details?.error_code;
    const second = provider.call(onward("msg_1", asked("two")), THREADS);
    expect(code()).toBe("thread_continue_in_flight");
    second.thread?.release();
    provider.call(onward("msg_1", asked("two")), THREADS).thread?.store("msg_2", answered("second"));
    expect(code()).toBe("thread_already_continued");
  });

  it("does not keep a refused turn", () => {
    const provider = created();
    const second = provider.call(onward("msg_1", asked("two")), THREADS);
    second.thread?.store("msg_2", answered("", 0, "refusal"));
    expect(provider.refusal(onward("msg_2", asked("x")), THREADS).status).toBe(404);
    expect(provider.call(onward("msg_1", asked("x")), THREADS).conversation.messages).toHaveLength(3);
  });

  it("refuses other values in fields that must stay the same, and names them", () => {
    const provider = created();
    const body = onward("msg_1", asked("two"));
    const changed: Record<string, JsonRecord> = {
      model: { model: "claude-opus-5" },
      output_config: { output_config: { effort: "low" } },
      system: { system: "Be long." },
      tools: { tools: [] },
    };
    for (const [name, fields] of Object.entries(changed)) {
      const { details, message } = provider.refusal({ ...body, ...fields }, THREADS);
      expect(details).toEqual({ error_code: "thread_fingerprint_mismatch" });
      expect(message).toContain(`differing field(s): ${name}`);
    }
    const repeated = provider.refusal({ ...body, system: newTalk().system }, THREADS);
    expect([repeated.status, repeated.details]).toEqual([400, undefined]);
    expect(provider.call(body, THREADS).thread).toBeDefined();
  });

  it("cannot be combined with what rewrites the conversation", () => {
    const provider = new TestProvider();
    const talk = { ...withMessages(newTalk(), [asked("one")]), ...CREATE };
    const edits = (...list: readonly JsonRecord[]): JsonRecord => ({ context_management: { edits: list } });
    const unsupported: readonly (readonly [JsonRecord, string])[] = [
      [edits({ type: "clear_tool_uses_20250919" }), "context_management"],
      [edits({ type: "clear_thinking_20251015" }), "context_management"],
      [{ compaction: { type: "summarize" } }, "context_management"],
      [{ fallbacks: [{ model: "x" }] }, "fallbacks"],
    ];
    for (const [fields, name] of unsupported) {
      expect(provider.refusal({ ...talk, ...fields }, THREADS).details).toEqual({
        error_code: "thread_unsupported_request",
        unsupported: [name],
      });
    }
    const keepsAll = edits({ type: "clear_thinking_20251015", keep: "all" });
    expect(provider.call({ ...talk, ...keepsAll }, THREADS).thread).toBeDefined();
  });

  it("is always refused where the provider has none", () => {
    const provider = new TestProvider();
    const options: CallOptions = { ...THREADS, switches: { threads: "refused" } };
    for (const body of [{ ...newTalk(), ...CREATE }, onward("msg_1", asked("x"))]) {
      const { status, details } = provider.refusal(body, options);
      expect([status, details]).toEqual([400, { error_code: "thread_unsupported_request" }]);
    }
    expect(provider.call(newTalk(), options).thread).toBeUndefined();
  });

  it("is no known field without the beta", () => {
    const provider = new TestProvider();
    const { message } = provider.refusal({ ...newTalk(), ...CREATE });
    expect(message).toBe("thread: Extra inputs are not permitted");
    expect(provider.call({ ...newTalk(), thread: null }).thread).toBeUndefined();
  });
});
