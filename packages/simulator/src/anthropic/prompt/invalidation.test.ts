import { describe, expect, it } from "vitest";
import { scene } from "../../../../../test/support/prompt-scene.ts";
import { type PromptLevel, settingsKeys } from "./model-prompt.ts";
import { assistant, type Body, MARK, simulatedModel, text, toolResult, toolUse, user } from "./scene.case.ts";

const tool = (name: string): Record<string, unknown> => ({
  name,
  description: "d".repeat(2_000),
  input_schema: { type: "object" },
});

/**
 * Request with a cache mark at the end of the tools, of the system prompt and of the messages. So each part
 * can be read from the cache separately.
 */
const base: Body = {
  model: "claude-opus-4-6",
  tools: [tool("Read"), { ...tool("Write"), cache_control: MARK }],
  system: [text(5_000, "s", MARK)],
  messages: [user(text(5_000, "a", MARK)), assistant(text(10, "b")), user(text(20, "c", MARK))],
};

/**
 * Sends both requests and returns the last part of the prompt that the second request reads from the cache.
 */
function readAfter(changed: Body, first: Body = base): PromptLevel | "nothing" | "everything" {
  scene.send(first);
  const { cache_read_input_tokens: read } = scene.send(changed);
  if (read === scene.prompt(first).tokens) return "everything";
  const at = scene.prompt(changed).positions.find(({ tokens }) => tokens === read);
  return at?.level ?? "nothing";
}

const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
const cited = (enabled: boolean): Record<string, unknown> => ({
  type: "document",
  source: { type: "text", media_type: "text/plain", data: "words" },
  citations: { enabled },
});
const append = (...blocks: ReadonlyArray<Record<string, unknown>>): Body => ({
  ...base,
  messages: [...base.messages, assistant(text(5)), user(...blocks, text(1, "z", MARK))],
});

describe("changes of the tools, which make the whole cached prompt unusable", () => {
  it.each([
    [
      "one byte of a description",
      [tool("Read"), { ...tool("Write"), description: "other", cache_control: MARK }],
    ],
    ["their order", [tool("Write"), { ...tool("Read"), cache_control: MARK }]],
    [
      "the order of fields",
      [tool("Read"), { description: "d".repeat(2_000), name: "Write", input_schema: { type: "object" } }],
    ],
    ["another tool at the front", [tool("Bash"), tool("Read"), { ...tool("Write"), cache_control: MARK }]],
  ])("reads nothing from the cache after a change of the tools: %s", (_, tools) =>
    expect(readAfter({ ...base, tools })).toBe("nothing"),
  );

  it("reads nothing from the cache after a change of a schema property with the name cache_control", () => {
    const withProperty = (type: string): unknown => ({
      ...tool("Read"),
      input_schema: { type: "object", properties: { cache_control: { type } } },
      cache_control: MARK,
    });
    const first = { ...base, tools: [withProperty("string")] };
    expect(readAfter({ ...base, tools: [withProperty("number")] }, first)).toBe("nothing");
  });
});

describe("changes of a request that keep the tools cached", () => {
  const search = { type: "web_search_20260318", name: "web_search" };
  it("keeps the tools cached when web search is enabled", () =>
    expect(readAfter({ ...base, tools: [search, ...(base.tools as object[])] })).toBe("tools"));
  it("keeps the tools cached when the speed changes", () =>
    expect(readAfter({ ...base, speed: "fast" })).toBe("tools"));
  it("keeps the tools cached when citations are enabled", () =>
    expect(readAfter(append(cited(true)))).toBe("tools"));
  it("keeps the tools cached when the system prompt changes", () =>
    expect(readAfter({ ...base, system: [text(5_000, "q", MARK)] })).toBe("tools"));
});

describe("changes of a request that keep the tools and the system prompt cached", () => {
  it.each<readonly [string, Record<string, unknown>]>([
    ["tool_choice", { tool_choice: { type: "any" } }],
    ["tool_choice to a named tool", { tool_choice: { type: "tool", name: "Read" } }],
    ["disable_parallel_tool_use", { tool_choice: { type: "auto", disable_parallel_tool_use: true } }],
    ["thinking to adaptive", { thinking: { type: "adaptive" } }],
    ["thinking to a budget", { thinking: { type: "enabled", budget_tokens: 2_048 } }],
    ["the effort", { output_config: { effort: "low" } }],
  ])("keeps tools and system prompt cached after a change of %s", (_, change) =>
    expect(readAfter({ ...base, ...change })).toBe("system"),
  );

  it("keeps tools and system prompt cached when the thinking budget changes", () => {
    const budget = (tokens: number): Body => ({
      ...base,
      thinking: { type: "enabled", budget_tokens: tokens },
    });
    expect(readAfter(budget(2_048), budget(4_096))).toBe("system");
  });
  it("keeps tools and system prompt cached when the first image is added", () =>
    expect(readAfter(append(image))).toBe("system"));
  it("keeps tools and system prompt cached when the first image inside a tool result is added", () => {
    const messages = [
      ...base.messages,
      assistant(toolUse("a")),
      user({ type: "tool_result", tool_use_id: "a", content: [image], cache_control: MARK }),
    ];
    expect(readAfter({ ...base, messages })).toBe("system");
  });
  it("keeps tools and system prompt cached when an earlier message changes", () =>
    expect(readAfter({ ...base, messages: [user(text(5_000, "q", MARK)), ...base.messages.slice(1)] })).toBe(
      "system",
    ));
});

