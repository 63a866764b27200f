import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../../simulator.ts";
import { eventsOf, MODEL } from "./client.case.ts";

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator();
});
afterEach(() => simulator.close());

const READ = {
  type: "function",
  name: "read_file",
  parameters: { type: "object", properties: {} },
  strict: false,
};
const PATCH = { type: "custom", name: "apply_patch" };

/** Types of the events without the common beginning `response.`. Equal neighbors are shown once. */
const types = (events: readonly Readonly<Record<string, unknown>>[]): readonly string[] =>
  events
    .map(({ type }) => String(type).replace("response.", ""))
    .filter((type, index, all) => type !== all[index - 1]);

describe("streams of the Responses API", () => {
  it("the events of a stream come in the documented order, numbered without a gap", async () => {
    simulator.reply({
      blocks: [
        { type: "thinking", thinking: "I think about the two files first." },
        { type: "text", text: "I look at both files now." },
        { type: "tool_use", name: "read_file", input: { path: "a.ts" } },
        { type: "tool_use", name: "apply_patch", input: { input: "*** Begin Patch" } },
      ],
    });
    const events = await eventsOf(simulator, {
      input: "Hi",
      tools: [READ, PATCH],
      reasoning: { summary: "auto" },
    });
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(types(events)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "output_item.added",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "output_item.done",
      "output_item.added",
      "custom_tool_call_input.delta",
      "custom_tool_call_input.done",
      "output_item.done",
      "completed",
    ]);
  });

  it("the commands of the built-in shell come one after the other", async () => {
    const input = { commands: ["ls -la src", "cat src/a.ts"] };
    simulator.reply({ blocks: [{ type: "tool_use", name: "shell", input }] });
    const tools = [{ type: "shell", environment: { type: "local" } }];
    const events = await eventsOf(simulator, { input: "Hi", tools });
    expect(events.find(({ type }) => type === "response.output_item.added")).toMatchObject({
      item: { type: "shell_call", status: "in_progress", action: { commands: [] } },
    });
    expect(events.filter(({ type }) => type === "response.shell_call_command.done")).toMatchObject([
      { command_index: 0, output_index: 0, command: "ls -la src" },
      { command_index: 1, output_index: 0, command: "cat src/a.ts" },
    ]);
  });

  it("the deltas of a text, the done event and the last event contain the same text", async () => {
    const text = "A text with an emoji 😀 and many words, longer than one delta. ".repeat(3);
    simulator.reply(text);
    const events = await eventsOf(simulator, { input: "Hi" });
    const deltas = events.filter(({ type }) => type === "response.output_text.delta");
    expect(deltas.length).toBeGreaterThan(3);
    expect(deltas.map(({ delta }) => delta).join("")).toBe(text);
    expect(events.find(({ type }) => type === "response.output_text.done")?.text).toBe(text);
    expect(events.at(-1)).toMatchObject({
      response: {
        status: "completed",
        output: [{ content: [{ text }] }],
        usage: { total_tokens: expect.any(Number) },
      },
    });
  });

  it("the first event has no output and no usage yet", async () => {
    simulator.reply("Hello.");
    const [created] = await eventsOf(simulator, { input: "Hi" });
    expect(created).toMatchObject({ response: { status: "in_progress", output: [], usage: null } });
  });

  it("deltas are padded unless the client turns it off", async () => {
    simulator.reply("Hello.", "Hello.");
    const isPadded = (events: readonly object[]): boolean => events.some((event) => "obfuscation" in event);
    expect(isPadded(await eventsOf(simulator, { input: "Hi" }))).toBe(true);
    const stream_options = { include_obfuscation: false };
    expect(isPadded(await eventsOf(simulator, { input: "Hi", stream_options }))).toBe(false);
  });

  it("a turn that is cut ends with response.incomplete, and one that fails with response.failed", async () => {
    simulator.reply(
      { blocks: [{ type: "text", text: "Half" }], stopReason: "max_tokens" },
      {
        blocks: [],
        stopReason: "failed",
        stopDetails: { code: "rate_limit_exceeded", message: "Slow down." },
      },
    );
    const cut = await eventsOf(simulator, { input: "Hi" });
    expect(cut.at(-1)).toMatchObject({ type: "response.incomplete", response: { status: "incomplete" } });
    const failed = await eventsOf(simulator, { input: "Hi" });
    expect(failed.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "rate_limit_exceeded", message: "Slow down." } },
    });
  });

  it("an overload in a stream continues the numbers of its events", async () => {
    simulator.reply("A text with some words, longer than one delta of the stream.");
    simulator.fail({ kind: "overload-in-stream", afterEvents: 5 });
    const events = await eventsOf(simulator, { input: "Hi" });
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(events.slice(-2)).toMatchObject([
      { type: "error", error: { code: "server_is_overloaded", type: "service_unavailable_error" } },
      { type: "response.failed", response: { error: { code: "server_is_overloaded" } } },
    ]);
  });

  it("a compaction on demand reports that it compacts before its item is done", async () => {
    const events = await eventsOf(simulator, {
      input: [{ role: "user", content: "Fix the parser." }, { type: "compaction_trigger" }],
    });
    expect(types(events)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "compaction.compacting",
      "output_item.done",
      "completed",
    ]);
    expect(events[2]).toMatchObject({ item: { type: "compaction", encrypted_content: "" } });
    expect(events[4]).toMatchObject({
      item: { type: "compaction", encrypted_content: expect.stringMatching(/./) },
    });
  });

  it("a client that reconnects gets the events of a background stream after the given number", async () => {
    simulator.reply("Hello.");
    const events = await eventsOf(simulator, { input: "Hi", background: true });
    expect(events[0]).toMatchObject({ type: "response.queued", response: { status: "queued" } });
    const last = events.at(-1)?.response as { id: string } | undefined;
    const again = await fetch(`${simulator.openAiUrl}/responses/${last?.id}?stream=true&starting_after=3`, {
      headers: { authorization: "Bearer any" },
    });
    expect(await again.text()).toBe(
      events
        .slice(4)
        .map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`)
        .join(""),
    );
  });

  it.each([
    [{ stream: true, background: false }, "background=true"],
    [{ stream: false, background: true }, "stream=true"],
  ])(
    "a response that was created with %o cannot be streamed again, and the error names %s",
    async (how, missing) => {
      const { openAiUrl } = simulator;
      const headers = { authorization: "Bearer any", "content-type": "application/json" };
      const body = JSON.stringify({ model: MODEL, input: "Hi", ...how });
      const created = await fetch(`${openAiUrl}/responses`, { method: "POST", headers, body });
      const id = /resp_\w+/.exec(await created.text())?.[0];
      const again = await fetch(`${openAiUrl}/responses/${id}?stream=true`, { headers });
      expect(await again.json()).toMatchObject({
        error: { param: "stream", message: expect.stringContaining(`not created with ${missing}`) },
      });
    },
  );

  it("a switch refuses an input above the window with a status instead of an event", async () => {
    const strict = await startSimulator({ windowTokens: 1_000, switches: { streamedOverflow: "status" } });
    const response = await fetch(`${strict.openAiUrl}/responses`, {
      method: "POST",
      headers: { authorization: "Bearer any", "content-type": "application/json" },
      body: JSON.stringify({ model: MODEL, stream: true, input: "sheep ".repeat(2_000) }),
    });
    await strict.close();
    expect(response.status).toBe(400);
  });
});
