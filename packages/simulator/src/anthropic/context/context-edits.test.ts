import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../../../../core/src/messages/untrusted.ts";
import { applyEdits, CLEARED_RESULT, type EditedMessages, withoutPastTurns } from "./context-edits.ts";
import { asked, BINDING, FORGETFUL, result, said, simulatedModel, thought, used } from "./talk.case.ts";

const measure = (messages: readonly ApiMessage[]): number => JSON.stringify(messages).length;

function run(messages: readonly ApiMessage[], edits: readonly JsonRecord[], model = BINDING): EditedMessages {
  return applyEdits({ messages, tokens: measure(messages) }, edits, simulatedModel(model), measure);
}

/** Creates turns that each think and read a file of 200 characters. */
function reads(count: number, name: (index: number) => string = () => "read"): readonly ApiMessage[] {
  const turns = Array.from({ length: count }, (_, index): readonly ApiMessage[] => [
    { role: "assistant", content: [thought(`t${index}`), used(`toolu_${index}`, name(index))] },
    { role: "user", content: [result(`toolu_${index}`, "x".repeat(200))] },
  ]);
  return [asked("go"), ...turns.flat()];
}

function clearedIds(messages: readonly ApiMessage[]): readonly string[] {
  return blocks(messages).flatMap((block) =>
    block.type === "tool_result" && block.content === CLEARED_RESULT ? [block.tool_use_id] : [],
  );
}

const blocks = (messages: readonly ApiMessage[]): readonly ContentBlock[] =>
  messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
const thoughts = (messages: readonly ApiMessage[]): readonly string[] =>
  blocks(messages).flatMap((block) => (block.type === "thinking" ? [block.thinking] : []));

const CLEAR_TOOLS = { type: "clear_tool_uses_20250919" };
const LOW = { trigger: { type: "input_tokens", value: 10 } };

describe("the context edit clear_tool_uses", () => {
  it("clear_tool_uses clears all but the last three tool results once the request exceeds the trigger", () => {
    const messages = reads(6);
    const { applied, messages: shown, tokens } = run(messages, [{ ...CLEAR_TOOLS, ...LOW }]);
    expect(clearedIds(shown)).toEqual(["toolu_0", "toolu_1", "toolu_2"]);
    expect(applied).toEqual([
      {
        type: "clear_tool_uses_20250919",
        cleared_tool_uses: 3,
        cleared_input_tokens: 3 * (200 - CLEARED_RESULT.length),
      },
    ]);
    expect(tokens).toBe(measure(messages) - (applied[0]?.cleared_input_tokens ?? 0));
  });

  it("clear_tool_uses clears nothing until a request exceeds the trigger, by default 100,000 tokens", () => {
    const messages = reads(6);
    const trigger = { type: "input_tokens", value: measure(messages) };
    expect(run(messages, [{ ...CLEAR_TOOLS, trigger }]).messages).toBe(messages);
    expect(run(messages, [CLEAR_TOOLS]).messages).toBe(messages);
    const large = [asked("y".repeat(100_000)), ...messages.slice(1)];
    expect(run(large, [CLEAR_TOOLS]).applied).toHaveLength(1);
  });

  it("the trigger of clear_tool_uses can be a number of tool uses", () => {
    const trigger = (value: number): JsonRecord => ({
      ...CLEAR_TOOLS,
      trigger: { type: "tool_uses", value },
    });
    expect(run(reads(6), [trigger(5)]).applied).toHaveLength(1);
    expect(run(reads(6), [trigger(6)]).applied).toEqual([]);
  });

  it("clear_tool_uses keeps the given number of tool results", () => {
    const keep = (value: number): JsonRecord => ({
      ...CLEAR_TOOLS,
      ...LOW,
      keep: { type: "tool_uses", value },
    });
    expect(clearedIds(run(reads(4), [keep(1)]).messages)).toEqual(["toolu_0", "toolu_1", "toolu_2"]);
    expect(clearedIds(run(reads(4), [keep(0)]).messages)).toHaveLength(4);
    expect(clearedIds(run(reads(4), [keep(9)]).messages)).toEqual([]);
  });

  it("clear_tool_uses keeps the results of tools in exclude_tools", () => {
    const messages = reads(6, (index) => (index === 1 ? "memory" : "read"));
    const { messages: shown } = run(messages, [{ ...CLEAR_TOOLS, ...LOW, exclude_tools: ["memory"] }]);
    expect(clearedIds(shown)).toEqual(["toolu_0", "toolu_2"]);
  });

  it("clear_tool_uses can clear the inputs of all tools, of named tools, or of none", () => {
    const messages = reads(5, (index) => (index === 0 ? "write" : "read"));
    const emptied = (value: unknown): readonly string[] =>
      blocks(run(messages, [{ ...CLEAR_TOOLS, ...LOW, clear_tool_inputs: value }]).messages).flatMap(
        (block) => (block.type === "tool_use" && JSON.stringify(block.input) === "{}" ? [block.id] : []),
      );
    expect(emptied(undefined)).toEqual([]);
    expect(emptied(true)).toEqual(["toolu_0", "toolu_1"]);
    expect(emptied(["write"])).toEqual(["toolu_0"]);
  });

  it("skips clear_tool_uses when it cannot clear the required minimum", () => {
    const gain = 3 * (200 - CLEARED_RESULT.length);
    const least = (value: number): JsonRecord => ({
      ...CLEAR_TOOLS,
      ...LOW,
      clear_at_least: { type: "input_tokens", value },
    });
    expect(run(reads(6), [least(gain)]).applied).toHaveLength(1);
    const messages = reads(6);
    expect(run(messages, [least(gain + 1)]).messages).toBe(messages);
  });

  it.each(["ok", "x".repeat(CLEARED_RESULT.length)])(
    "skips clear_tool_uses when the tool results are not longer than the placeholder: %s",
    (text) => {
      const messages: readonly ApiMessage[] = [
        asked("go"),
        { role: "assistant", content: [used("a")] },
        { role: "user", content: [result("a", text)] },
      ];
      expect(
        run(messages, [{ ...CLEAR_TOOLS, ...LOW, keep: { type: "tool_uses", value: 0 } }]).messages,
      ).toBe(messages);
    },
  );

  it("clear_tool_uses never clears a tool call that waits for its result", () => {
    const open: ApiMessage = { role: "assistant", content: [used("open")] };
    const messages = [...reads(2), open];
    const edit = { ...CLEAR_TOOLS, ...LOW, keep: { type: "tool_uses", value: 0 }, clear_tool_inputs: true };
    const { messages: shown } = run(messages, [edit]);
    expect(shown.at(-1)).toBe(open);
    expect(clearedIds(shown)).toHaveLength(2);
  });
});

