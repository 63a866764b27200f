import { openAgent } from "@longhaul/agent";
import type { ApiMessage, CompactorOptions } from "@longhaul/core";
import { checkRequest, complete, createCompactor, LonghaulError, memoryFiles } from "@longhaul/core";
import { accountTokens, contextTokens } from "@longhaul/core/measure";
import { flatten } from "@longhaul/core/request";
import { sessionNotes } from "@longhaul/notes";
import { scriptedModel } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { HeldNotes } from "./notes-file.case.ts";

/** Removes the type of a value, like a host that is written in JavaScript. */
const any = (value: unknown): never => value as never;
const create = (options: unknown): unknown => createCompactor(any(options));
const engine = () => createCompactor({ model: "claude-haiku-4-5", settings: { environment: {} } });
const before = (...messages: readonly unknown[]): Promise<unknown> => engine().before(any(messages));
const ask = { role: "user", content: "What is in a.ts?" };

const cyclic = (): Record<string, unknown> => {
  const value: Record<string, unknown> = { path: "/a.ts" };
  value.self = value;
  return value;
};
const deep = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
};
const call = (input: unknown): unknown => ({
  role: "assistant",
  content: [{ type: "tool_use", id: "t1", name: "Read", input }],
});

interface LangChainMessage {
  readonly lc_namespace: readonly string[];
  readonly content: string;
  _getType(): string;
}
const langChain: LangChainMessage = {
  lc_namespace: ["langchain_core", "messages"],
  content: "hello",
  _getType: () => "human",
};

type Mistake = readonly [mistake: string, attempt: () => unknown, code: string, remedy: RegExp];

const OPENAI = /tool_use block.*aiSdkModel/s;

