import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../../simulator.ts";
import { call, MODEL } from "./client.case.ts";

let simulator: Simulator;
beforeAll(async () => {
  const switches = { unknownFields: "accepted", foreignReasoning: "accepted" } as const;
  simulator = await startSimulator({ coder: { turns: 2 }, switches });
});
afterAll(() => simulator.close());

const TYPES = [
  ...["message", "reasoning", "compaction", "compaction_trigger", "item_reference", "additional_tools"],
  ...["function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "mcp_call"],
  ...["function_call_output", "custom_tool_call_output", "local_shell_call_output", "shell_call_output"],
];

const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constantFrom(null, "call_1", "rs_1"));
const part = fc.oneof(
  scalar,
  fc.record(
    {
      type: fc.constantFrom("input_text", "output_text", "refusal", "input_image", "input_file"),
      text: scalar,
      image_url: scalar,
      file_data: scalar,
    },
    { requiredKeys: ["type"] },
  ),
);
const content = fc.oneof(scalar, fc.array(part, { maxLength: 3 }));
const item = fc.record(
  {
    type: fc.constantFrom(...TYPES),
    role: fc.constantFrom("user", "assistant", "developer", "tool"),
    id: fc.constantFrom("rs_1", "msg_1", "fc_1", null),
    call_id: fc.constantFrom("call_1", "call_2", null),
    name: fc.constantFrom("f", "__proto__"),
    arguments: fc.constantFrom("{}", "x", 5),
    input: scalar,
    content,
    output: content,
    summary: fc.array(part, { maxLength: 2 }),
    encrypted_content: scalar,
    tools: fc.anything(),
    action: fc.oneof(fc.constant({ commands: ["ls"] }), scalar),
  },
  { requiredKeys: [] },
);
/** A body that is sound except for one field. */
const body = fc
  .oneof(
    fc.record({ input: fc.array(fc.oneof(scalar, item), { maxLength: 3 }) }),
    fc.record({ tools: fc.array(fc.oneof(scalar, fc.anything()), { maxLength: 3 }) }),
    fc.record({ reasoning: fc.anything() }),
    fc.record({ text: fc.anything() }),
    fc.record({ conversation: fc.anything() }),
    fc.record({ context_management: fc.anything() }),
    fc.record({ tool_choice: fc.anything() }),
    fc.record({ stream: fc.boolean(), stream_options: fc.anything() }),
  )
  .map((fields) => ({ model: MODEL, input: [{ role: "user", content: "Hi" }], ...fields }));

const answered = async (path: string, sent: object): Promise<number> => {
  const response = await fetch(`${simulator.openAiUrl}/${path}`, {
    method: "POST",
    headers: { authorization: "Bearer any", "content-type": "application/json" },
    body: JSON.stringify(sent),
  });
  await response.text();
  return response.status;
};

describe("whatever is posted to the Responses API", () => {
  it("a body with one strange field is answered or refused, but never makes the simulator fail", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("responses", "responses/compact", "responses/input_tokens"),
        body,
        async (path, sent) => {
          expect([200, 400, 404]).toContain(await answered(path, sent));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("a conversation with strange items can still be continued and compacted", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 4 }), async (items) => {
        const created = await call(simulator, "conversations", { method: "POST", body: { items } });
        const conversation = String(created.body.id);
        const input = [{ role: "user", content: "Hi" }];
        const sent = { model: MODEL, input, conversation, truncation: "auto" };
        expect([200, 400, 404]).toContain(await answered("responses", sent));
        const context_management = [{ type: "compaction", compact_threshold: 1_000 }];
        expect([200, 400, 404]).toContain(await answered("responses", { ...sent, context_management }));
      }),
      { numRuns: 150 },
    );
  });
});