describe("the context edit clear_thinking", () => {
  const turns = (count: number): readonly ApiMessage[] =>
    Array.from({ length: count }, (_, index): readonly ApiMessage[] => [
      asked(`q${index}`),
      { role: "assistant", content: [thought(`t${index}`), said(`a${index}`)] },
    ]).flat();
  const CLEAR = { type: "clear_thinking_20251015" };
  const keep = (value: number): JsonRecord => ({ ...CLEAR, keep: { type: "thinking_turns", value } });

  it("clear_thinking keeps the thinking of the given number of last turns", () => {
    const messages = turns(4);
    const { messages: shown, applied, tokens } = run(messages, [keep(2)]);
    expect(thoughts(shown)).toEqual(["t2", "t3"]);
    expect(applied).toEqual([
      {
        type: "clear_thinking_20251015",
        cleared_thinking_turns: 2,
        cleared_input_tokens: measure(messages) - tokens,
      },
    ]);
  });

  it("clear_thinking counts all replies up to the next user text as one turn", () => {
    expect(thoughts(run(reads(3), [keep(1)]).messages)).toEqual(["t0", "t1", "t2"]);
    const two = [...reads(2), asked("more"), ...reads(2).slice(1)];
    const { messages: shown, applied } = run(two, [keep(1)]);
    expect(thoughts(shown)).toEqual(["t0", "t1"]);
    expect(shown.slice(5)).toEqual(two.slice(5));
    expect(applied[0]).toMatchObject({ cleared_thinking_turns: 1 });
  });

  it('clear_thinking keeps all thinking if keep is "all" or an object of the type "all"', () => {
    const messages = turns(3);
    expect(run(messages, [{ ...CLEAR, keep: "all" }], FORGETFUL).messages).toBe(messages);
    expect(run(messages, [{ ...CLEAR, keep: { type: "all" } }], FORGETFUL).messages).toBe(messages);
  });

  it("clear_thinking without options keeps the thinking that the model keeps by default", () => {
    const messages = turns(3);
    expect(run(messages, [CLEAR], BINDING).messages).toBe(messages);
    expect(thoughts(run(messages, [CLEAR], FORGETFUL).messages)).toEqual(["t2"]);
  });

  it("clear_thinking removes a message that contains only cleared thinking", () => {
    const messages: readonly ApiMessage[] = [
      asked("q"),
      { role: "assistant", content: [thought("only")] },
      ...turns(1),
    ];
    expect(run(messages, [keep(1)]).messages).toEqual([asked("q"), ...turns(1)]);
  });

  it("applies clear_thinking before clear_tool_uses and reports both separately", () => {
    const messages = [...reads(3), asked("more"), ...reads(5).slice(1)];
    const { applied, tokens } = run(messages, [keep(1), { ...CLEAR_TOOLS, ...LOW }]);
    expect(applied.map(({ type }) => type)).toEqual(["clear_thinking_20251015", "clear_tool_uses_20250919"]);
    const cleared = applied.reduce((sum, edit) => sum + edit.cleared_input_tokens, 0);
    expect(tokens).toBe(measure(messages) - cleared);
  });
});

describe("the messages that a model sees without context edits", () => {
  const messages: readonly ApiMessage[] = [
    ...reads(1),
    { role: "assistant", content: [thought("done"), said("done")] },
    asked("more"),
    ...reads(1).slice(1),
  ];

  it("drops the thinking of earlier turns on older models and keeps it on newer ones", () => {
    expect(thoughts(withoutPastTurns(messages, simulatedModel(FORGETFUL), []))).toEqual(["t0"]);
    expect(withoutPastTurns(messages, simulatedModel(BINDING), [])).toBe(messages);
  });

  it("older models keep the thinking of earlier turns when the request sets clear_thinking to keep all", () => {
    const edits = [{ type: "clear_thinking_20251015", keep: "all" }];
    expect(withoutPastTurns(messages, simulatedModel(FORGETFUL), edits)).toBe(messages);
  });

  it("removes a system message that sets clear_at to next_user_message once a user message follows", () => {
    const nudge = (clear_at: string): ApiMessage =>
      ({ role: "system", clear_at, content: "hurry" }) as unknown as ApiMessage;
    const model = simulatedModel(BINDING);
    const before = [asked("a"), nudge("next_user_message")];
    expect(withoutPastTurns(before, model, [])).toBe(before);
    const after = [...before, asked("b")];
    expect(withoutPastTurns(after, model, [])).toEqual([asked("a"), asked("b")]);
    const lasting = [asked("a"), nudge("never"), asked("b")];
    expect(withoutPastTurns(lasting, model, [])).toBe(lasting);
  });
});