describe("changes of a request that keep the whole prompt cached", () => {
  it.each<readonly [string, Record<string, unknown>]>([
    [
      "defaults to their explicit values",
      { tool_choice: { type: "auto" }, speed: "standard", thinking: { type: "disabled" } },
    ],
    ["the default effort to its explicit value", { output_config: { effort: "high" } }],
    [
      "limits and metadata",
      { max_tokens: 5, metadata: { user_id: "u" }, stop_sequences: ["x"], stream: true },
    ],
    ["the display of thinking", { thinking: { type: "disabled", display: "omitted" } }],
  ])("keeps everything cached after a change of %s", (_, change) =>
    expect(readAfter({ ...base, ...change })).toBe("everything"),
  );

  it("keeps everything cached when a message is a string instead of one block", () => {
    const first: Body = { messages: [{ role: "user", content: "a".repeat(2_000) }], cache_control: MARK };
    expect(readAfter({ ...first, messages: [user(text(2_000, "a"))] }, first)).toBe("everything");
  });
  it("keeps everything cached when the blocks of a turn are split into two messages", () => {
    const first: Body = { messages: [user(text(2_000, "a"), text(5, "b", MARK))] };
    expect(readAfter({ messages: [user(text(2_000, "a")), user(text(5, "b", MARK))] }, first)).toBe(
      "everything",
    );
  });
  it("keeps everything cached when another image is added", () => {
    scene.send(append(image));
    const more = [...append(image).messages, assistant(text(3)), user(image, text(2, "y", MARK))];
    expect(scene.send({ ...base, messages: more }).cache_read_input_tokens).toBe(
      scene.prompt(append(image)).tokens,
    );
  });
  it("keeps everything cached when a document without citations is added", () =>
    expect(readAfter(append(cited(false)))).toBe("everything"));
  it("keeps everything cached when an unused deferred tool is added", () => {
    const tools = [{ ...tool("Later"), defer_loading: true }, ...(base.tools as object[])];
    expect(readAfter({ ...base, tools })).toBe("everything");
  });
});

it("a request without an effort has the same cache key as one with the default effort of its model", () => {
  const key = (id: string, effort?: string): string =>
    settingsKeys(effort === undefined ? {} : { output_config: { effort } }, simulatedModel(id), {
      hasImages: false,
      hasCitations: false,
    }).messages;
  expect(key("claude-opus-5-5")).toBe(key("claude-opus-5-5", "medium"));
  expect(key("claude-haiku-5-5")).toBe(key("claude-haiku-5-5", "medium"));
  expect(key("claude-opus-5")).toBe(key("claude-opus-5", "high"));
  expect(key("claude-opus-5-5")).not.toBe(key("claude-opus-5-5", "high"));
});

it("keeps everything cached when a later request sets thinking to the model's default", () => {
  const first: Body = { model: "claude-opus-5-5", messages: [user(text(2_000, "a", MARK))] };
  expect(readAfter({ ...first, thinking: { type: "adaptive" } }, first)).toBe("everything");
});

describe("thinking of earlier turns in the cache", () => {
  const thinking = { type: "thinking", thinking: "t".repeat(100), signature: "s" };
  const turn = (model: string): Body => ({
    model,
    thinking: { type: "enabled", budget_tokens: 1_024 },
    messages: [
      user(text(5_000, "a", MARK)),
      assistant(thinking, toolUse("1")),
      user(toolResult("1", 30, MARK)),
    ],
  });
  const next = (model: string, ...blocks: ReadonlyArray<Record<string, unknown>>): Body => ({
    ...turn(model),
    messages: [...turn(model).messages, assistant(text(7)), user(...blocks)],
  });

  it("the thinking of earlier turns stays cached on models that keep it", () => {
    const model = "claude-opus-4-6";
    expect(readAfter(next(model, text(5, "n", MARK)), turn(model))).toBe("everything");
  });

  it("models that drop the thinking of earlier turns read only the cache before that thinking", () => {
    const model = "claude-haiku-4-5";
    const body = next(model, text(5, "n", MARK));
    scene.send(turn(model));
    const usage = scene.send(body);
    expect(usage.cache_read_input_tokens).toBe(scene.prompt(body).positions[0]?.tokens);
    expect(scene.prompt(body).positions.some(({ kind }) => kind === "thinking")).toBe(false);
  });

  it("thinking stays cached while its turn continues with tool results", () => {
    const model = "claude-haiku-4-5";
    const messages = [...turn(model).messages, assistant(toolUse("2")), user(toolResult("2", 5, MARK))];
    expect(readAfter({ ...turn(model), messages }, turn(model))).toBe("everything");
  });

  it("the thinking of earlier turns stays cached when the request sets clear_thinking to keep all", () => {
    const edits = { edits: [{ type: "clear_thinking_20251015", keep: "all" }] };
    const model = "claude-haiku-4-5";
    const body = { ...next(model, text(5, "n", MARK)), context_management: edits };
    expect(readAfter(body, turn(model))).toBe("everything");
  });
});
