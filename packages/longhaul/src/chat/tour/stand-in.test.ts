import type { ApiMessage } from "@longhaul/core/messages";
import { CLEARED_RESULT_TEXT } from "@longhaul/core/messages";
import { continuationMessage } from "@longhaul/core/summary";
import type { Behavior, Turn } from "@longhaul/simulator";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTokenCounter } from "../../../../simulator/src/prompt/token-count.ts";
import { call, type Scene, standIn } from "./stand-in.ts";

const SCENE: Scene = {
  name: "count",
  prompt: "Count to four.",
  steps: [1, 2, 3, 4].map((number) => () => ({ say: `${number}`, calls: [call("Read", { number })] })),
  answer: () => "Four.",
};
const OTHER: Scene = { ...SCENE, name: "other", prompt: "Say it.", steps: [], answer: () => "It." };
const SCENES = [SCENE, OTHER];

const counter = await createTokenCounter((text) => text.length);

const user = (...texts: readonly string[]): ApiMessage => ({
  role: "user",
  content: texts.map((text) => ({ type: "text", text })),
});

let calls = 0;
const ask = (behavior: Behavior, messages: readonly ApiMessage[]): Turn | undefined =>
  behavior({
    model: "m",
    messages,
    system: "",
    tools: [],
    maxTokens: 100,
    body: {},
    purpose: "conversation",
    provider: "anthropic",
    index: calls++,
  });
const said = (turn: Turn | undefined): unknown => turn?.blocks.find(({ type }) => type === "text");

/** Returns a turn and its tool results, as the agent stores them. */
function round(turn: Turn | undefined, result = "done"): ApiMessage[] {
  const blocks = (turn?.blocks ?? []).flatMap((block) =>
    block.type === "text" || block.type === "tool_use" ? [{ id: "", ...block }] : [],
  );
  const uses = blocks.flatMap((block) => (block.type === "tool_use" ? [block] : []));
  return [
    { role: "assistant", content: blocks },
    {
      role: "user",
      content: uses.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: result })),
    },
  ];
}

/** Returns the conversation after this number of rounds of the scene. */
function worked(behavior: Behavior, rounds: number): ApiMessage[] {
  const messages = [user("Hello."), ...round({ blocks: [{ type: "text", text: "Hello!" }] }).slice(0, 1)];
  messages.push(user(SCENE.prompt));
  for (let done = 0; done < rounds; done++) messages.push(...round(ask(behavior, messages)));
  return messages;
}

describe("standIn, the demo model of the tour", () => {
  it("the demo model plays a scene step by step, and ignores prompts that belong to no scene", () => {
    const behavior = standIn(SCENES, counter);
    expect(ask(behavior, [user("Something else.")])).toBeUndefined();
    const messages = worked(behavior, 4);
    expect(said(ask(behavior, messages))).toMatchObject({ text: "Four." });
    const over = [...messages, ...round(ask(behavior, messages)).slice(0, 1)];
    expect(ask(behavior, [...over, user("Thank you.")])).toBeUndefined();
    expect(said(ask(behavior, [...over, user(OTHER.prompt)]))).toMatchObject({ text: "It." });
  });

  it("the demo model continues a scene at the right step after cleared results, cuts or inserted reminders", () => {
    const cases = fc.record({
      rounds: fc.integer({ min: 1, max: 4 }),
      cleared: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
      cut: fc.nat(),
      reminder: fc.boolean(),
    });
    fc.assert(
      fc.property(cases, ({ rounds, cleared, cut, reminder }) => {
        const messages = worked(standIn(SCENES, counter), rounds);
        const wanted = said(ask(standIn(SCENES, counter), messages));
        // The newest round is always kept.
        const from = cut % (messages.length - 1);
        const tail = messages.slice(from).map((message, index) => withCleared(message, cleared[index % 4]));
        const summary = user(
          continuationMessage({ summary: `1. ${SCENE.prompt}`, keptRecent: true, trigger: "auto" }),
        );
        const last = reminder ? [user("<system-reminder>The files.</system-reminder>")] : [];
        const rewritten = from === 0 ? [...tail, ...last] : [summary, ...tail, ...last];
        expect(said(ask(standIn(SCENES, counter), rewritten))).toEqual(wanted);
      }),
    );
  });

  it("the demo model continues a scene if only a summary of it is left, unless the scene has ended", () => {
    const behavior = standIn(SCENES, counter);
    const messages = worked(behavior, 2);
    const summary = continuationMessage({ summary: "All.", keptRecent: false, trigger: "auto" });
    ask(behavior, messages);
    expect(said(ask(behavior, [user(summary, "the files as they are now")]))).toMatchObject({ text: "4" });
    expect(said(ask(behavior, [user(summary)]))).toMatchObject({ text: "Four." });
    expect(ask(behavior, [user(summary, "Something of their own.")])).toBeUndefined();
  });

  it("the demo model never repeats the id of a tool call, even if the person repeats a prompt", () => {
    const behavior = standIn(SCENES, counter);
    const ids = [worked(behavior, 3), worked(behavior, 3)]
      .flat()
      .flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    expect(new Set(ids).size).toBe(6);
  });
});

function withCleared(message: ApiMessage, isCleared: boolean | undefined): ApiMessage {
  if (!isCleared || !Array.isArray(message.content)) return message;
  const content = message.content.map((block) =>
    block.type === "tool_result" ? { ...block, content: CLEARED_RESULT_TEXT } : block,
  );
  return { ...message, content };
}
