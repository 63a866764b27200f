import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PNG } from "../../../../test/support/builders.ts";
import type { JsonRecord } from "../../../core/src/messages/untrusted.ts";
import { KNOWN_BETAS } from "../anthropic/wording/betas.ts";
import { type Simulator, startSimulator } from "../simulator.ts";
import { HEADERS } from "./client.case.ts";
import { damagedOf } from "./damage.case.ts";

const MARK = { cache_control: { type: "ephemeral" } };
const user = (content: unknown): JsonRecord => ({ role: "user", content });
const assistant = (content: unknown): JsonRecord => ({ role: "assistant", content });

/** Valid requests. Each part that a rule or a behavior checks is in at least one of them. */
const SOUND: readonly JsonRecord[] = [
  {
    model: "claude-sonnet-5-5",
    max_tokens: 900,
    system: [{ type: "text", text: "You are an agent.", ...MARK }],
    tools: [
      {
        name: "read_file",
        description: "Reads a file.",
        input_schema: {
          type: "object",
          properties: {
            path: { type: "string", pattern: "^[a-z/]+$", minLength: 3 },
            lines: { type: "array", items: { type: "integer", minimum: 1 }, minItems: 2, uniqueItems: true },
            mode: { anyOf: [{ enum: ["all", "some"] }, { $ref: "#/properties/path" }] },
          },
          required: ["path", "lines", "mode"],
        },
      },
      { type: "web_search_20260318", name: "web_search" },
    ],
    tool_choice: { type: "auto" },
    thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
    output_config: { effort: "low" },
    context_management: {
      edits: [
        { type: "clear_thinking_20251015", keep: { type: "thinking_turns", value: 1 } },
        {
          type: "clear_tool_uses_20250919",
          trigger: { type: "tool_uses", value: 0 },
          keep: { type: "tool_uses", value: 0 },
          clear_tool_inputs: ["read_file"],
        },
        { type: "compact_20260112", trigger: { type: "input_tokens", value: 50_000 } },
      ],
    },
    metadata: { user_id: "someone" },
    stop_sequences: ["END"],
    diagnostics: { previous_message_id: null },
    messages: [
      user([
        { type: "text", text: "Look into the parser.", ...MARK },
        { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "notes" } },
      ]),
      assistant([
        { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "parser" } },
        { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
        { type: "tool_use", id: "toolu_1", name: "read_file", input: { path: "a", lines: [1, 2] } },
      ]),
      user([
        { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "found" }] },
        { type: "search_result", source: "s", title: "t", content: [{ type: "text", text: "x" }] },
      ]),
      { role: "system", content: [{ type: "text", text: "Be brief." }], clear_at: "next_user_message" },
      { role: "system", output_config: { effort: "high" } },
    ],
  },
  {
    model: "claude-opus-4-5",
    max_tokens: 2_000,
    thinking: { type: "enabled", budget_tokens: 1_024, display: "omitted" },
    system: "Write a summary of the conversation in <summary> tags.",
    messages: [user("hello"), assistant("hello to you"), user("go on")],
    cache_control: { type: "ephemeral", ttl: "1h" },
    cache_edits: [{ type: "delete_tool_result", tool_use_id: "toolu_1" }],
    thread: { type: "create" },
  },
  {
    model: "claude-sonnet-5",
    max_tokens: 200,
    stream: true,
    compaction: { type: "summarize", instructions: "short" },
    messages: [user("hello"), assistant([{ type: "compaction", content: null }]), user("go on")],
  },
];

const damaged = damagedOf(SOUND);

const posted = fc.record({
  body: fc.oneof({ arbitrary: damaged, weight: 6 }, fc.jsonValue()).map((value) => JSON.stringify(value)),
  /** Share of the body that is sent. Below 1, the body is cut off. */
  part: fc.oneof({ arbitrary: fc.constant(1), weight: 9 }, fc.double({ min: 0, max: 1, noNaN: true })),
  path: fc.constantFrom("/v1/messages", "/v1/messages", "/v1/messages/count_tokens"),
  version: fc.constantFrom("2023-06-01", "2026-10-21"),
  betas: fc.constantFrom("", [...KNOWN_BETAS].join(",")),
});

describe("the simulator with arbitrary POST requests", () => {
  let simulator: Simulator;
  // With `keepBodies: 0`, the log drops each body at once. Before that, the request checker checks the body.
  beforeAll(async () => {
    simulator = await startSimulator({ keepBodies: 0, switches: { cacheEdits: true } });
  });
  afterAll(() => simulator.close());

  it("answers any POST request with a message, a complete stream, a count, or a well-formed error", async () => {
    await fc.assert(
      fc.asyncProperty(posted, async ({ body, part, path, version, betas }) => {
        const response = await fetch(simulator.url + path, {
          method: "POST",
          headers: { ...HEADERS, "anthropic-version": version, "anthropic-beta": betas },
          body: body.slice(0, Math.round(body.length * part)),
        });
        const text = await response.text();
        if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
          expect(text).toMatch(/event: message_stop\ndata: .*\n\n$/);
          return;
        }
        const answer = JSON.parse(text) as JsonRecord;
        expect([200, 400, 404]).toContain(response.status);
        if (response.status !== 200)
          expect(answer).toMatchObject({ type: "error", error: { message: expect.any(String) } });
        else if (path.endsWith("count_tokens")) expect(answer.input_tokens).toBeGreaterThan(0);
        else expect(answer).toMatchObject({ type: "message", content: expect.any(Array) });
      }),
      { numRuns: 600 },
    );
    expect(simulator.requests.all.filter(({ outcome }) => outcome !== "answered")).toEqual([]);
  });

  it("accepts the valid requests that these tests damage", async () => {
    for (const body of SOUND) {
      const response = await fetch(`${simulator.url}/v1/messages`, {
        method: "POST",
        headers: {
          ...HEADERS,
          "anthropic-version": "2026-10-21",
          "anthropic-beta": [...KNOWN_BETAS].join(","),
        },
        body: JSON.stringify(body),
      });
      expect(response.status, await response.text()).toBe(200);
    }
  });
});