const MESSAGES: readonly Mistake[] = [
  ["no messages", () => engine().before(any(undefined)), "messages-invalid", /as an array/],
  [
    "a request in place of its messages",
    () => engine().before(any({ messages: [ask] })),
    "messages-invalid",
    /as an array/,
  ],
  ["one prompt as a string", () => engine().compact(any("hello")), "messages-invalid", /as an array/],
  ["a promise of messages", () => engine().before(any(Promise.resolve([ask]))), "messages-invalid", /Await/],
  [
    "a whole reply of the Messages API among messages",
    () => before(ask, { type: "message", id: "msg_1", role: "assistant", content: [], usage: {} }),
    "messages-invalid",
    /role: "assistant", content: reply\.content/,
  ],
  [
    "a whole ModelReply among messages",
    () => before(ask, { id: "msg_1", content: [], stopReason: "end_turn" }),
    "messages-invalid",
    /role: "assistant", content: reply\.content/,
  ],
  [
    "an OpenAI message with tool_calls",
    () =>
      before(ask, {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: "{}" } }],
      }),
    "messages-foreign",
    OPENAI,
  ],
  [
    "an OpenAI message of role tool",
    () => before(ask, { role: "tool", tool_call_id: "c1", content: "x" }),
    "messages-foreign",
    OPENAI,
  ],
  [
    "an OpenAI message of role developer",
    () => before({ role: "developer", content: "Be brief." }),
    "messages-foreign",
    OPENAI,
  ],
  [
    "an OpenAI message of role function",
    () => before({ role: "function", name: "f", content: "1" }),
    "messages-foreign",
    OPENAI,
  ],
  [
    "an OpenAI image part",
    () => before({ role: "user", content: [{ type: "image_url", image_url: { url: "https://a/b.png" } }] }),
    "messages-foreign",
    OPENAI,
  ],
  [
    "an OpenAI Responses message",
    () => before({ type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }),
    "messages-foreign",
    OPENAI,
  ],
  [
    "an OpenAI Responses call",
    () => before(ask, { type: "function_call", call_id: "c1", name: "read", arguments: "{}" }),
    "messages-foreign",
    OPENAI,
  ],
  ["a whole completion of OpenAI", () => before(ask, { id: "c", choices: [] }), "messages-foreign", OPENAI],
  [
    "an AI SDK tool call",
    () =>
      before(ask, {
        role: "assistant",
        content: [{ type: "tool-call", toolCallId: "c1", toolName: "read", input: {} }],
      }),
    "messages-foreign",
    /aiSdkModel.*converts/s,
  ],
  [
    "an AI SDK tool result",
    () =>
      before(ask, {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: "c1", toolName: "read", output: {} }],
      }),
    "messages-foreign",
    /aiSdkModel.*converts/s,
  ],
  [
    "an AI SDK UI message",
    () => before({ id: "1", role: "user", parts: [{ type: "text", text: "hi" }] }),
    "messages-foreign",
    /UI messages for the screen/,
  ],
  ["a LangChain message", () => before(langChain), "messages-foreign", /anthropicModel/],
  [
    "a stored LangChain message",
    () => before({ type: "human", data: { content: "hi" } }),
    "messages-foreign",
    /anthropicModel/,
  ],
  ["a Gemini content", () => before({ role: "user", parts: [{ text: "hi" }] }), "messages-foreign", /Google/],
  [
    "a Bedrock Converse message",
    () =>
      before(ask, { role: "assistant", content: [{ toolUse: { toolUseId: "a", name: "read", input: {} } }] }),
    "messages-foreign",
    /Bedrock/,
  ],
  [
    "a foreign message given to compact",
    () => engine().compact(any([ask, { role: "tool", tool_call_id: "c1", content: "x" }])),
    "messages-foreign",
    OPENAI,
  ],
  [
    "a foreign message given to clear",
    () => engine().clear(any([ask, { role: "tool", tool_call_id: "c1", content: "x" }])),
    "messages-foreign",
    OPENAI,
  ],
  [
    "a foreign message given to checkRequest",
    () => checkRequest({ messages: any([ask, { role: "tool", tool_call_id: "c1", content: "x" }]) }),
    "messages-foreign",
    OPENAI,
  ],
  [
    "a foreign message given to flatten",
    () => flatten(any([ask, { role: "tool", tool_call_id: "c1", content: "x" }])),
    "messages-foreign",
    OPENAI,
  ],
  [
    "a foreign message given to complete",
    () => complete(scriptedModel(["hi"]), any({ messages: [ask, { role: "tool", content: "x" }] })),
    "messages-foreign",
    OPENAI,
  ],
  [
    "foreign messages given to contextTokens",
    () => contextTokens(any([ask, { role: "tool", tool_call_id: "c1", content: "x" }])),
    "messages-foreign",
    OPENAI,
  ],
  [
    "foreign messages given to accountTokens",
    () => accountTokens(any([{ type: "function_call", call_id: "c1", name: "read" }]), any(String)),
    "messages-foreign",
    OPENAI,
  ],
  ["a cyclic tool input", () => before(ask, call(cyclic())), "content-not-json", /references to its parents/],
  [
    "a BigInt in a tool input",
    () => before(ask, call({ size: 1n })),
    "content-not-json",
    /BigInt to a string/,
  ],
  ["a tool input nested 100,000 deep", () => before(ask, call(deep(100_000))), "content-not-json", /flatter/],
  ["a tool input nested 501 deep", () => before(ask, call(deep(501))), "content-not-json", /flatter/],
  [
    "a BigInt in a tool result",
    () =>
      before(ask, call({}), {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "t1", content: 1n }],
      }),
    "content-not-json",
    /BigInt to a string/,
  ],
  [
    "a cyclic tool definition",
    () => engine().before([ask] as ApiMessage[], { request: { tools: [any(cyclic())] } }),
    "content-not-json",
    /plain data/,
  ],
];

const RESPONSES: readonly Mistake[] = [
  ["no response", () => engine().after(any(undefined)), "response-invalid", /response of the provider/],
  [
    "the text of a response",
    () => engine().after(any("Hello.")),
    "response-invalid",
    /response of the provider/,
  ],
  ["a promise of a response", () => engine().after(any(Promise.resolve({}))), "response-invalid", /Await/],
  [
    "an HTTP response",
    () => engine().after(any(new Response("{}"))),
    "response-invalid",
    /response\.json\(\)/,
  ],
  [
    "a response whose usage is a promise",
    () => engine().after(any({ usage: Promise.resolve({}) })),
    "response-invalid",
    /await result\.usage/,
  ],
];

