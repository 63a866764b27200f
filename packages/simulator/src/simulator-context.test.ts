import { describe, expect, it } from "vitest";
import { simulator, start } from "../../../test/support/started-simulator.ts";
import { always } from "./behaviors/answers.ts";
import type { SeenRequest } from "./exchange.ts";
import {
  assistant,
  BODY,
  HEADERS,
  LONG,
  readCall,
  refused,
  resultsFor,
  send,
  TOOLS,
  until,
  user,
} from "./server/client.case.ts";

describe("thinking that is bound to its conversation, over HTTP", () => {
  const body = { ...BODY, model: "claude-opus-5-5" };
  const thought = {
    blocks: [
      { type: "thinking" as const, thinking: "Hm." },
      { type: "text" as const, text: "Yes." },
    ],
  };

  it("accepts thinking that the client sends back, but refuses or drops it after changed messages", async () => {
    await start({ behaviors: [always("ok")] });
    simulator.reply(thought);
    const { content } = await send(simulator, body);
    await send(simulator, { ...body, messages: [user("hello"), assistant(content), user("more")] });
    const moved = { ...body, messages: [user("another start"), assistant(content), user("more")] };
    expect((await refused(simulator, moved)).message).toContain("bound to a different conversation");
    const drop = {
      ...moved,
      thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
    };
    const dropped = await send(simulator, drop, { "anthropic-beta": "thinking-binding-controls-2026-08-01" });
    expect(dropped.input_transformations).toMatchObject([
      { type: "thinking_dropped", path: "messages.1.content.0" },
    ]);
  });

  it("accepts thinking that another simulator with the same seed wrote", async () => {
    await start({ behaviors: [always("ok")] });
    simulator.reply(thought);
    const { content } = await send(simulator, body);
    await simulator.close();
    await start({ behaviors: [always("ok")] });
    await send(simulator, { ...body, messages: [user("hello"), assistant(content), user("more")] });
  });
});

