import { describe, expect, it } from "vitest";
import { scene } from "../../../../test/support/prompt-scene.ts";
import { type PromptLevel, settingsKeys } from "./model-prompt.ts";
import { assistant, type Body, MARK, simulatedModel, text, toolResult, toolUse, user } from "./scene.case.ts";

const tool = (name: string): Record<string, unknown> => ({
  name,
  description: "d".repeat(2_000),
  input_schema: { type: "object" },
});

/** A mark at the end of each level, so that each can be read separately. */
const base: Body = {
  model: "claude-opus-4-6",
  tools: [tool("Read"), { ...tool("Write"), cache_control: MARK }],
  system: [text(5_000, "s", MARK)],
  messages: [user(text(5_000, "a", MARK)), assistant(text(10, "b")), user(text(20, "c", MARK))],
};

/** The last level that a call after the base reads from the cache. */
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

describe("a change of the tools loses everything", () => {
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
    ["one more in front", [tool("Bash"), tool("Read"), { ...tool("Write"), cache_control: MARK }]],
  ])("%s", (_, tools) => expect(readAfter({ ...base, tools })).toBe("nothing"));

  it("but a schema may have a property that is called like the mark", () => {
    const withProperty = (type: string): unknown => ({
      ...tool("Read"),
      input_schema: { type: "object", properties: { cache_control: { type } } },
      cache_control: MARK,
    });
    const first = { ...base, tools: [withProperty("string")] };
    expect(readAfter({ ...base, tools: [withProperty("number")] }, first)).toBe("nothing");
  });
});

describe("a change that leaves the tools", () => {
  const search = { type: "web_search_20260318", name: "web_search" };
  it("is web search switched on", () =>
    expect(readAfter({ ...base, tools: [search, ...(base.tools as object[])] })).toBe("tools"));
  it("is the speed", () => expect(readAfter({ ...base, speed: "fast" })).toBe("tools"));
  it("is citations switched on", () => expect(readAfter(append(cited(true)))).toBe("tools"));
  it("is another system prompt", () =>
    expect(readAfter({ ...base, system: [text(5_000, "q", MARK)] })).toBe("tools"));
});

describe("a change that leaves tools and system", () => {
  it.each<readonly [string, Record<string, unknown>]>([
    ["another tool_choice", { tool_choice: { type: "any" } }],
    ["a certain tool", { tool_choice: { type: "tool", name: "Read" } }],
    ["one call at a time", { tool_choice: { type: "auto", disable_parallel_tool_use: true } }],
    ["thinking switched on", { thinking: { type: "adaptive" } }],
    ["a thinking budget", { thinking: { type: "enabled", budget_tokens: 2_048 } }],
    ["effort", { output_config: { effort: "low" } }],
  ])("is %s", (_, change) => expect(readAfter({ ...base, ...change })).toBe("system"));

  it("is another budget", () => {
    const budget = (tokens: number): Body => ({
      ...base,
      thinking: { type: "enabled", budget_tokens: tokens },
    });
    expect(readAfter(budget(2_048), budget(4_096))).toBe("system");
  });
  it("is the first image, wherever it is", () => expect(readAfter(append(image))).toBe("system"));
  it("is the first image inside a tool result", () => {
    const messages = [
      ...base.messages,
      assistant(toolUse("a")),
      user({ type: "tool_result", tool_use_id: "a", content: [image], cache_control: MARK }),
    ];
    expect(readAfter({ ...base, messages })).toBe("system");
  });
  it("is an earlier message", () =>
    expect(readAfter({ ...base, messages: [user(text(5_000, "q", MARK)), ...base.messages.slice(1)] })).toBe(
      "system",
    ));
});

describe("what changes nothing", () => {
  it.each<readonly [string, Record<string, unknown>]>([
    [
      "the defaults, spelled out",
      { tool_choice: { type: "auto" }, speed: "standard", thinking: { type: "disabled" } },
    ],
    ["the default effort, spelled out", { output_config: { effort: "high" } }],
    [
      "limits and metadata",
      { max_tokens: 5, metadata: { user_id: "u" }, stop_sequences: ["x"], stream: true },
    ],
    ["how thinking is shown", { thinking: { type: "disabled", display: "omitted" } }],
  ])("%s", (_, change) => expect(readAfter({ ...base, ...change })).toBe("everything"));

  it("a message as one string instead of one block", () => {
    const first: Body = { messages: [{ role: "user", content: "a".repeat(2_000) }], cache_control: MARK };
    expect(readAfter({ ...first, messages: [user(text(2_000, "a"))] }, first)).toBe("everything");
  });
  it("blocks of one turn in two messages", () => {
    const first: Body = { messages: [user(text(2_000, "a"), text(5, "b", MARK))] };
    expect(readAfter({ messages: [user(text(2_000, "a")), user(text(5, "b", MARK))] }, first)).toBe(
      "everything",
    );
  });
  it("one more image, when there were images", () => {
    scene.send(append(image));
    const more = [...append(image).messages, assistant(text(3)), user(image, text(2, "y", MARK))];
    expect(scene.send({ ...base, messages: more }).cache_read_input_tokens).toBe(
      scene.prompt(append(image)).tokens,
    );
  });
  it("a document that is not to be cited", () => expect(readAfter(append(cited(false)))).toBe("everything"));
  it("a deferred tool to which nothing refers", () => {
    const tools = [{ ...tool("Later"), defer_loading: true }, ...(base.tools as object[])];
    expect(readAfter({ ...base, tools })).toBe("everything");
  });
});

it("the default effort is that of the model", () => {
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

it("where the model thinks by default, saying so changes nothing", () => {
  const first: Body = { model: "claude-opus-5-5", messages: [user(text(2_000, "a", MARK))] };
  expect(readAfter({ ...first, thinking: { type: "adaptive" } }, first)).toBe("everything");
});

describe("thinking of earlier turns", () => {
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

  it("stays cached on models that keep it", () => {
    const model = "claude-opus-4-6";
    expect(readAfter(next(model, text(5, "n", MARK)), turn(model))).toBe("everything");
  });

  it("is stripped by a new turn on models that do not, with all that is cached after it", () => {
    const model = "claude-haiku-4-5";
    const body = next(model, text(5, "n", MARK));
    scene.send(turn(model));
    const usage = scene.send(body);
    expect(usage.cache_read_input_tokens).toBe(scene.prompt(body).positions[0]?.tokens);
    expect(scene.prompt(body).positions.some(({ kind }) => kind === "thinking")).toBe(false);
  });

  it("stays while the turn goes on with results of tools", () => {
    const model = "claude-haiku-4-5";
    const messages = [...turn(model).messages, assistant(toolUse("2")), user(toolResult("2", 5, MARK))];
    expect(readAfter({ ...turn(model), messages }, turn(model))).toBe("everything");
  });

  it("stays when the request itself says which thinking is kept", () => {
    const edits = { edits: [{ type: "clear_thinking_20251015", keep: "all" }] };
    const model = "claude-haiku-4-5";
    const body = { ...next(model, text(5, "n", MARK)), context_management: edits };
    expect(readAfter(body, turn(model))).toBe("everything");
  });
});
