import type { ApiMessage } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../../../../core/src/messages/untrusted.ts";
import { BETAS } from "../wording/betas.ts";
import { asked, type CallOptions, newTalk, said, TestProvider, withMessages } from "./talk.case.ts";
import { THREAD_LIFETIME_MS } from "./threads.ts";

const THREADS: CallOptions = { betas: [BETAS.threads] };
const CREATE = { thread: { type: "create" } };
const continuing = (previous_message_id: string): JsonRecord => ({
  thread: { type: "continue", previous_message_id },
});
const continuation = (id: string, ...messages: readonly ApiMessage[]): JsonRecord => {
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

describe("message threads, which store a conversation on the server", () => {
  it("a thread stores the conversation, so that the client sends only new messages", () => {
    const provider = created();
    const second = provider.call(continuation("msg_1", asked("two")), THREADS);
    expect(second.conversation).toEqual({
      system: newTalk().system,
      tools: newTalk().tools,
      messages: [asked("one"), { role: "assistant", content: [said("first")] }, asked("two")],
    });
    second.thread?.store("msg_2", answered("second"));
    const third = provider.call(continuation("msg_2", asked("three")), THREADS);
    expect(third.conversation.messages).toHaveLength(5);
    expect(third.request.body.messages).toEqual(third.conversation.messages);
  });

  it("compares the tokens of the whole thread with the window, and a client can continue the thread after a refusal", () => {
    const provider = created();
    const tooLong = continuation("msg_1", asked("x".repeat(500)));
    expect(provider.refusal(tooLong, { ...THREADS, windowTokens: 300 }).message).toContain("too long");
    expect(provider.call(continuation("msg_1", asked("two")), THREADS).thread).toBeDefined();
  });

  it("a thread does not keep the cache marks of earlier requests", () => {
    const provider = new TestProvider();
    const marked = { type: "text", text: "one", cache_control: { type: "ephemeral" } } as const;
    const talk = { ...withMessages(newTalk(), [{ role: "user", content: [marked] }]), ...CREATE };
    provider.call(talk, THREADS).thread?.store("msg_1", answered("first"));
    const [first] = provider.call(continuation("msg_1", asked("two")), THREADS).conversation.messages;
    expect(first).toEqual({ role: "user", content: [said("one")] });
  });

  it("the provider stores the newest 1,000 responses of threads on a clock that does not move", () => {
    const provider = created();
    for (let call = 2; call <= 1_001; call++) {
      const talk = { ...withMessages(newTalk(), [asked("one")]), ...CREATE };
      provider.call(talk, THREADS).thread?.store(`msg_${call}`, answered("first"));
    }
    expect(provider.refusal(continuation("msg_1", asked("x")), THREADS).message).toContain("msg_1");
    expect(provider.call(continuation("msg_2", asked("x")), THREADS).thread).toBeDefined();
  });

  it("a thread expires five minutes after its last response", () => {
    const provider = created();
    const second = provider.call(continuation("msg_1", asked("two")), { ...THREADS, at: THREAD_LIFETIME_MS });
    second.thread?.store("msg_2", answered("second", THREAD_LIFETIME_MS));
    const late = 2 * THREAD_LIFETIME_MS;
    expect(provider.call(continuation("msg_2", asked("x")), { ...THREADS, at: late }).thread).toBeDefined();
    const refusal = provider.refusal(continuation("msg_2", asked("x")), { ...THREADS, at: late + 1 });
    expect([refusal.status, refusal.type]).toEqual([404, "not_found_error"]);
    expect(refusal.details).toEqual({ error_code: "thread_not_found" });
  });

  it("answers 404 if a request continues a thread with an unknown message id or from another workspace", () => {
    const provider = created();
    expect(provider.refusal(continuation("msg_9", asked("x")), THREADS).status).toBe(404);
    expect(
      provider.refusal(continuation("msg_1", asked("x")), { ...THREADS, workspace: "other" }).status,
    ).toBe(404);
  });

  it("a client can continue a thread only once from each response, with one request at a time", () => {
    const provider = created();
    const code = (): unknown =>
      provider.refusal(continuation("msg_1", asked("x")), THREADS).details?.error_code;
    const second = provider.call(continuation("msg_1", asked("two")), THREADS);
    expect(code()).toBe("thread_continue_in_flight");
    second.thread?.release();
    provider.call(continuation("msg_1", asked("two")), THREADS).thread?.store("msg_2", answered("second"));
    expect(code()).toBe("thread_already_continued");
  });

  it("a thread does not store a reply with the stop reason refusal", () => {
    const provider = created();
    const second = provider.call(continuation("msg_1", asked("two")), THREADS);
    second.thread?.store("msg_2", answered("", 0, "refusal"));
    expect(provider.refusal(continuation("msg_2", asked("x")), THREADS).status).toBe(404);
    expect(provider.call(continuation("msg_1", asked("x")), THREADS).conversation.messages).toHaveLength(3);
  });

  it("refuses to continue a thread with another model, effort, system prompt or tools, and names the field", () => {
    const provider = created();
    const body = continuation("msg_1", asked("two"));
    const changed: Record<string, JsonRecord> = {
      model: { model: "claude-opus-5" },
      output_config: { output_config: { effort: "low" } },
      system: { system: "Be long." },
      tools: { tools: [] },
    };
    for (const [name, fields] of Object.entries(changed)) {
      const { details, message } = provider.refusal({ ...body, ...fields }, THREADS);
      expect(details).toEqual({ error_code: "thread_fingerprint_mismatch" });
      expect(message).toContain(`Differing field(s): ${name}`);
    }
    const repeated = provider.refusal({ ...body, system: newTalk().system }, THREADS);
    expect([repeated.status, repeated.details]).toEqual([400, undefined]);
    expect(provider.call(body, THREADS).thread).toBeDefined();
  });

  it("refuses the field `thread` without the beta for threads, and when threads are disabled", () => {
    const provider = new TestProvider();
    const unknown = continuation("msg_9", asked("x"));
    expect(provider.refusal(unknown).message).toBe("thread: Extra inputs are not permitted");
    const options: CallOptions = { ...THREADS, switches: { threads: "refused" } };
    expect(provider.refusal(unknown, options).details).toEqual({ error_code: "thread_unsupported_request" });
    const without = { ...withMessages(newTalk(), [asked("one")]), thread: null };
    expect(provider.call(without, THREADS).thread).toBeUndefined();
  });

  it("refuses an invalid request on a thread, and the client can continue the thread after that", () => {
    const provider = created();
    const { messages: _, ...silent } = continuation("msg_1");
    expect(provider.refusal(silent, THREADS).message).toBe("messages: Field required");
    expect(provider.refusal({ ...silent, messages: "two" }, THREADS).status).toBe(400);
    const edits = { context_management: { edits: [{ type: "clear_tool_uses_20250919" }] } };
    const betas = [BETAS.threads, BETAS.contextManagement];
    const edited = provider.refusal({ ...continuation("msg_1", asked("two")), ...edits }, { betas });
    expect(edited.details).toMatchObject({ error_code: "thread_unsupported_request" });
    expect(provider.call(continuation("msg_1", asked("two")), THREADS).thread).toBeDefined();
  });
});
