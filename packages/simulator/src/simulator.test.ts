import { summaryPrompt } from "@longhaul/core/summary";
import { describe, expect, it } from "vitest";
import { simulator, start } from "../../../test/support/started-simulator.ts";
import { SPAN_SYSTEM_PROMPT, spanPrompt } from "../../core/src/modules/collapse/summarize-span.ts";
import { always, textTurn } from "./behaviors/answers.ts";
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
import { type SimulatorOptions, startSimulator } from "./simulator.ts";

describe("behaviors of the simulator", () => {
  it("the simulator answers with scripted turns first, then with the given behaviors in order", async () => {
    await start({ behaviors: [() => undefined, always("from the second"), always("never")] });
    simulator.reply("from the script");
    expect((await send(simulator, BODY)).content).toEqual([{ type: "text", text: "from the script" }]);
    expect((await send(simulator, BODY)).content).toEqual([{ type: "text", text: "from the second" }]);
  });

  it("passes the request to a scripted turn that is a function", async () => {
    await start();
    const seen: SeenRequest[] = [];
    simulator.reply((request) => {
      seen.push(request);
      return `You said ${request.messages.length} things.`;
    });
    await send(simulator, { ...BODY, system: [{ type: "text", text: "Be brief." }], tools: TOOLS });
    expect(seen[0]).toMatchObject({ system: "Be brief.", tools: TOOLS, maxTokens: 1_000, index: 0 });
  });

  it("the simulator plays the coder by default, which calls the tools of the request", async () => {
    await start({ coder: { inventsPaths: true } });
    const messages: object[] = [user("Please mend the test in src/a.ts.")];
    for (let turn = 0; turn < 5; turn++) {
      const message = await send(simulator, { ...BODY, tools: TOOLS, messages });
      messages.push(assistant(message.content), resultsFor(message));
      expect(message.stop_reason).toBe("tool_use");
    }
    expect(simulator.requests.invalid).toEqual([]);
  });

  it.each([
    ["a summary", {}, summaryPrompt(), "<summary>"],
    ["a span", { system: SPAN_SYSTEM_PROMPT }, spanPrompt(200), "<condensed>"],
  ])("the simulator answers a request for %s by default", async (_, more, prompt, sign) => {
    await start();
    const { content } = await send(simulator, {
      ...BODY,
      ...more,
      messages: [user("Hi"), assistant("Hm"), user(prompt)],
    });
    expect(JSON.stringify(content)).toContain(sign);
  });

  it("fails with status 500 when no behavior answers or a behavior throws", async () => {
    await start({ behaviors: [] });
    expect(await refused(simulator, BODY)).toMatchObject({ status: 500, type: "api_error" });
    simulator.reply(() => {
      throw new TypeError("a mistake in the test");
    });
    expect((await refused(simulator, BODY)).message).toContain("a mistake in the test");
    expect((await send(simulator, { ...BODY, max_tokens: 0 })).stop_reason).toBe("max_tokens");
  });
});

describe("options of a program without types", () => {
  it.each([
    [{ windowToken: 5 }, 'startSimulator has no option "windowToken"'],
    [{ switches: { unknownBeta: "refused" } }, 'switches has no option "unknownBeta"'],
  ])("startSimulator refuses the unknown name in %j", async (options, problem) => {
    await expect(startSimulator(options as unknown as SimulatorOptions)).rejects.toThrow(problem);
  });
});

describe("request rules of the simulator", () => {
  it("applies the rules of the API version in the request header", async () => {
    await start({ behaviors: [always("hi")] });
    const warm = { ...BODY, model: "claude-haiku-4-5", temperature: 0.5 };
    await send(simulator, warm);
    const newer = await refused(simulator, warm, { "anthropic-version": "2026-10-21" });
    expect(newer.message).toBe("temperature: Extra inputs are not permitted");
    expect(simulator.requests.last).toMatchObject({ version: "2026-10-21", status: 400 });
  });

  it("the switch consecutiveRoles decides whether repeated roles are accepted", async () => {
    const twice = { ...BODY, messages: [user("one"), user("two")] };
    await start({ behaviors: [always("hi")] });
    await send(simulator, twice);
    await simulator.close();
    await start({ switches: { consecutiveRoles: "refused" } });
    expect((await refused(simulator, twice)).message).toContain("roles must alternate");
  });

  it("refuses a prompt that exceeds the window, and cuts an answer that would exceed it", async () => {
    await start({
      models: [{ id: "claude-small", windowTokens: 32_000, maxOutputTokens: 8_000 }],
      behaviors: [always(LONG.repeat(20))],
      countText: (text) => Math.ceil(text.length / 4),
    });
    const body = (repeats: number) => ({
      ...BODY,
      model: "claude-small",
      max_tokens: 8_000,
      messages: [user(LONG.repeat(repeats))],
    });
    const tooLong = await refused(simulator, body(20));
    expect(tooLong).toMatchObject({ status: 400, type: "invalid_request_error" });
    expect(tooLong.message).toMatch(/^prompt is too long: \d+ tokens > 32000 maximum$/);
    const message = await send(simulator, body(14));
    expect(message.stop_reason).toBe("model_context_window_exceeded");
    expect((message.usage.input_tokens ?? 0) + (message.usage.output_tokens ?? 0)).toBe(32_000);
  });
});

