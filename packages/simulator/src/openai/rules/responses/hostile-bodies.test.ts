import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { call, output, refusalOf, said, thought, tool, user, verdictOn } from "./rule-bench.case.ts";

const MANY = 30_000;

const numbered = <T>(make: (index: number) => T): readonly T[] =>
  Array.from({ length: MANY }, (_, i) => make(i));

/** A body with one of everything, as the ground for damage. */
const SOUND = {
  input: [
    user([{ type: "input_text", text: "json" }]),
    thought({ id: "rs_1", encrypted_content: "known" }),
    call("call_1", { id: "fc_1" }),
    output("call_1", { output: [{ type: "input_text", text: "a" }] }),
    { type: "shell_call", call_id: "s", action: { commands: ["ls"] } },
    {
      type: "shell_call_output",
      call_id: "s",
      output: [{ stdout: "", stderr: "", outcome: { type: "timeout" } }],
    },
    said("a", { id: "msg_1" }),
    { type: "item_reference", id: "msg_1x" },
  ],
  tools: [
    tool("read", { strict: false }),
    { type: "mcp", server_label: "a", server_url: "https://a.example" },
  ],
  tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "read" }] },
  text: { format: { type: "json_schema", name: "a", schema: { type: "object" } } },
  reasoning: { effort: "low" },
  metadata: { a: "b" },
  include: ["reasoning.encrypted_content"],
  conversation: { id: "conv_1" },
  prompt: { id: "pmpt_1" },
  context_management: [{ type: "compaction" }],
};

/** Paths to every value of the body. */
function pathsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const below =
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([name, inner]) => pathsIn(inner, [...path, name]))
      : [];
  return [path, ...below];
}

function replaced(value: unknown, [step, ...rest]: readonly string[], by: unknown): unknown {
  if (step === undefined) return by;
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value)
    ? [...value]
    : { ...(value as object) };
  Reflect.set(copy, step, replaced(Reflect.get(copy, step), rest, by));
  return copy;
}

const PATHS = pathsIn(SOUND).filter((path) => path.length > 0);
const ODD_VALUES = [
  null,
  true,
  -1,
  1.5,
  1e308,
  "",
  "x",
  "__proto__",
  [],
  [null],
  [[]],
  {},
  { type: {} },
  { type: "__proto__" },
  { id: 7 },
];

describe("hostile bodies for the Responses API", () => {
  it("the rules judge every damaged value without an error of their own", () => {
    for (const path of PATHS) {
      for (const odd of ODD_VALUES) {
        const body = replaced(SOUND, path, odd) as object;
        expect(() => refusalOf(body)).not.toThrow();
        expect(() => refusalOf(body, { endpoint: "compact" })).not.toThrow();
        expect(() => refusalOf(body, { endpoint: "count_tokens" })).not.toThrow();
      }
    }
  });

  it("the rules judge any JSON in any place without an error of their own", () => {
    fc.assert(
      fc.property(fc.constantFrom(...PATHS), fc.jsonValue(), (path, value) => {
        refusalOf(replaced(SOUND, path, value) as object);
      }),
    );
  });

  it.each([
    ["calls with outputs", numbered((i) => (i % 2 === 0 ? call(`c${i}`) : output(`c${i - 1}`)))],
    [
      "reasoning items in a row",
      [...numbered((i) => thought({ id: `rs_${i}`, encrypted_content: "known" })), said()],
    ],
    ["messages with ids", numbered((i) => said("a", { id: `msg_${i}` }))],
  ])("the rules go through 30,000 %s in one pass", (_, input) => {
    expect(verdictOn({ input })).toBe("accepted");
  });

  it("the rules go through 30,000 tools and as many allowed tools in one pass", () => {
    const tools = numbered((i) => tool(`t${i}`));
    const tool_choice = {
      type: "allowed_tools",
      mode: "auto",
      tools: numbered((i) => ({ type: "function", name: `t${i}` })),
    };
    expect(verdictOn({ tools, tool_choice })).toBe("accepted");
  });

  const LONG = "x".repeat(1_000_000);

  it.each([
    ["the name of a field", { [LONG]: 1 }],
    ["a choice", { truncation: LONG }],
    ["the type of an item", { input: [{ type: LONG }] }],
    ["a role", { input: [{ role: LONG, content: "" }] }],
    ["the type of a part", { input: [user([{ type: LONG }])] }],
    ["the id of an item", { input: [said("a", { id: LONG })] }],
    ["the id of a response", { previous_response_id: LONG }],
    [
      "the name of an allowed tool",
      { tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ name: LONG }] } },
    ],
    ["the type of context management", { context_management: [{ type: LONG }] }],
    ["a name in the metadata", { metadata: { [LONG]: "a" } }],
  ])("an error text stays short when %s is long", (_, body) => {
    const { message, details } = refusalOf(body) ?? {};
    expect(message).toBeDefined();
    expect(JSON.stringify({ message, details }).length).toBeLessThan(3_000);
  });
});
