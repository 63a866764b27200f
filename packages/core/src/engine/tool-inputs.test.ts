import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../test/support/deep-freeze.ts";
import { type Compactor, createCompactor } from "../../../../test/support/full-compactor.ts";
import type { ApiMessage } from "../messages/message.ts";
import type { Message, Turn } from "./options.ts";

const TODOS = [{ content: "write the test", status: "pending" }];
const tools = [
  {
    name: "TodoWrite",
    description: "Keeps the list of tasks.",
    input_schema: { type: "object" as const, properties: { todos: { type: "array" } } },
  },
];

const engine = (request: object = { tools }): Compactor =>
  createCompactor({ model: "claude-haiku-4-5", settings: { environment: {} }, request });

const round = (id: string, todos: unknown): readonly ApiMessage[] => [
  { role: "assistant", content: [toolUse(id, "TodoWrite", { todos })] },
  { role: "user", content: [toolResult(id, "noted")] },
];

const talk = (...rounds: readonly (readonly ApiMessage[])[]): readonly ApiMessage[] => [
  { role: "user", content: "go" },
  ...rounds.flat(),
];

/** Returns the to-dos of every call in the sent request. */
const sentTodos = ({ request }: Turn<Message>): readonly unknown[] =>
  request.messages.flatMap(({ content }) =>
    typeof content === "string"
      ? []
      : content.flatMap((block) =>
          block.type === "tool_use" ? [(block.input as { readonly todos: unknown }).todos] : [],
        ),
  );

describe("tool inputs that the engine sends", () => {
  it("parses a tool input that the model wrote as a JSON string, and sends the parsed form", async () => {
    const messages = deepFreeze(talk(round("a", JSON.stringify(TODOS)), round("b", TODOS)));
    const turn = await engine().before(messages);
    expect(sentTodos(turn)).toEqual([TODOS, TODOS]);
    expect(turn.findings.map(({ rule, path }) => [rule, path])).toEqual([
      ["tool-input-schema", "messages.1.content.0"],
    ]);
    expect(turn.messages).toEqual(talk(round("a", TODOS), round("b", TODOS)));
  });

  it("reports each corrected tool input once, and returns the host's array if all inputs are valid", async () => {
    const compactor = engine();
    const sound = deepFreeze(talk(round("a", TODOS)));
    const first = await compactor.before(sound);
    expect(first.messages).toBe(sound);
    const grown = deepFreeze([...sound, ...round("b", JSON.stringify(TODOS))]);
    const second = await compactor.before(grown);
    expect(sentTodos(second)).toEqual([TODOS, TODOS]);
    expect(second.findings.map(({ path }) => path)).toEqual(["messages.3.content.0"]);
    const third = await compactor.before([...grown, ...round("c", TODOS)]);
    expect(sentTodos(third)).toEqual([TODOS, TODOS, TODOS]);
    expect(third.findings).toEqual([]);
    expect(third.messages).toEqual(talk(round("a", TODOS), round("b", TODOS), round("c", TODOS)));
  });

  it("parses JSON strings in tool inputs also if the host passes entries", async () => {
    const c = new ConversationBuilder();
    c.user("go");
    c.tool("a", "TodoWrite", { todos: JSON.stringify(TODOS) }, "noted");
    const entries = deepFreeze(c.entries);
    const turn = await engine().before(entries);
    expect(sentTodos(turn)).toEqual([TODOS]);
    expect(turn.messages).toBe(entries);
  });

  it("checks tool inputs against the tools of the current turn", async () => {
    const compactor = engine({});
    const messages = deepFreeze(talk(round("a", JSON.stringify(TODOS))));
    expect(sentTodos(await compactor.before(messages))).toEqual([JSON.stringify(TODOS)]);
    const turn = await compactor.before(messages, { request: { tools } });
    expect(sentTodos(turn)).toEqual([TODOS]);
    expect(turn.messages).toEqual(talk(round("a", TODOS)));
    const without = await compactor.before(messages, { request: { tools: [] } });
    expect(sentTodos(without)).toEqual([JSON.stringify(TODOS)]);
    expect(without.messages).toBe(messages);
  });
});