const OPTIONS: readonly Mistake[] = [
  ["a window of zero", () => create({ window: { tokens: 0 } }), "option-invalid", /200_000/],
  ["a negative window", () => create({ window: { tokens: -1 } }), "option-invalid", /200_000/],
  [
    "a window that is not a number",
    () => create({ window: { tokens: Number.NaN } }),
    "option-invalid",
    /200_000/,
  ],
  [
    "an infinite window",
    () => create({ window: { tokens: Number.POSITIVE_INFINITY } }),
    "option-invalid",
    /200_000/,
  ],
  ["a window as text", () => create({ window: { tokens: "200k" } }), "option-invalid", /200_000/],
  [
    "a table of models without windows",
    () => create({ window: { models: { mine: {} } } }),
    "option-invalid",
    /200_000/,
  ],
  [
    "a name in place of the model for summaries",
    () => create({ compaction: { model: "claude-sonnet-5-5" } }),
    "not-a-model",
    /anthropicModel\(\{ model: "claude-sonnet-5-5" \}\)/,
  ],
  [
    "an AI SDK model in place of a model",
    () => create({ model: { specificationVersion: "v2", provider: "openai", modelId: "gpt-5" } }),
    "not-a-model",
    /aiSdkModel\(\{ model \}\)/,
  ],
  [
    "an Anthropic client in place of a model",
    () => create({ model: { messages: {} } }),
    "not-a-model",
    /anthropicModel\(\{ model, client \}\)/,
  ],
  [
    "an OpenAI client in place of a model",
    () => create({ model: { chat: {}, responses: {} } }),
    "not-a-model",
    /aiSdkModel\(\{ model: openai/,
  ],
  [
    "a name in place of the model to call",
    () => complete(any("gpt-5"), { messages: [] }),
    "not-a-model",
    /anthropicModel\(\{ model: "gpt-5" \}\)/,
  ],
  [
    "an object that is not a summary model",
    () => create({ compaction: { model: {} } }),
    "not-a-model",
    /Model port/,
  ],
  [
    "a model in place of options",
    () => create(scriptedModel([])),
    "option-invalid",
    /createCompactor\(\{ model \}\)/,
  ],
  ["options that are not an object", () => create("claude"), "option-invalid", /an object/],
  ["a misspelled option", () => create({ compactoin: {} }), "option-unknown", /"compaction"/],
  ["a misspelled former option", () => create({ widnowTokens: 5_000 }), "option-unknown", /"window\.tokens"/],
  ["an option in the wrong case", () => create({ filetools: new Map() }), "option-unknown", /"fileTools"/],
  [
    "an option name of another library",
    () => create({ contextWindow: 5_000 }),
    "option-unknown",
    /"window\.tokens"/,
  ],
  [
    "an unknown option without a similar name",
    () => create({ flavor: "plain" }),
    "option-unknown",
    /one of: .*window/,
  ],
  [
    "a misspelled option in a group",
    () => create({ compaction: { summariser: "model" } }),
    "option-unknown",
    /"summarizer"/,
  ],
  [
    "a misspelled callback",
    () => create({ host: { onEvents: () => undefined } }),
    "option-unknown",
    /"onEvent"/,
  ],
  [
    "a form of clearing that does not exist",
    () => create({ clearing: { form: "sizes" } }),
    "option-invalid",
    /"auto" or "size"/,
  ],
  ["a model that is a number", () => create({ model: 5 }), "not-a-model", /Model port/],
  ["an empty model name", () => create({ model: "" }), "option-invalid", /name of a model/],
  [
    "settings in place of a hook runner",
    () => create({ hooks: { PreCompact: [] } }),
    "option-invalid",
    /createHooks/,
  ],
  [
    "a path in place of a transcript",
    () => create({ transcript: "/tmp/a.jsonl" }),
    "option-invalid",
    /openTranscript/,
  ],
  [
    "a path in place of a notes file",
    () => sessionNotes({ file: "/tmp/notes.md" as never }),
    "option-invalid",
    /notesFile/,
  ],
  [
    "an option that session notes do not have",
    () => sessionNotes({ file: new HeldNotes(), files: [] } as never),
    "option-unknown",
    /file/,
  ],
  [
    "options of a module in place of the module",
    () => create({ modules: [{ file: "/tmp/notes.md" }] }),
    "option-invalid",
    /sessionNotes/,
  ],
  ["no options for session notes", () => sessionNotes(any(undefined)), "option-invalid", /notesFile/],
  [
    "the factory of a module in place of the module",
    () => create({ modules: [sessionNotes] }),
    "option-invalid",
    /modules\[0\]|function that creates the module/,
  ],
  ["no options for memory files", () => memoryFiles(any(undefined)), "option-invalid", /memoryFilesPort/],
  ["the former option for memory files", () => create({ memoryFiles: {} }), "option-unknown", /"modules"/],
  ["the former option for notes", () => create({ notes: {} }), "option-unknown", /"modules"/],
  [
    "a form of clearing whose module is missing",
    () => create({ clearing: { form: "cached" } }),
    "option-invalid",
    /cachedEdits\(\)/,
  ],
  [
    "the form of clearing of a missing module in a subagent",
    () => engine().child({ clearing: { form: "api" } }),
    "option-invalid",
    /apiClearing\(\)/,
  ],
  [
    "a callback that is not a function",
    () => create({ host: { onEvent: console } }),
    "option-invalid",
    /a function/,
  ],
  [
    "a misspelled option of compact",
    () => engine().compact([ask] as ApiMessage[], any({ instruction: "x" })),
    "option-unknown",
    /"instructions"/,
  ],
  [
    "a misspelled option of before",
    () => engine().before([ask] as ApiMessage[], any({ requst: {} })),
    "option-unknown",
    /"request"/,
  ],
  [
    "a child with a window of zero",
    () => engine().child({ window: { tokens: 0 } }),
    "option-invalid",
    /200_000/,
  ],
  [
    "a child with a name in place of the model for summaries",
    () => engine().child({ compaction: { model: any("gpt-5") } }),
    "not-a-model",
    /anthropicModel\(\{ model: "gpt-5" \}\)/,
  ],
  [
    "a misspelled option of child",
    () => engine().child(any({ agentID: "a" })),
    "option-unknown",
    /"agentId"/,
  ],
  ["an agent without options", () => openAgent(any(undefined)), "option-invalid", /an object/],
  ["an agent without a model", () => openAgent(any({})), "not-a-model", /Model port/],
  [
    "a misspelled option of an agent",
    () => openAgent(any({ modle: scriptedModel([]) })),
    "option-unknown",
    /"model"/,
  ],
  [
    "a misspelled engine option of an agent",
    () => openAgent({ model: scriptedModel([]), compactor: any({ windowToken: 5_000 }) }),
    "option-unknown",
    /"window\.tokens"/,
  ],
  [
    "an engine option that the agent sets itself",
    () => openAgent({ model: scriptedModel([]), compactor: { window: any({ evidence: null }) } }),
    "option-unknown",
    /one of: models, tokens/,
  ],
];

/** Each former option, and its replacement. */
const FORMER: Readonly<Record<string, string>> = {
  modelName: "model",
  summaryModel: "compaction.model",
  windowTokens: "window.tokens",
  windowEvidence: "window.evidence",
  models: "window.models",
  prices: "cost.prices",
  cacheTtl: "cost.cacheTtl",
  settingsFile: "settings.file",
  environment: "settings.environment",
  countText: "ports.countText",
  sessionId: "session.id",
  cwd: "session.cwd",
  permissionMode: "session.permissionMode",
};

/** For each option group: options with a wrong name, and the correct name. */
const MISNAMED: readonly (readonly [group: string, options: object, meant: string])[] = [
  ["window", { window: { token: 5_000 } }, "tokens"],
  ["cost", { cost: { price: {} } }, "prices"],
  ["settings", { settings: { enviroment: {} } }, "environment"],
  ["settings", { settings: { autoCompactEnabled: false } }, "values.autoCompactEnabled"],
  ["settings.values", { settings: { values: { autocompactenabled: false } } }, "autoCompactEnabled"],
  ["clearing", { clearing: { tool: [] } }, "tools"],
  ["compaction", { compaction: { summariser: "model" } }, "summarizer"],
  ["host", { host: { onEvents: () => undefined } }, "onEvent"],
  ["ports", { ports: { newUUIDs: () => "" } }, "newUuid"],
  ["session", { session: { permisionMode: "default" } }, "permissionMode"],
];

/** Pairs of a path and options. The value at this path has the wrong type, and the error names the path. */
const WRONG_KIND: readonly (readonly [path: string, options: object])[] = [
  ["window", { window: 200_000 }],
  ["settings", { settings: "settings.json" }],
  ["settings.values", { settings: { values: true } }],
  ["settings.environment", { settings: { environment: "production" } }],
  ["cost.cacheTtl", { cost: { cacheTtl: "1d" } }],
  ["ports.now", { ports: { now: Date.now() } }],
  ["ports.countText", { ports: { countText: 4 } }],
  ["session", { session: "s1" }],
  ["session.id", { session: { id: 7 } }],
  ["session.cwd", { session: { cwd: new URL("file:///p") } }],
  ["session.permissionMode", { session: { permissionMode: true } }],
  ["host.caches", { host: { caches: () => undefined } }],
];

const made: readonly (readonly [where: string, make: (options: object) => unknown])[] = [
  ["createCompactor", create],
  ["child", (options) => engine().child(any(options))],
];

describe.each(made)("wrong options of %s", (where, make) => {
  it.each(Object.entries(FORMER))(
    "the engine rejects the former option %s and names %s instead",
    async (former, meant) => {
      const error = await failureOf(() => make({ [former]: {} }));
      expect(error).toMatchObject({
        code: "option-unknown",
        message: `${where} has no option "${former}".`,
        remedy: `Did you mean "${meant}"?`,
        facts: { option: former, meant },
      });
    },
  );

  it.each(MISNAMED)(
    "the engine rejects a name that the option group %s does not have: %j",
    async (group, options, meant) => {
      expect(await failureOf(() => make(options))).toMatchObject({
        code: "option-unknown",
        message: expect.stringMatching(new RegExp(`^${group} has no option `)),
        facts: { meant },
      });
    },
  );

  it.each(WRONG_KIND)("the engine rejects a value of the wrong type for %s: %j", async (option, options) => {
    expect(await failureOf(() => make(options))).toMatchObject({ code: "option-invalid", facts: { option } });
  });
});

async function failureOf(attempt: () => unknown): Promise<unknown> {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("mistakes of a host", () => {
  it.each([...MESSAGES, ...RESPONSES, ...OPTIONS])(
    "the engine throws a typed error with a remedy for this mistake of a host: %s",
    async (_mistake, attempt, code, remedy) => {
      const error = await failureOf(attempt);
      expect(error).toBeInstanceOf(LonghaulError);
      expect(error).toMatchObject({ code, remedy: expect.stringMatching(remedy) });
      // The message says what is wrong and where.
      expect((error as LonghaulError).message).toMatch(/^.{20,}\.$/s);
    },
  );
});

describe("the engine after a mistake of the host", () => {
  it("a rejected call changes nothing in the engine, and the next turn with correct messages works", async () => {
    const compactor = engine();
    const first = await compactor.before([ask] as ApiMessage[]);
    const foreign = [ask, { role: "tool", tool_call_id: "c1", content: "x" }];
    await expect(compactor.before(any(foreign))).rejects.toMatchObject({ code: "messages-foreign" });
    await expect(compactor.before(any(undefined))).rejects.toMatchObject({ code: "messages-invalid" });
    const messages = [ask, { role: "assistant", content: "exports" }, { role: "user", content: "go on" }];
    const turn = await compactor.before(messages as ApiMessage[]);
    expect(turn.messages).toBe(messages);
    expect(turn.findings).toEqual([]);
    expect(turn.tokens).toBeGreaterThan(first.tokens);
    expect(turn.problem).toBeUndefined();
  });

  it("the engine checks only new messages for mistakes of the host", async () => {
    const compactor = engine();
    let reads = 0;
    const old = { role: "user", content: [{ type: "text", text: "hi" }] };
    const watched = new Proxy(old, {
      get: (target, name) => {
        if (name === "tool_calls") reads++;
        return Reflect.get(target, name);
      },
    });
    const messages: unknown[] = [watched];
    await compactor.before(any(messages));
    expect(reads).toBe(1);
    for (let turn = 0; turn < 5; turn++) {
      messages.push({ role: turn % 2 === 0 ? "assistant" : "user", content: `turn ${turn}` });
      await compactor.before(any([...messages]));
    }
    expect(reads).toBe(1);
  });

  it("the engine accepts undefined options, system messages, fields of the OpenAI SDK and unknown blocks", async () => {
    const options: CompactorOptions = {
      model: "claude-haiku-4-5",
      settings: { environment: {} },
      window: undefined,
    };
    const compactor = createCompactor(options);
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "hi" }] },
      // A text answer in the form of the OpenAI SDK.
      { role: "assistant", content: "Hello.", refusal: null, annotations: [], tool_calls: undefined },
      { role: "user", content: [{ type: "kind_of_tomorrow", payload: { deep: [1] } }] },
    ];
    await expect(compactor.before(any(messages))).resolves.toBeDefined();
  });
});