describe("context management over HTTP", () => {
  const clearing = {
    edits: [
      {
        type: "clear_tool_uses_20250919",
        trigger: { type: "tool_uses", value: 1 },
        keep: { type: "tool_uses", value: 1 },
      },
    ],
  };
  const beta = { "anthropic-beta": "context-management-2025-06-27" };

  it("clears tool results before the model reads them and reports the context edit", async () => {
    await start();
    const seen: string[] = [];
    simulator.reply({ blocks: [...readCall.blocks, ...readCall.blocks] }, (request) => {
      seen.push(JSON.stringify(request.messages));
      return "done";
    });
    const calls = await send(simulator, { ...BODY, tools: TOOLS });
    const messages = [user("hello"), assistant(calls.content), resultsFor(calls, LONG)];
    const body = { ...BODY, tools: TOOLS, messages, context_management: clearing };
    const message = await send(simulator, body, beta);
    expect(message.context_management).toMatchObject({
      applied_edits: [{ type: "clear_tool_uses_20250919", cleared_tool_uses: 1 }],
    });
    expect(simulator.requests.last?.appliedEdits).toHaveLength(1);
    expect(seen[0]?.split(LONG)).toHaveLength(2);
    const { max_tokens: _, ...counted } = body;
    const count = await fetch(`${simulator.url}/v1/messages/count_tokens`, {
      method: "POST",
      headers: { ...HEADERS, ...beta },
      body: JSON.stringify(counted),
    });
    const { input_tokens, context_management } = (await count.json()) as {
      input_tokens: number;
      context_management: { original_input_tokens: number };
    };
    expect(context_management.original_input_tokens).toBeGreaterThan(input_tokens + 1_000);
  });

  it("compacts a conversation at the threshold, answers from the summary, and logs the cost", async () => {
    await start({
      countText: (text) => Math.ceil(text.length / 4),
      summarize: () => "We spoke about a harbour.",
    });
    const seen: string[] = [];
    simulator.reply((request) => {
      seen.push(JSON.stringify(request.messages));
      return "On we go.";
    });
    const message = await send(
      simulator,
      {
        ...BODY,
        messages: [user(LONG.repeat(40)), assistant("I see."), user("go on")],
        context_management: {
          edits: [{ type: "compact_20260112", trigger: { type: "input_tokens", value: 50_000 } }],
        },
      },
      { "anthropic-beta": "compact-2026-01-12" },
    );
    expect(message.content).toMatchObject([
      { type: "compaction", content: "We spoke about a harbour." },
      { type: "text", text: "On we go." },
    ]);
    expect(message.usage.iterations).toMatchObject([{ type: "compaction" }, { type: "message" }]);
    expect(message.usage.input_tokens).toBeLessThan(1_000);
    expect(seen[0]).not.toContain("The harbour opens");
    const { inputTokens, costDollars } = simulator.requests.last ?? {};
    expect(inputTokens).toBeLessThan(1_000);
    expect(costDollars).toBeGreaterThan(0.3);
  });

  it("continues after a paused compaction when the client sends the compaction block back in the last message", async () => {
    await start({
      countText: (text) => Math.ceil(text.length / 4),
      summarize: () => "We spoke about a harbour.",
    });
    const trigger = { type: "input_tokens", value: 50_000 };
    const body = {
      ...BODY,
      context_management: { edits: [{ type: "compact_20260112", trigger, pause_after_compaction: true }] },
    };
    const beta = { "anthropic-beta": "compact-2026-01-12" };
    const messages = [user(LONG.repeat(40)), assistant("I see."), user("go on")];
    const paused = await send(simulator, { ...body, messages }, beta);
    expect(paused).toMatchObject({ stop_reason: "compaction", content: [{ type: "compaction" }] });
    const seen: unknown[] = [];
    simulator.reply((request) => {
      seen.push(request.messages);
      return "On we go.";
    });
    const next = await send(simulator, { ...body, messages: [...messages, assistant(paused.content)] }, beta);
    expect(next).toMatchObject({ stop_reason: "end_turn", content: [{ type: "text", text: "On we go." }] });
    expect(seen).toEqual([[user([{ type: "text", text: "We spoke about a harbour." }])]]);
    expect(simulator.requests.invalid).toEqual([]);
    expect(simulator.requests.last?.findings).toEqual([]);
  });

  it("compacts on demand after a finished answer, and refuses while a tool call waits for its result", async () => {
    await start();
    const onDemand = { "anthropic-beta": "compact-2026-09-04" };
    const body = { ...BODY, tools: TOOLS, compaction: { type: "summarize" } };
    const finished = [user("Mend src/a.ts."), assistant("It is mended.")];
    const compacted = await send(simulator, { ...body, messages: finished }, onDemand);
    expect(compacted).toMatchObject({ stop_reason: "compaction", content: [{ type: "compaction" }] });
    expect(simulator.requests.invalid).toEqual([]);
    const call = { type: "tool_use", id: "toolu_1", name: "Read", input: {} };
    const open = [user("Mend src/a.ts."), assistant([call])];
    expect((await refused(simulator, { ...body, messages: open }, onDemand)).details).toEqual({
      error_code: "compaction_incomplete_turn",
    });
  });

  it("when the client sends back thinking that follows a threshold compaction, the simulator accepts this thinking", async () => {
    await start({ countText: (text) => Math.ceil(text.length / 4), behaviors: [always("ok")] });
    simulator.reply({
      blocks: [
        { type: "thinking", thinking: "Hm." },
        { type: "text", text: "Yes." },
      ],
    });
    const beta = { "anthropic-beta": "compact-2026-01-12" };
    const body = {
      ...BODY,
      model: "claude-opus-5-5",
      context_management: {
        edits: [{ type: "compact_20260112", trigger: { type: "input_tokens", value: 50_000 } }],
      },
    };
    const messages = [user(LONG.repeat(40))];
    const { content } = await send(simulator, { ...body, messages }, beta);
    expect(content.map(({ type }) => type)).toEqual(["compaction", "thinking", "text"]);
    await send(simulator, { ...body, messages: [...messages, assistant(content), user("more")] }, beta);
  });

  it("compacts on demand into a signed block from which the conversation continues", async () => {
    await start({ behaviors: [always("ok")] });
    const onDemand = { "anthropic-beta": "compact-2026-09-04" };
    const messages = [user("Mend src/a.ts."), assistant("It is mended."), user("Thank you.")];
    const compacted = await send(
      simulator,
      { ...BODY, messages, compaction: { type: "summarize" } },
      onDemand,
    );
    expect(compacted).toMatchObject({
      stop_reason: "compaction",
      content: [{ type: "compaction", content: expect.any(String), signature: expect.any(String) }],
      usage: { input_tokens: 0, output_tokens: 0, iterations: [{ type: "compaction" }] },
    });
    const compaction = { type: "summarize", instructions: "Look after the file names above all." };
    const instructed = await send(simulator, { ...BODY, messages, compaction }, onDemand);
    const inputOf = ({ usage }: typeof compacted): unknown => usage.iterations?.[0]?.input_tokens;
    expect(inputOf(instructed)).toBeGreaterThan(Number(inputOf(compacted)));
    const next = [assistant(compacted.content), user("And src/b.ts?")];
    expect((await send(simulator, { ...BODY, messages: next }, onDemand)).stop_reason).toBe("end_turn");
    const [block] = compacted.content;
    const forged = [assistant([{ ...block, content: "Something else." }]), user("And src/b.ts?")];
    expect((await refused(simulator, { ...BODY, messages: forged }, onDemand)).details).toMatchObject({
      error_code: "compaction_content_mismatch",
    });
  });
});

