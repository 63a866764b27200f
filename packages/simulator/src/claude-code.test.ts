import { summaryPrompt } from "@longhaul/core/summary";
import { afterEach, describe, expect, it } from "vitest";
import { always, textTurn } from "./behaviors/answers.ts";
import { send, until } from "./server/client.case.ts";
import { type Simulator, type SimulatorOptions, startSimulator } from "./simulator.ts";

/**
 * These tests send requests in the form of Claude Code. An earlier version of the simulator refused each of
 * these requests, although the real API accepts them.
 */

let simulator: Simulator;
const start = async (options: SimulatorOptions = {}): Promise<void> => {
  simulator = await startSimulator(options);
  simulator.reply("Done.");
};
afterEach(() => simulator.close());

const BETAS_OF_2_1_197 = [
  "claude-code-20250219",
  "interleaved-thinking-2025-05-14",
  "context-management-2025-06-27",
  "prompt-caching-scope-2026-01-05",
  "effort-2025-11-24",
];
const BETAS_OF_2_1_325 = [
  "claude-code-20250219",
  "interleaved-thinking-2025-05-14",
  "thinking-token-count-2026-05-13",
  "context-management-2025-06-27",
  "per-turn-control-2026-07-01",
  "mid-conversation-tool-changes-2026-07-01",
  "advanced-tool-use-2025-11-20",
  "effort-2025-11-24",
];
const betas = (names: readonly string[]): Record<string, string> => ({ "anthropic-beta": names.join(",") });

const cached = { cache_control: { type: "ephemeral" } };
const BODY = {
  model: "claude-opus-5-5",
  max_tokens: 32_000,
  system: [{ type: "text", text: "You are a coding agent.", ...cached }],
  messages: [{ role: "user", content: [{ type: "text", text: "Add a function.", ...cached }] }],
  tools: [{ name: "Read", description: "Reads a file.", input_schema: { type: "object", properties: {} } }],
  metadata: { user_id: '{"device_id":"d","session_id":"s"}' },
  thinking: { type: "adaptive", display: "omitted" },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  output_config: { effort: "medium" },
} as const;

describe("the simulator with requests of Claude Code", () => {
  it.each([
    ["2.1.197", BETAS_OF_2_1_197],
    ["2.1.325", BETAS_OF_2_1_325],
  ])("accepts the betas of Claude Code %s, even if unknown betas are refused", async (_, names) => {
    await start({ switches: { unknownBetas: "refused" } });
    await send(simulator, BODY, betas(names));
    expect(simulator.requests.last).toMatchObject({ status: 200, unknownBetas: [], findings: [] });
  });

  it("accepts a system message that sets the effort of a turn", async () => {
    await start();
    const messages = [
      ...BODY.messages,
      { role: "system", content: [{ type: "text", text: "Be brief." }], output_config: { effort: "medium" } },
    ];
    await send(simulator, { ...BODY, messages }, betas(BETAS_OF_2_1_325));
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("accepts a thinking budget above max_tokens when thinking is interleaved", async () => {
    await start();
    const { output_config: _, ...older } = BODY;
    const thinking = { type: "enabled", budget_tokens: 31_999 };
    const body = { ...older, model: "claude-sonnet-4-5", max_tokens: 8_000, thinking };
    await send(simulator, body, betas(BETAS_OF_2_1_197));
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("the simulator accepts an unknown beta header and names it in the request log", async () => {
    await start();
    await send(simulator, BODY, betas([...BETAS_OF_2_1_325, "not-known-2030-01-01"]));
    expect(simulator.requests.last).toMatchObject({ status: 200, unknownBetas: ["not-known-2030-01-01"] });
  });
});

describe("the purpose, delay and usage of calls of Claude Code", () => {
  const ids = { "x-claude-code-session-id": "s" };
  const { tools: _, ...toolless } = BODY;
  const asked = [{ role: "user", content: "What is asked for?" }];
  const summary = [{ role: "user", content: summaryPrompt() }];

  it.each<[string, object, Record<string, string>, string]>([
    ["conversation", BODY, ids, "conversation"],
    ["subagent", BODY, { ...ids, "x-claude-code-agent-id": "a" }, "subagent"],
    ["summary", { ...BODY, messages: summary }, ids, "summary"],
    [
      "summary of a subagent",
      { ...BODY, messages: summary },
      { ...ids, "x-claude-code-agent-id": "a" },
      "summary",
    ],
    ["title", { ...toolless, messages: asked }, ids, "side-call"],
    [
      "web search",
      { ...toolless, tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 8 }] },
      ids,
      "side-call",
    ],
    ["conversation of another client without tools", toolless, {}, "conversation"],
  ])("the simulator recognizes the purpose of a call for a %s", async (__, body, headers, purpose) => {
    const seen: string[] = [];
    await start({ behaviors: [(request) => void seen.push(request.purpose), always("Done.")] });
    simulator.reset();
    await send(simulator, body, { ...betas(BETAS_OF_2_1_325), ...headers });
    expect(seen).toEqual([purpose]);
    expect(simulator.requests.last).toMatchObject({ purpose });
  });

  it("a call whose turn sets delayMs is answered after a later call without a delay", async () => {
    await start();
    simulator.reset();
    simulator.reply({ ...textTurn("Late."), delayMs: 300 }, "Now.");
    const answers: unknown[] = [];
    const ask = async (): Promise<void> => {
      const { content } = await send(simulator, BODY, betas(BETAS_OF_2_1_325));
      answers.push(content[0]?.text);
    };
    const first = ask();
    await until(() => simulator.requests.last?.usage !== undefined);
    await Promise.all([first, ask()]);
    expect(answers).toEqual(["Now.", "Late."]);
  });

  it("reports the usage that a scripted turn sets, and logs the input tokens that the simulator counted", async () => {
    await start();
    simulator.reset();
    simulator.reply({ ...textTurn("Done."), usage: { input_tokens: 190_000 } });
    const { usage } = await send(simulator, BODY, betas(BETAS_OF_2_1_325));
    expect(usage).toMatchObject({
      input_tokens: 190_000,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    });
    expect(usage.output_tokens).toBeGreaterThan(0);
    expect(simulator.requests.last?.inputTokens).toBeLessThan(1_000);
  });
});

describe("refusals of thinking in the request log", () => {
  it("the request log lists a refusal of thinking in a conversation whose earlier messages the client changed", async () => {
    await start();
    simulator.reset();
    simulator.reply({
      blocks: [
        { type: "thinking", thinking: "Hm." },
        { type: "text", text: "Done." },
      ],
    });
    const question = { role: "user", content: "Add a function." };
    const { context_management: _, ...body } = BODY;
    const answer = await send(simulator, { ...body, messages: [question] });
    const changed = [
      { role: "user", content: "Add two functions." },
      { role: "assistant", content: answer.content },
      { role: "user", content: "And now?" },
    ];
    await expect(send(simulator, { ...body, messages: changed })).rejects.toThrow("different conversation");
    expect(simulator.requests.bindingRefusals).toMatchObject([
      { index: 1, error: { status: 400, rule: "thinkingBoundElsewhere" } },
    ]);
  });
});
