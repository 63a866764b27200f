import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CHAT_CASES, type RuleCase } from "./chat-rules.case.ts";
import { checkChatRequest, checkResponsesRequest, OPENAI_RULES, type OpenAiRule } from "./index.ts";
import { RESPONSES_CASES } from "./responses-rules.case.ts";

const RULE_NAMES = Object.keys(OPENAI_RULES) as OpenAiRule[];

function describeCases(cases: readonly RuleCase[], check: typeof checkChatRequest): void {
  for (const { rule, fault, faulty, sound, path, options } of cases) {
    it(`reports ${rule} if ${fault}`, () => {
      const { ok, findings } = check(faulty, options);
      expect(ok).toBe(false);
      expect(findings.map((finding) => [finding.rule, finding.path])).toContainEqual([rule, path]);
      expect(check(sound, options)).toEqual({ ok: true, findings: [] });
    });
  }
}

describe("rules for chat completions", () => describeCases(CHAT_CASES, checkChatRequest));

describe("rules for Responses", () => describeCases(RESPONSES_CASES, checkResponsesRequest));

describe("the table of rules", () => {
  it("every rule has a test for each API that it belongs to", () => {
    const tested = (cases: readonly RuleCase[]): ReadonlySet<string> =>
      new Set(cases.map(({ rule }) => rule));
    const untested = RULE_NAMES.filter((rule) => {
      const { api } = OPENAI_RULES[rule];
      const isChatTested = api === "responses" || tested(CHAT_CASES).has(rule);
      return !isChatTested || !(api === "chat" || tested(RESPONSES_CASES).has(rule));
    });
    // Both APIs check the size of a schema with the same code.
    expect(untested).toEqual(["schema-size"]);
  });

  it("the README shows every rule with its requirement and its source", () => {
    const readme = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8");
    const rows = RULE_NAMES.map((rule) => {
      const { api, requires, source } = OPENAI_RULES[rule];
      return `| \`${rule}\` | ${api} | ${requires} | ${source} |`;
    });
    const shown = readme
      .split("\n")
      .filter((line) => /^\| `[a-z-]+` \| (?:both|chat|responses) \|/.test(line));
    expect(shown).toEqual(rows);
  });

  it("a source is not an address", () => {
    for (const { source } of Object.values(OPENAI_RULES)) expect(source).not.toMatch(/https?:|www\./);
  });
});

describe("messages", () => {
  it("the message about a name describes what the name may contain", () => {
    const messages = [{ role: "user", name: "ann b", content: "hi" }];
    const tools = [{ type: "function", function: { name: "fs.read" } }];
    const { findings } = checkChatRequest({ model: "m", messages, tools });
    expect(findings.map(({ message }) => message)).toEqual([
      'messages[0].name is "ann b". Use a name without spaces and without <, >, |, \\ and /.',
      'tools[0].function.name is "fs.read". Use 1 to 64 characters of a-z, A-Z, 0-9, "_" and "-".',
    ]);
  });
});

