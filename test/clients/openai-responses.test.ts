import { coder, type Simulator, startSimulator } from "@longhaul/simulator";
import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import type {
  FunctionTool,
  Response,
  ResponseInputItem,
  ResponseStreamEvent,
} from "openai/resources/responses/responses";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { LIST_FILES, READ_FILE, REQUEST, runTool } from "./workspace.ts";

const MODEL = "gpt-5.4";
const TURNS = 10;

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({ behaviors: [coder({ turns: TURNS, inventsPaths: true })] });
});
afterEach(() => simulator.close());

const client = () => new OpenAI({ baseURL: simulator.openAiUrl, apiKey: "any", maxRetries: 0 });

const tools: FunctionTool[] = [READ_FILE, LIST_FILES].map(({ name, description, input_schema }) => ({
  type: "function",
  name,
  description,
  parameters: { ...input_schema },
  strict: false,
}));

const outputs = (response: Response): ResponseInputItem[] =>
  response.output.flatMap((item) =>
    item.type === "function_call"
      ? [
          {
            type: "function_call_output" as const,
            call_id: item.call_id,
            output: runTool(item.name, JSON.parse(item.arguments)),
          },
        ]
      : [],
  );

/** Sends the results of the tools until the model calls no more tools. Returns all responses. */
async function converse(
  answer: (input: ResponseInputItem[], previous: Response | undefined) => Promise<Response>,
): Promise<readonly Response[]> {
  const responses: Response[] = [];
  let input: ResponseInputItem[] = [{ role: "user", content: REQUEST }];
  for (;;) {
    const response = await answer(input, responses.at(-1));
    responses.push(response);
    input = outputs(response);
    if (input.length === 0) return responses;
  }
}

/** Collects the whole history for a client that stores nothing. */
function history(): (input: ResponseInputItem[], previous: Response | undefined) => ResponseInputItem[] {
  const all: ResponseInputItem[] = [];
  return (input, previous) => {
    all.push(...((previous?.output ?? []) as ResponseInputItem[]), ...input);
    return [...all];
  };
}

function expectSoundConversation(responses: readonly Response[]): void {
  expect(simulator.requests.invalid).toEqual([]);
  expect(responses.length).toBeGreaterThan(TURNS);
  expect(responses.at(-1)?.status).toBe("completed");
  expect(responses.at(-1)?.output_text).not.toBe("");
}

describe("the official openai SDK with Responses", () => {
  it("the openai SDK continues stored responses by their id and sends only the new items", async () => {
    const responses = await converse((input, previous) =>
      client().responses.create({ model: MODEL, input, tools, previous_response_id: previous?.id ?? null }),
    );
    expectSoundConversation(responses);
    expect(simulator.requests.last?.usage?.input_tokens).toBeGreaterThan(500);
  });

  it("the openai SDK sends reasoning back with its encrypted content when nothing is stored", async () => {
    const whole = history();
    const responses = await converse((input, previous) =>
      client().responses.create({
        model: MODEL,
        input: whole(input, previous),
        tools,
        store: false,
        include: ["reasoning.encrypted_content"],
      }),
    );
    expectSoundConversation(responses);
    const reasoning = responses.flatMap(({ output }) => output).filter(({ type }) => type === "reasoning");
    expect(reasoning.length).toBeGreaterThan(2);
  });

  it("the openai SDK collects the same response from a stream as the last event contains", async () => {
    const events: ResponseStreamEvent[] = [];
    const responses = await converse(async (input, previous) => {
      const stream = client().responses.stream({
        model: MODEL,
        input,
        tools,
        reasoning: { summary: "auto" },
        previous_response_id: previous?.id ?? null,
      });
      events.length = 0;
      for await (const event of stream) events.push(event);
      const last = events.at(-1);
      if (last?.type !== "response.completed") throw new Error("The stream did not complete.");
      const final = await stream.finalResponse();
      // The helper adds the field `parsed`, so only the fields of the event are compared.
      expect(final).toMatchObject({ ...last.response });
      return final;
    });
    expectSoundConversation(responses);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
  });

  it("the openai SDK parses structured output", async () => {
    const answer = z.object({ cause: z.string(), line: z.number() });
    const parsed = await client().responses.parse({
      model: MODEL,
      input: REQUEST,
      text: { format: zodTextFormat(answer, "answer") },
    });
    expect(answer.parse(parsed.output_parsed)).toEqual(parsed.output_parsed);
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("the openai SDK retrieves, lists and deletes a stored response", async () => {
    const { responses } = client();
    const { id } = await responses.create({ model: MODEL, input: REQUEST });
    expect((await responses.retrieve(id)).id).toBe(id);
    const items = [];
    for await (const item of responses.inputItems.list(id)) items.push(item);
    expect(items).toMatchObject([{ role: "user", content: [{ type: "input_text", text: REQUEST }] }]);
    await responses.delete(id);
    await expect(responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });

  it("the openai SDK polls a response in the background until it is complete", async () => {
    const { responses } = client();
    const queued = await responses.create({ model: MODEL, input: REQUEST, background: true });
    expect(queued).toMatchObject({ status: "queued", output: [] });
    expect((await responses.retrieve(queued.id)).status).toBe("in_progress");
    expect((await responses.retrieve(queued.id)).output_text).not.toBe("");
  });

  it("the openai SDK counts input tokens as the response reports them", async () => {
    const { responses } = client();
    const { input_tokens } = await responses.inputTokens.count({ model: MODEL, input: REQUEST });
    const { usage } = await responses.create({ model: MODEL, input: REQUEST });
    expect(input_tokens).toBe(usage?.input_tokens);
  });

  it("the openai SDK compacts a conversation and continues after it", async () => {
    const { responses } = client();
    const whole = history();
    const turns = await converse((input, previous) =>
      responses.create({ model: MODEL, input: whole(input, previous), tools, store: false }),
    );
    const before = whole([], turns.at(-1));
    const { output } = await responses.compact({ model: MODEL, input: before });
    expect(output.map(({ type }) => type)).toEqual(["message", "compaction"]);
    const next = { role: "user" as const, content: "Go on." };
    const input = [...(output as ResponseInputItem[]), next];
    const after = await responses.create({ model: MODEL, input, tools, store: false });
    expect(after.usage?.input_tokens).toBeLessThan(turns.at(-1)?.usage?.input_tokens ?? 0);
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("the openai SDK gets a compaction item when the input crosses the threshold", async () => {
    const whole = history();
    const responses = await converse((input, previous) =>
      client().responses.create({
        model: MODEL,
        input: whole(input, previous),
        tools,
        store: false,
        context_management: [{ type: "compaction", compact_threshold: 1_200 }],
      }),
    );
    const compactions = responses.flatMap(({ output }) => output).filter(({ type }) => type === "compaction");
    expect(compactions.length).toBeGreaterThan(0);
    expectSoundConversation(responses);
  });

  it("the openai SDK keeps a conversation on the server", async () => {
    const { conversations, responses } = client();
    const { id } = await conversations.create({ metadata: { topic: "parser" } });
    const turns = await converse((input) =>
      responses.create({ model: MODEL, input, tools, conversation: id }),
    );
    expectSoundConversation(turns);
    const items = [];
    for await (const item of conversations.items.list(id, { order: "asc" })) items.push(item);
    expect(items.length).toBeGreaterThan(2 * TURNS);
  });
});