describe("the prompt cache over HTTP", () => {
  it("writes and reads the prompt cache, which expires after five minutes of the simulator's clock", async () => {
    await start({ behaviors: [always("hi")] });
    const messages: object[] = [user(LONG)];
    const turn = async () => {
      const message = await send(simulator, { ...BODY, messages, cache_control: { type: "ephemeral" } });
      messages.push(assistant(message.content), user("and then?"));
      return message.usage;
    };
    const first = await turn();
    const second = await turn();
    expect(first.cache_read_input_tokens).toBe(0);
    expect(second.cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
    simulator.clock.advance(6 * 60_000);
    expect((await turn()).cache_read_input_tokens).toBe(0);
    const [one, two] = simulator.requests.all;
    expect(one?.costDollars).toBeGreaterThan(two?.costDollars ?? 0);
    expect(simulator.requests.totals.cacheReadTokens).toBe(second.cache_read_input_tokens);
  });

  it("does not write the prompt cache for a call whose answer never began", async () => {
    await start({ behaviors: [always("hi")] });
    const body = { ...BODY, messages: [user(LONG)], cache_control: { type: "ephemeral" } };
    simulator.fail(529);
    await refused(simulator, body);
    simulator.fail({ kind: "slow", firstByteMs: 60_000 });
    const leaving = new AbortController();
    const left = fetch(`${simulator.url}/v1/messages`, {
      method: "POST",
      headers: HEADERS,
      body: JSON.stringify(body),
      signal: leaving.signal,
    });
    await until(() => simulator.requests.last?.usage !== undefined);
    leaving.abort();
    await expect(left).rejects.toThrow();
    await until(() => simulator.requests.last?.outcome === "abandoned");
    expect((await send(simulator, body)).usage.cache_read_input_tokens).toBe(0);
  });

  it("reports the reason for a cache miss if the request asks for it", async () => {
    await start({ behaviors: [always("hi")] });
    const body = { ...BODY, system: LONG, cache_control: { type: "ephemeral" } };
    const { id } = await send(simulator, body);
    const changed = { ...body, system: `${LONG}!`, diagnostics: { previous_message_id: id } };
    expect((await send(simulator, changed)).diagnostics).toMatchObject({
      cache_miss_reason: { type: "system_changed" },
    });
  });

  it("the model does not see tool results that cached edits deleted", async () => {
    await start({ switches: { cacheEdits: true } });
    simulator.reply(readCall, "fine", (request) => JSON.stringify(request.messages));
    const base = { ...BODY, tools: TOOLS, cache_control: { type: "ephemeral" } };
    const messages: object[] = [user("read it")];
    const call = await send(simulator, { ...base, messages });
    messages.push(assistant(call.content), resultsFor(call, LONG));
    const fine = await send(simulator, { ...base, messages });
    messages.push(assistant(fine.content), user("what did it say?"));
    const id = call.content.find(({ type }) => type === "tool_use")?.id;
    const edited = await send(simulator, {
      ...base,
      messages,
      cache_edits: [{ type: "delete_tool_result", tool_use_id: id }],
    });
    expect(edited.usage.cache_deleted_input_tokens).toBeGreaterThan(1_000);
    expect(JSON.stringify(edited.content)).not.toContain("harbour");
  });

  it("accepts a conversation that fits into the window only because of cached edits", async () => {
    const windowTokens = 6_000;
    await start({ switches: { cacheEdits: true }, windowTokens, behaviors: [always("fine")] });
    simulator.reply(readCall);
    const base = { ...BODY, max_tokens: 100, tools: TOOLS, cache_control: { type: "ephemeral" } };
    const messages: object[] = [user("read it")];
    const call = await send(simulator, { ...base, messages });
    messages.push(assistant(call.content), resultsFor(call, LONG));
    await send(simulator, { ...base, messages });
    messages.push(assistant([{ type: "text", text: "fine" }]), user("and now? ".repeat(1_200)));
    expect(await refused(simulator, { ...base, messages })).toMatchObject({ status: 400 });
    const id = call.content.find(({ type }) => type === "tool_use")?.id;
    const cache_edits = [{ type: "delete_tool_result", tool_use_id: id }];
    expect((await send(simulator, { ...base, messages, cache_edits })).stop_reason).toBe("end_turn");
  });
});

describe("the request log of the simulator", () => {
  it("the request log lists the findings of the request checker and the invalid requests", async () => {
    await start({ behaviors: [always("ok")] });
    await send(simulator, BODY);
    await refused(simulator, { ...BODY, messages: [assistant("I begin."), user("no")] });
    simulator.fail(400);
    await refused(simulator, BODY);
    const { all, invalid, last } = simulator.requests;
    expect(all.map(({ findings }) => findings?.map(({ rule }) => rule))).toEqual([[], ["first-role"], []]);
    expect(invalid.map(({ index }) => index)).toEqual([1]);
    expect(last).toMatchObject({
      status: 400,
      outcome: "answered",
      model: "claude-opus-5",
      endpoint: "messages",
    });
    expect(all[0]?.durationMs).toBeGreaterThan(0);
  });

  it("a call with a retired or unknown model is an invalid request, and a question about a model is not", async () => {
    await start({ behaviors: [always("ok")] });
    await refused(simulator, { ...BODY, model: "claude-3-opus-20240229" });
    await refused(simulator, { ...BODY, model: "claude-unknown" });
    for (const path of ["/v1/models/claude-unknown", "/favicon.ico"])
      await fetch(`${simulator.url}${path}`, { headers: HEADERS });
    const { all, invalid, invalidCount } = simulator.requests;
    expect(all.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect([invalid.map(({ index }) => index), invalidCount]).toEqual([[0, 1], 2]);
  });

  it("the request log checks each request by the rules of its API version", async () => {
    await start({ behaviors: [always("ok")] });
    const citations = [{ type: "char_location", cited_text: "a", document_index: 0, document_title: null }];
    const messages = [user([{ type: "text", text: "As you said.", citations }])];
    await send(simulator, { ...BODY, messages });
    await refused(simulator, { ...BODY, messages }, { "anthropic-version": "2026-10-21" });
    expect(simulator.requests.all.map(({ findings }) => findings?.length)).toEqual([0, 1]);
  });

  it("the request log keeps only the newest bodies, but the figures of all requests", async () => {
    await start({ behaviors: [always("ok")], keepBodies: 2 });
    await refused(simulator, { ...BODY, messages: [assistant("I begin.")] });
    for (let call = 0; call < 4; call++) await send(simulator, BODY);
    const { all, totals, invalid } = simulator.requests;
    expect(all.map(({ body }) => body !== undefined)).toEqual([false, false, false, true, true]);
    expect(all.slice(1).every(({ usage, stopReason }) => usage && stopReason === "end_turn")).toBe(true);
    expect(all[0]?.findings?.[0]?.rule).toBe("first-role");
    expect(invalid).toHaveLength(1);
    expect(totals).toMatchObject({ requests: 5, errors: 1 });
  });

  it("the request log keeps the newest requests, the invalid ones, and the totals of all requests", async () => {
    await start({ behaviors: [always("ok")], keepBodies: 1, keepRequests: 3 });
    await refused(simulator, { ...BODY, messages: [assistant("I begin.")] });
    for (let call = 0; call < 6; call++) await send(simulator, BODY);
    const { requests } = simulator;
    expect(requests.all.map(({ index }) => index)).toEqual([4, 5, 6]);
    expect(requests.invalid.map(({ index }) => index)).toEqual([0]);
    expect([requests.length, requests.invalidCount, requests.last?.index]).toEqual([7, 1, 6]);
    const { inputTokens = 0 } = requests.last ?? {};
    expect(requests.totals).toMatchObject({ requests: 7, errors: 1, inputTokens: 6 * inputTokens });
  });

  it("the request log counts the error of a request that fails after the log dropped it", async () => {
    await start({ behaviors: [always("ok")], keepRequests: 1 });
    simulator.reply({ ...textTurn("one two three"), delayMs: 300 });
    simulator.fail({ kind: "overload-in-stream", afterEvents: 1 });
    const body = JSON.stringify({ ...BODY, stream: true });
    const slow = fetch(`${simulator.url}/v1/messages`, { method: "POST", headers: HEADERS, body });
    await until(() => simulator.requests.length === 1);
    for (let call = 0; call < 3; call++) await send(simulator, BODY);
    expect(simulator.requests.totals).toMatchObject({ requests: 4, errors: 0 });
    await (await slow).text();
    await until(() => simulator.requests.totals.errors === 1);
    await send(simulator, BODY);
    expect(simulator.requests.totals).toMatchObject({ requests: 5, errors: 1 });
  });

  it("calls onRequest when a request is over", async () => {
    const reported: (number | undefined)[] = [];
    await start({ behaviors: [always("ok")], onRequest: ({ status }) => reported.push(status) });
    await send(simulator, BODY);
    simulator.fail(429);
    await refused(simulator, BODY);
    expect(reported).toEqual([200, 429]);
  });
});