describe("options", () => {
  it("accepts unknown fields if the caller does, and reports them by default", () => {
    const body = { model: "m", messages: [{ role: "user", content: "hi", mood: "good" }], top_k: 3 };
    expect(checkChatRequest(body).findings.map(({ path }) => path)).toEqual(["messages[0].mood", "top_k"]);
    expect(checkChatRequest(body, { unknownFields: "accepted" }).ok).toBe(true);
  });

  it("skips a rule if the option that it needs is missing", () => {
    const image = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
    const messages = [{ role: "user", content: [image] }];
    const body = { model: "m", messages, max_tokens: 1e9, temperature: 0.1, reasoning_effort: "low" };
    expect(checkChatRequest(body).findings).toEqual([]);
    const output = { type: "function_call_output", call_id: "call_1", output: "a" };
    const continued = { model: "m", previous_response_id: "resp_1", input: [output] };
    expect(checkResponsesRequest(continued).findings).toEqual([]);
    expect(checkResponsesRequest(continued, { earlier: [] }).ok).toBe(false);
  });

  it("reports all problems of a body at once", () => {
    const { findings } = checkChatRequest({
      messages: [{ role: "tool", content: 1 }],
      tool_choice: "auto",
      n: 1.5,
    });
    expect(findings.map(({ rule, path }) => `${rule} ${path}`).sort()).toEqual([
      "choice-without-tools tool_choice",
      "missing-field messages[0].tool_call_id",
      "missing-field model",
      "wrong-type messages[0].content",
      "wrong-type n",
    ]);
  });

  it("reports a late output as an orphan, also if its call was answered in an earlier turn", () => {
    const ask = {
      role: "assistant",
      tool_calls: [{ id: "c", type: "function", function: { name: "read", arguments: "{}" } }],
    };
    const output = { role: "tool", tool_call_id: "c", content: "a" };
    const user = { role: "user", content: "hi" };
    const found = (...messages: readonly object[]): readonly string[] =>
      checkChatRequest({ model: "m", messages }).findings.map(({ rule, path }) => `${rule} ${path}`);
    expect(found(ask, output, user, ask, output)).toEqual([]);
    expect(found(ask, output, user, output)).toEqual(["output-orphan messages[3].tool_call_id"]);
    expect(found(ask, user, output)).toEqual([
      "call-unanswered messages[0].tool_calls[0].id",
      "output-orphan messages[2].tool_call_id",
    ]);
  });

  it("a choice may name a tool of a prompt template, of an item, or by another of its names", () => {
    const check = (body: object): readonly string[] =>
      checkResponsesRequest({ model: "m", input: "hi", ...body }).findings.map(({ rule }) => rule);
    const read = { type: "function", name: "read" };
    const unknown = ["choice-unknown-tool"];
    expect(
      check({ prompt: { id: "pmpt_1" }, tools: [read], tool_choice: { ...read, name: "write" } }),
    ).toEqual([]);
    const added = { type: "additional_tools", role: "developer", tools: [read] };
    expect(check({ input: [added, { role: "user", content: "hi" }], tool_choice: read })).toEqual([]);
    const computer = {
      type: "computer_use_preview",
      display_height: 9,
      display_width: 9,
      environment: "linux",
    };
    expect(check({ tools: [computer], tool_choice: { type: "computer" } })).toEqual([]);
    expect(check({ tools: [{ type: "web_search" }], tool_choice: { type: "computer" } })).toEqual(unknown);
  });

  it("does not ask for the word JSON if stored items that it does not see may contain it", () => {
    const body = {
      model: "m",
      input: "hi",
      previous_response_id: "resp_1",
      text: { format: { type: "json_object" } },
    };
    const rulesOf = (options?: object): readonly string[] =>
      checkResponsesRequest(body, options).findings.map(({ rule }) => rule);
    expect(rulesOf()).toEqual([]);
    expect(rulesOf({ earlier: [] })).toEqual(["json-word-missing"]);
    expect(rulesOf({ earlier: [{ role: "user", content: "Answer in JSON." }] })).toEqual([]);
  });

  it("an image has an address or the id of a file, and not both", () => {
    const check = (fields: object): readonly string[] => {
      const content = [{ type: "input_image", ...fields }];
      const input = [{ role: "user", content }];
      return checkResponsesRequest({ model: "m", input }).findings.map(({ rule }) => rule);
    };
    const image_url = "https://example.com/a.png";
    expect(check({ image_url, file_id: null })).toEqual([]);
    expect(check({ image_url, file_id: "file-1" })).toEqual(["image-url"]);
    expect(check({})).toEqual(["image-url"]);
  });

  it("accepts calls that need no output, and calls of local shells under each of their ids", () => {
    const call = { type: "function_call", call_id: "c", name: "read", arguments: "{}" };
    const shell = {
      type: "local_shell_call",
      id: "lsh_1",
      call_id: "s",
      action: { type: "exec", command: ["ls"], env: {} },
    };
    const check = (...input: readonly object[]): readonly string[] =>
      checkResponsesRequest({ model: "m", input }).findings.map(({ rule }) => rule);
    expect(check({ ...call, async: true })).toEqual([]);
    expect(check(call)).toEqual(["call-unanswered"]);
    expect(check(shell, { type: "local_shell_call_output", id: "lsh_1", output: "a" })).toEqual([]);
    expect(check(shell, { type: "local_shell_call_output", call_id: "s", output: "a" })).toEqual([]);
    expect(check(shell, { type: "function_call_output", call_id: "s", output: "a" })).toEqual([]);
    expect(check(shell)).toEqual(["call-unanswered"]);
  });

  it("does not decide about an output if a reference may stand for its call", () => {
    const output = { type: "function_call_output", call_id: "call_1", output: "a" };
    const input = [{ type: "item_reference", id: "fc_1" }, output];
    expect(checkResponsesRequest({ model: "m", input }).findings).toEqual([]);
  });

  it("judges an image with much white space in its data", () => {
    const imageUrl = (data: string): object => ({ url: `data:image/png;base64,AA${data}` });
    const check = (data: string): readonly string[] => {
      const content = [{ type: "image_url", image_url: imageUrl(data) }];
      const { findings } = checkChatRequest({ model: "m", messages: [{ role: "user", content }] });
      return findings.map(({ rule }) => rule);
    };
    expect(check(`${" ".repeat(200_000)}%`)).toEqual(["image-url"]);
    expect(check("= =\n")).toEqual([]);
  });
});