describe("threads over HTTP", () => {
  const beta = { "anthropic-beta": "message-threads-2026-08-12" };

  it("a thread keeps the conversation for a client that sends only new messages", async () => {
    await start();
    const seen: number[] = [];
    const listen = (request: SeenRequest): string => {
      seen.push(request.messages.length);
      return "ok";
    };
    simulator.reply(listen, listen);
    const { id } = await send(simulator, { ...BODY, thread: { type: "create" } }, beta);
    const more = { ...BODY, messages: [user("more")], thread: { type: "continue", previous_message_id: id } };
    await send(simulator, more, beta);
    expect(seen).toEqual([1, 3]);
    expect(simulator.requests.invalid).toEqual([]);
    expect((await refused(simulator, more, beta)).details).toMatchObject({
      error_code: "thread_already_continued",
    });
  });

  it("a client can continue a thread after a failed call", async () => {
    await start({ behaviors: [always("ok")] });
    const { id } = await send(simulator, { ...BODY, thread: { type: "create" } }, beta);
    const more = { ...BODY, messages: [user("more")], thread: { type: "continue", previous_message_id: id } };
    let isFirst = true;
    simulator.reply(() => {
      if (!isFirst) return "ok";
      isFirst = false;
      throw new Error("once");
    });
    await refused(simulator, more, beta);
    expect((await send(simulator, more, beta)).stop_reason).toBe("end_turn");
  });

  it("a client can continue a thread after it disconnected before the answer", async () => {
    await start({ behaviors: [always("ok")] });
    const { id } = await send(simulator, { ...BODY, thread: { type: "create" } }, beta);
    const more = { ...BODY, messages: [user("more")], thread: { type: "continue", previous_message_id: id } };
    simulator.fail({ kind: "slow", firstByteMs: 60_000 });
    const leaving = new AbortController();
    const left = fetch(`${simulator.url}/v1/messages`, {
      method: "POST",
      headers: { ...HEADERS, ...beta },
      body: JSON.stringify(more),
      signal: leaving.signal,
    });
    await until(() => simulator.requests.last?.usage !== undefined && simulator.requests.length === 2);
    leaving.abort();
    await expect(left).rejects.toThrow();
    await until(() => simulator.requests.last?.outcome === "abandoned");
    expect((await send(simulator, more, beta)).stop_reason).toBe("end_turn");
  });

  it("the request log checks new messages of a thread together with the stored conversation", async () => {
    await start({ behaviors: [always("ok")] });
    simulator.reply(readCall);
    const call = await send(simulator, { ...BODY, tools: TOOLS, thread: { type: "create" } }, beta);
    const thread = { type: "continue", previous_message_id: call.id };
    await send(simulator, { ...BODY, messages: [resultsFor(call)], thread }, beta);
    expect(simulator.requests.invalid).toEqual([]);
    expect(simulator.requests.last?.findings).toEqual([]);
    simulator.clock.advance(10 * 60_000);
    const expired = { type: "continue", previous_message_id: "msg_gone" };
    expect(
      (await refused(simulator, { ...BODY, messages: [resultsFor(call)], thread: expired }, beta)).status,
    ).toBe(404);
    expect(simulator.requests.last?.findings).toBeUndefined();
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("refuses threads with an error code when they are disabled", async () => {
    await start({ switches: { threads: "refused" } });
    expect((await refused(simulator, { ...BODY, thread: { type: "create" } }, beta)).details).toMatchObject({
      error_code: "thread_unsupported_request",
    });
    expect(simulator.requests.invalid).toEqual([]);
  });
});
