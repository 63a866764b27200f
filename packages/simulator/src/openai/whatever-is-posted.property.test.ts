import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PNG } from "../../../../test/support/builders.ts";
import type { JsonRecord } from "../../../core/src/messages/untrusted.ts";
import { damagedOf } from "../server/damage.case.ts";
import { type Simulator, startSimulator } from "../simulator.ts";
import { HEADERS, TOOL, user } from "./chat/client.case.ts";

const IMAGE = `data:image/png;base64,${PNG}`;

/** Valid requests for chat completions. Each part that a rule or a behavior checks is in one of them. */
const SOUND_CHAT: readonly JsonRecord[] = [
  {
    model: "gpt-5.4",
    reasoning_effort: "none",
    max_completion_tokens: 2_000,
    tools: [TOOL, { type: "custom", custom: { name: "apply_patch", description: "Patches." } }],
    tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [TOOL] } },
    parallel_tool_calls: false,
    prompt_cache_key: "mine",
    prompt_cache_retention: "24h",
    stream_options: { include_usage: true },
    stream: true,
    n: 2,
    store: true,
    metadata: { user: "someone" },
    messages: [
      { role: "developer", content: "Working directory: /tmp/project" },
      user([
        { type: "text", text: "Look into the parser." },
        { type: "image_url", image_url: { url: IMAGE, detail: "low" } },
      ]),
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "read_file", arguments: '{"path":"a.ts"}' } },
          { id: "call_2", type: "custom", custom: { name: "apply_patch", input: "*** Begin" } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "one" },
      { role: "tool", tool_call_id: "call_2", content: [{ type: "text", text: "two" }] },
      { role: "assistant", content: [{ type: "text", text: "Done." }] },
      user("And now?"),
    ],
  },
  {
    model: "gpt-4.1",
    temperature: 0.5,
    max_tokens: 500,
    stop: ["END"],
    response_format: {
      type: "json_schema",
      json_schema: {
        name: "answer",
        schema: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] },
      },
    },
    messages: [
      { role: "system", content: "Be brief." },
      user("Count."),
      { role: "assistant", refusal: "No." },
    ],
  },
  {
    model: "gpt-5.6-sol",
    prompt_cache_options: { mode: "explicit", ttl: "30m" },
    messages: [user([{ type: "text", text: "Hello.", prompt_cache_breakpoint: { mode: "explicit" } }])],
  },
];

const posted = fc.record({
  body: fc
    .oneof({ arbitrary: damagedOf(SOUND_CHAT), weight: 6 }, fc.jsonValue())
    .map((value) => JSON.stringify(value)),
  /** Share of the body that is sent. Below 1, the body is cut off. */
  part: fc.oneof({ arbitrary: fc.constant(1), weight: 9 }, fc.double({ min: 0, max: 1, noNaN: true })),
});

describe("the simulator of OpenAI with arbitrary POST requests", () => {
  let simulator: Simulator;
  // With `keepBodies: 0`, the log drops each body at once. Before that, the request checker checks the body.
  beforeAll(async () => {
    simulator = await startSimulator({ keepBodies: 0 });
  });
  afterAll(() => simulator.close());

  const send = (body: string): Promise<Response> =>
    fetch(`${simulator.openAiUrl}/chat/completions`, { method: "POST", headers: HEADERS, body });

  it("answers any POST request with a completion, a complete stream, or a well-formed error", async () => {
    await fc.assert(
      fc.asyncProperty(posted, async ({ body, part }) => {
        const response = await send(body.slice(0, Math.round(body.length * part)));
        const text = await response.text();
        if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
          expect(text).toMatch(/data: \[DONE\]\n\n$/);
          return;
        }
        expect([200, 400, 404], text).toContain(response.status);
        expect(JSON.parse(text)).toMatchObject(
          response.status === 200
            ? { object: "chat.completion", choices: expect.any(Array) }
            : { error: { message: expect.any(String), type: expect.any(String) } },
        );
      }),
      { numRuns: 250 },
    );
    expect(simulator.requests.all.filter(({ outcome }) => outcome !== "answered")).toEqual([]);
  });

  it("accepts the valid requests that these tests damage", async () => {
    for (const body of SOUND_CHAT) {
      const response = await send(JSON.stringify(body));
      expect(response.status, await response.text()).toBe(200);
    }
  });
});
