import fc from "fast-check";
import type { GeneratedBody, Json } from "./openai-bodies.ts";

/** A change to a sound body that breaks one rule. */
export interface Fault {
  /** Name of the rule that the checker of `@longhaul/openai` reports. */
  readonly rule: string;
  readonly name: string;
  /** Changes the body. Returns false if the body has no place for the fault. */
  readonly plant: (body: Json, die: number, model: GeneratedBody["model"]) => boolean;
}

export interface FaultyBody extends GeneratedBody {
  readonly fault: Fault;
}

const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const listIn = (body: Json, name: string): Json[] =>
  Array.isArray(body[name]) ? (body[name] as unknown[]).filter(isJson) : [];

/** Sets a field of the body. */
function set(rule: string, name: string, fields: Json): Fault {
  const plant: Fault["plant"] = (body) => {
    Object.assign(body, fields);
    return true;
  };
  return { rule, name, plant };
}

/** Changes one object of a list. */
function change(
  rule: string,
  name: string,
  find: (body: Json) => readonly Json[],
  edit: (place: Json) => void,
): Fault {
  const plant: Fault["plant"] = (body, die) => {
    const places = find(body);
    const place = places[die % Math.max(1, places.length)];
    if (place === undefined) return false;
    edit(place);
    return true;
  };
  return { rule, name, plant };
}

/** Adds an item at the end of a list, or at its start. */
function add(rule: string, name: string, list: string, item: unknown, atStart = false): Fault {
  const plant: Fault["plant"] = (body) => {
    const items = body[list];
    if (!Array.isArray(items)) return false;
    if (atStart) items.unshift(item);
    else items.push(item);
    return true;
  };
  return { rule, name, plant };
}

/** Applies a fault only to some models or bodies. */
function only(fault: Fault, applies: (body: Json, model: GeneratedBody["model"]) => boolean): Fault {
  return { ...fault, plant: (body, die, model) => applies(body, model) && fault.plant(body, die, model) };
}

const withRole = (role: string) => (body: Json) =>
  listIn(body, "messages").filter((message) => message.role === role);
const calling = (body: Json): readonly Json[] =>
  withRole("assistant")(body).filter(({ tool_calls }) => tool_calls !== undefined);
const calls = (body: Json): readonly Json[] =>
  calling(body).flatMap((message) => listIn(message, "tool_calls"));
const functions = (list: readonly Json[]): readonly Json[] =>
  list
    .filter(({ type }) => type === "function")
    .map((call) => (isJson(call.function) ? call.function : call));
const parametersOf = (body: Json): readonly Json[] =>
  functions(listIn(body, "tools"))
    .map(({ parameters }) => parameters)
    .filter(isJson);
const strictOf = (body: Json): readonly Json[] =>
  functions(listIn(body, "tools"))
    .filter(({ strict }) => strict === true)
    .map(({ parameters }) => parameters)
    .filter(isJson);
const reasons: (body: Json, model: GeneratedBody["model"]) => boolean = (_, { isReasoning, efforts }) =>
  isReasoning && !efforts.includes("none");
const isPlain: typeof reasons = (_, { isReasoning }) => !isReasoning;

const SHARED: readonly Fault[] = [
  set("unknown-field", "a foreign field", { top_k: 3 }),
  set("wrong-type", "a temperature in quotes", { temperature: "0.2" }),
  set("out-of-range", "a hot temperature", { temperature: 2.5 }),
  set("out-of-range", "a negative top_p", { top_p: -0.1 }),
  set("unknown-value", "an unknown service tier", { service_tier: "gold" }),
  set("wrong-type", "a stream that is a string", { stream: "yes" }),
  set("metadata-limit", "a long metadata value", { metadata: { k: "v".repeat(513) } }),
  set("metadata-limit", "too many metadata pairs", {
    metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, "v"])),
  }),
  set("wrong-type", "metadata with a number", { metadata: { k: 1 } }),
  set("text-length", "a long cache key", { prompt_cache_key: "k".repeat(65) }),
  set("missing-field", "no model", { model: undefined }),
  set("wrong-type", "a model that is a number", { model: 5 }),
  set("stream-options-without-stream", "stream options without a stream", {
    stream: false,
    stream_options: {},
  }),
  change(
    "unknown-value",
    "an unknown type of tool",
    (body) => listIn(body, "tools"),
    (tool) => {
      tool.type = "hammer";
    },
  ),
  change(
    "missing-field",
    "a tool without a type",
    (body) => listIn(body, "tools"),
    (tool) => {
      delete tool.type;
    },
  ),
  change(
    "name-invalid",
    "a tool's name with a dot",
    (body) => functions(listIn(body, "tools")),
    (definition) => {
      definition.name = "fs.read";
    },
  ),
  change(
    "missing-field",
    "a function without a name",
    (body) => functions(listIn(body, "tools")),
    (definition) => {
      delete definition.name;
    },
  ),
  change("schema-root", "parameters of type string", parametersOf, (schema) => {
    schema.type = "string";
  }),
  change("schema-items", "an array without items", parametersOf, (schema) => {
    schema.properties = { list: { type: "array" } };
    schema.required = ["list"];
  }),
  change("schema-type", "a type that JSON does not have", parametersOf, (schema) => {
    schema.properties = { path: { type: "text" } };
    schema.required = ["path"];
  }),
  change("schema-root", "parameters that are a choice", parametersOf, (schema) => {
    schema.anyOf = [{ type: "object" }];
  }),
  change("schema-strict", "an unsupported format of a text in a strict schema", strictOf, (schema) => {
    schema.properties = { url: { type: "string", format: "uri" } };
    schema.required = ["url"];
  }),
  change("schema-strict", "a reference without a target", strictOf, (schema) => {
    schema.properties = { path: { $ref: "#/$defs/nothing" } };
    schema.required = ["path"];
  }),
  change("schema-strict", "a strict property without a type", strictOf, (schema) => {
    schema.properties = { path: { description: "A path" } };
    schema.required = ["path"];
  }),
  change("schema-strict", "a required property that is not described", strictOf, (schema) => {
    schema.required = ["other"];
  }),
  set("retention-unsupported", "a short retention on a new model", {
    model: "gpt-5.5",
    prompt_cache_retention: "in_memory",
  }),
  set("unknown-value", "an unknown retention", { prompt_cache_retention: "1h" }),
  set("wrong-type", "cache options in a list", { prompt_cache_options: [] }),
  change("schema-strict", "an open strict object", strictOf, (schema) => {
    delete schema.additionalProperties;
  }),
  change("schema-strict", "a strict property that is optional", strictOf, (schema) => {
    schema.properties = { path: { type: "string" } };
    schema.required = [];
  }),
  change("schema-strict", "a strict schema with allOf", strictOf, (schema) => {
    schema.properties = { path: { allOf: [{ type: "string" }] } };
    schema.required = ["path"];
  }),
];

/** Faults for chat completions. */
export const CHAT_FAULTS: readonly Fault[] = [
  ...SHARED,
  set("list-length", "no messages", { messages: [] }),
  set("missing-field", "no field messages", { messages: undefined }),
  set("wrong-type", "messages that are a string", { messages: "hi" }),
  set("out-of-range", "too many choices", { n: 129 }),
  set("out-of-range", "a large penalty", { presence_penalty: 2.1 }),
  set("list-length", "five stop sequences", { stop: ["a", "b", "c", "d", "e"] }),
  set("unknown-value", "an unknown effort", { reasoning_effort: "huge" }),
  set("metadata-unstored", "metadata of a completion that is not stored", {
    metadata: { run: "7" },
    store: false,
  }),
  set("search-unsupported", "a search of the web on a model without it", {
    model: "gpt-5.5",
    web_search_options: {},
  }),
  set("parallel-unsupported", "a setting for parallel calls on a model of the o series", {
    model: "o4-mini",
    tools: [{ type: "function", function: { name: "read" } }],
    parallel_tool_calls: true,
  }),
  change("name-invalid", "a participant's name with a space", withRole("user"), (message) => {
    message.name = "Ann Lee";
  }),
  change("file-source", "data of a file that are no data URL", withRole("user"), (message) => {
    message.content = [{ type: "file", file: { file_data: "JVBERi0=" } }];
  }),
  set("tools-with-reasoning", "function tools with an effort on a new model", {
    model: "gpt-5.5",
    reasoning_effort: "low",
    tools: [{ type: "function", function: { name: "read" } }],
    tool_choice: null,
  }),
  set("unknown-value", "an unknown verbosity", { verbosity: "loud" }),
  set("max-tokens-twice", "both output limits", { max_tokens: 5, max_completion_tokens: 5 }),
  set("logprobs-missing", "top_logprobs alone", { top_logprobs: 2, logprobs: null }),
  set("list-length", "an empty list of tools", {
    tools: [],
    tool_choice: undefined,
    parallel_tool_calls: undefined,
  }),
  set("choice-without-tools", "a choice without tools", { tools: undefined, tool_choice: "auto" }),
  set("parallel-without-tools", "parallel calls without tools", {
    tools: undefined,
    parallel_tool_calls: true,
  }),
  set("choice-unknown-tool", "a choice of an unknown tool", {
    tools: [{ type: "function", function: { name: "read" } }],
    tool_choice: { type: "function", function: { name: "write" } },
  }),
  set("unknown-value", "an unknown response format", { response_format: { type: "xml" } }),
  set("name-invalid", "a format with a bad name", {
    response_format: { type: "json_schema", json_schema: { name: "a b", schema: {} } },
  }),
  set("schema-strict", "an open strict format", {
    response_format: {
      type: "json_schema",
      json_schema: { name: "a", strict: true, schema: { type: "object" } },
    },
  }),
  set("json-word-missing", "no word JSON", {
    messages: [{ role: "user", content: "hi" }],
    response_format: { type: "json_object" },
  }),
  only(set("reasoning-parameter", "a temperature for a reasoning model", { temperature: 0.2 }), reasons),
  only(set("reasoning-parameter", "the old output limit for a reasoning model", { max_tokens: 50 }), reasons),
  only(set("reasoning-unsupported", "an effort for a plain model", { reasoning_effort: "low" }), isPlain),
  only(set("reasoning-parameter", "a penalty for a reasoning model", { presence_penalty: 1 }), reasons),
  only(set("reasoning-parameter", "a bias for a reasoning model", { logit_bias: { "50256": 1 } }), reasons),
  only(set("reasoning-parameter", "stop sequences for a reasoning model", { stop: "END" }), reasons),
  only(
    set("output-limit", "an output limit above that of the model", { max_completion_tokens: 1e6 }),
    () => true,
  ),
  only(
    set("prediction-conflict", "a prediction with tools", {
      prediction: { type: "content", content: "a" },
      tools: [{ type: "function", function: { name: "read" } }],
      tool_choice: undefined,
    }),
    isPlain,
  ),
  only(
    set("prediction-conflict", "a prediction with several choices", {
      prediction: { type: "content", content: "a" },
      n: 2,
    }),
    isPlain,
  ),
  only(
    add("role-unsupported", "a function message for a reasoning model", "messages", {
      role: "function",
      name: "read",
      content: "a",
    }),
    (_, { isReasoning }) => isReasoning,
  ),
  only(
    add("image-unsupported", "an image for a model that reads none", "messages", {
      role: "user",
      content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }],
    }),
    (_, { acceptsImages }) => !acceptsImages,
  ),
  add("image-url", "an image that is text", "messages", {
    role: "user",
    content: [{ type: "image_url", image_url: { url: "data:text/plain;base64,aGk=" } }],
  }),
  add("image-url", "an image that is not in base64", "messages", {
    role: "user",
    content: [{ type: "image_url", image_url: { url: "data:image/png;base64,%%" } }],
  }),
  add("file-source", "a file without content", "messages", {
    role: "user",
    content: [{ type: "file", file: { filename: "a.pdf" } }],
  }),
  add("list-length", "content without parts", "messages", { role: "user", content: [] }),
  add("missing-field", "a part without text", "messages", { role: "user", content: [{ type: "text" }] }),
  change("name-invalid", "a name of a participant with a space", withRole("user"), (message) => {
    message.name = "ann b";
  }),
  {
    rule: "output-duplicate",
    name: "a second output",
    plant: (body) => {
      const messages = listIn(body, "messages");
      const output = messages.find(({ role }) => role === "tool");
      if (output === undefined) return false;
      body.messages = messages.flatMap((message) =>
        message === output ? [output, { ...output }] : [message],
      );
      return true;
    },
  },
  change("text-length", "a long id of a call", calls, (call) => {
    call.id = "c".repeat(41);
  }),
  change("wrong-type", "an unknown type of call", calls, (call) => {
    call.type = 7;
  }),
  change(
    "name-invalid",
    "a call of a name with a dot",
    (body) => functions(calls(body)),
    (call) => {
      call.name = "fs.read";
    },
  ),
  change("unknown-value", "an unknown role", withRole("user"), (message) => {
    message.role = "human";
  }),
  change("missing-field", "a message without a role", withRole("user"), (message) => {
    delete message.role;
  }),
  change("missing-field", "a user message without content", withRole("user"), (message) => {
    delete message.content;
  }),
  change("wrong-type", "a user message with a number", withRole("user"), (message) => {
    message.content = 7;
  }),
  change("unknown-value", "a part of an unknown type", withRole("user"), (message) => {
    message.content = [{ type: "video", url: "u" }];
  }),
  change("image-url", "an image that is a path", withRole("user"), (message) => {
    message.content = [{ type: "image_url", image_url: { url: "/tmp/a.png" } }];
  }),
  change("part-in-wrong-role", "an image of the assistant", withRole("assistant"), (message) => {
    message.content = [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }];
  }),
  change("part-in-wrong-role", "an image in a tool message", withRole("tool"), (message) => {
    message.content = [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }];
  }),
  change("missing-field", "a tool message without an id", withRole("tool"), (message) => {
    delete message.tool_call_id;
  }),
  change("output-orphan", "a tool message for another call", withRole("tool"), (message) => {
    message.tool_call_id = "call_other";
  }),
  change("call-unanswered", "a call with another id", calls, (call) => {
    call.id = "call_other";
  }),
  change("missing-field", "a call without an id", calls, (call) => {
    delete call.id;
  }),
  change(
    "wrong-type",
    "arguments that are an object",
    (body) => functions(calls(body)),
    (call) => {
      call.arguments = {};
    },
  ),
  change("list-length", "an empty list of calls", calling, (message) => {
    message.tool_calls = [];
  }),
  add(
    "output-orphan",
    "a tool message at the start",
    "messages",
    { role: "tool", tool_call_id: "call_none", content: "a" },
    true,
  ),
  add("content-missing", "an empty assistant message", "messages", { role: "assistant" }),
  add("call-unanswered", "a call at the end", "messages", {
    role: "assistant",
    tool_calls: [{ id: "call_none", type: "function", function: { name: "read", arguments: "{}" } }],
  }),
];

const items =
  (...types: readonly string[]) =>
  (body: Json) =>
    listIn(body, "input").filter((item) => types.includes(String(item.type)));
const users = (body: Json): readonly Json[] => listIn(body, "input").filter(({ role }) => role === "user");
const answers = (body: Json): readonly Json[] =>
  listIn(body, "input").filter(({ role }) => role === "assistant");

/** Removes one item of a type. */
function remove(rule: string, name: string, type: string): Fault {
  const plant: Fault["plant"] = (body, die) => {
    const [...places] = items(type)(body);
    const place = places[die % Math.max(1, places.length)];
    if (place === undefined) return false;
    body.input = (body.input as unknown[]).filter((item) => item !== place);
    return true;
  };
  return { rule, name, plant };
}

/** Faults for Responses. */
export const RESPONSES_FAULTS: readonly Fault[] = [
  ...SHARED,
  set("search-in-json-mode", "a search of the web in JSON mode", {
    tools: [{ type: "web_search" }],
    text: { format: { type: "json_object" } },
    tool_choice: null,
    instructions: "JSON",
  }),
  set("wrong-type", "an input that is a number", { input: 5 }),
  set("input-missing", "no input", { input: undefined, previous_response_id: undefined }),
  set("out-of-range", "a small output limit", { max_output_tokens: 15 }),
  set("unknown-value", "an unknown truncation", { truncation: "middle" }),
  set("unknown-value", "an unknown include", { include: ["everything"] }),
  set("unknown-value", "an unknown effort", { reasoning: { effort: "huge" } }),
  set("unknown-value", "an unknown verbosity", { text: { verbosity: "loud" } }),
  set("unknown-value", "an unknown format", { text: { format: { type: "xml" } } }),
  set("name-invalid", "a format with a bad name", {
    text: { format: { type: "json_schema", name: "a b", schema: {} } },
  }),
  set("schema-strict", "an open strict format", {
    text: { format: { type: "json_schema", name: "a", strict: true, schema: { type: "object" } } },
  }),
  set("unknown-field", "a field of chat completions", { max_tokens: 5 }),
  set("two-conversations", "two conversations", { previous_response_id: "resp_1", conversation: "conv_1" }),
  set("background-unstored", "an unstored background", { background: true, store: false }),
  only(set("reasoning-parameter", "a temperature for a reasoning model", { temperature: 0.2 }), reasons),
  only(
    set("reasoning-unsupported", "an effort for a plain model", { reasoning: { effort: "low" } }),
    isPlain,
  ),
  only(
    set("json-word-missing", "no word JSON", { input: "hi", text: { format: { type: "json_object" } } }),
    ({ previous_response_id }) => previous_response_id === undefined,
  ),
  only(
    set("choice-without-tools", "a choice without tools", { tools: [], tool_choice: "required" }),
    ({ previous_response_id }) => previous_response_id === undefined,
  ),
  only(
    set("choice-unknown-tool", "a choice of an unknown tool", {
      tools: [{ type: "function", name: "read", parameters: null, strict: false }],
      tool_choice: { type: "function", name: "write" },
    }),
    ({ previous_response_id }) => previous_response_id === undefined,
  ),
  set("wrong-type", "tools that are an object", { tools: {} }),
  set("list-length", "no context management", { context_management: [] }),
  set("out-of-range", "a low threshold", {
    context_management: [{ type: "compaction", compact_threshold: 10 }],
  }),
  set("unknown-value", "an unknown context management", { context_management: [{ type: "clear" }] }),
  set("output-limit", "an output limit above that of the model", { max_output_tokens: 1e6 }),
  set("id-prefix", "a stored response with an id of another kind", {
    previous_response_id: "msg_1",
    conversation: null,
  }),
  set("mcp-server", "an MCP tool without a server", { tools: [{ type: "mcp", server_label: "a" }] }),
  set("mcp-server", "an MCP tool with two servers", {
    tools: [
      { type: "mcp", server_label: "a", server_url: "https://example.com", connector_id: "connector_gmail" },
    ],
  }),
  set("search-without-tools", "a search without tools", { tools: [{ type: "tool_search" }] }),
  set("choice-unknown-tool", "a choice of a hosted tool that is not offered", {
    tools: [{ type: "custom", name: "patch" }],
    tool_choice: { type: "file_search" },
  }),
  only(
    set("tool-unsupported", "a web search with minimal effort", {
      tools: [{ type: "web_search" }],
      tool_choice: "auto",
      reasoning: { effort: "minimal" },
    }),
    (_, { efforts }) => efforts.includes("minimal"),
  ),
  only(set("verbosity-unsupported", "a brief plain model", { text: { verbosity: "low" } }), isPlain),
  only(
    set("reasoning-unsupported", "a summary of a plain model", { reasoning: { summary: "auto" } }),
    isPlain,
  ),
  only(
    set("reasoning-unsupported", "sealed reasoning of a plain model", {
      include: ["reasoning.encrypted_content"],
    }),
    isPlain,
  ),
  only(
    add(
      "reasoning-unsupported",
      "a reasoning item for a plain model",
      "input",
      { type: "reasoning", summary: [] },
      true,
    ),
    isPlain,
  ),
  only(set("reasoning-parameter", "log probabilities of a reasoning model", { top_logprobs: 2 }), reasons),
  only(
    add("image-unsupported", "an image for a model that reads none", "input", {
      role: "user",
      content: [{ type: "input_image", image_url: "https://example.com/a.png" }],
    }),
    (_, { acceptsImages }) => !acceptsImages,
  ),
  add("image-url", "an image without content", "input", { role: "user", content: [{ type: "input_image" }] }),
  add("image-url", "an image with two contents", "input", {
    role: "user",
    content: [{ type: "input_image", image_url: "https://example.com/a.png", file_id: "file-1" }],
  }),
  add("file-source", "a file without content", "input", {
    role: "user",
    content: [{ type: "input_file", filename: "a.pdf" }],
  }),
  add("file-source", "a file that is plain text", "input", {
    role: "user",
    content: [{ type: "input_file", filename: "a.txt", file_data: "hello" }],
  }),
  add(
    "list-length",
    "reasoning with content",
    "input",
    {
      type: "reasoning",
      summary: [],
      content: [{ type: "reasoning_text", text: "Hm" }],
    },
    true,
  ),
  add(
    "output-orphan",
    "an output of a local shell at the start",
    "input",
    { type: "local_shell_call_output", call_id: "call_none", output: "a" },
    true,
  ),
  add("call-unanswered", "a call of a local shell at the end", "input", {
    type: "local_shell_call",
    call_id: "call_none",
    action: { type: "exec", command: ["ls"] },
  }),
  add(
    "id-prefix",
    "a compaction with an id of another kind",
    "input",
    { type: "compaction", id: "rs_1", encrypted_content: "a" },
    true,
  ),
  change("id-characters", "an id with a dot", answers, (item) => {
    item.id = "msg_1.2";
  }),
  change(
    "item-id-duplicate",
    "an id that occurs twice",
    (body) => [body],
    (body) => {
      const input = Array.isArray(body.input) ? body.input : [];
      const answer = { role: "assistant", content: "a", id: "msg_77" };
      body.input = [...input, answer, { ...answer }];
    },
  ),
  change("text-length", "a long id of a call", items("function_call"), (item) => {
    item.call_id = "c".repeat(65);
  }),
  change("unknown-value", "an unknown status", items("function_call", "message"), (item) => {
    item.status = "done";
  }),
  change("unknown-field", "a field of chat completions in a message", users, (item) => {
    item.name = "ann";
  }),
  add("unknown-value", "an item of an unknown type", "input", { type: "video", url: "u" }),
  add("missing-field", "an item without a type", "input", { text: "hi" }),
  add("trigger-not-last", "a trigger at the start", "input", { type: "compaction_trigger" }, true),
  add(
    "output-orphan",
    "an output at the start",
    "input",
    { type: "function_call_output", call_id: "call_none", output: "a" },
    true,
  ),
  add(
    "output-orphan",
    "a custom output at the start",
    "input",
    { type: "custom_tool_call_output", call_id: "call_none", output: "a" },
    true,
  ),
  add("call-unanswered", "a call at the end", "input", {
    type: "function_call",
    call_id: "call_none",
    name: "read",
    arguments: "{}",
  }),
  add("reasoning-unfollowed", "reasoning at the end", "input", {
    type: "reasoning",
    id: "rs_99",
    summary: [],
  }),
  remove("call-unanswered", "a function call without its output", "function_call_output"),
  remove("call-unanswered", "a custom call without its output", "custom_tool_call_output"),
  remove("call-unanswered", "a shell call without its output", "shell_call_output"),
  remove("call-unanswered", "a patch without its output", "apply_patch_call_output"),
  change("missing-field", "a call without arguments", items("function_call"), (item) => {
    delete item.arguments;
  }),
  change("wrong-type", "arguments that are an object", items("function_call"), (item) => {
    item.arguments = {};
  }),
  change("missing-field", "a call without call_id", items("function_call", "custom_tool_call"), (item) => {
    delete item.call_id;
  }),
  change(
    "id-prefix",
    "a call with an id of another kind",
    items("function_call", "custom_tool_call"),
    (item) => {
      item.id = "call_77";
    },
  ),
  change("id-prefix", "an answer with an id of another kind", answers, (item) => {
    item.id = "item_77";
  }),
  change("id-length", "a long id", answers, (item) => {
    item.id = `msg_${"1".repeat(61)}`;
  }),
  change("missing-field", "reasoning without a summary", items("reasoning"), (item) => {
    delete item.summary;
  }),
  change("unknown-field", "a call with the SDK's field", items("function_call"), (item) => {
    item.parsed_arguments = {};
  }),
  change("unknown-value", "an unknown role", users, (item) => {
    item.role = "tool";
  }),
  change("missing-field", "a message without content", users, (item) => {
    delete item.content;
  }),
  change("unknown-value", "a part of chat completions", users, (item) => {
    item.content = [{ type: "text", text: "hi" }];
  }),
  change("part-in-wrong-role", "an output part of the user", users, (item) => {
    item.content = [{ type: "output_text", text: "hi" }];
  }),
  change("part-in-wrong-role", "an input part of the assistant", answers, (item) => {
    item.content = [{ type: "input_text", text: "hi" }];
  }),
];

/** Plants one of the faults into generated bodies. */
export function withFault(
  sound: fc.Arbitrary<GeneratedBody>,
  faults: readonly Fault[],
): fc.Arbitrary<FaultyBody> {
  return fc
    .tuple(sound, fc.constantFrom(...faults), fc.nat())
    .map(([{ body, model, earlier }, fault, die]) => {
      const faulty = structuredClone(body);
      const isPlanted = fault.plant(faulty, die, model);
      // Removes undefined fields, as JSON does.
      const sent = JSON.parse(JSON.stringify(faulty)) as Json;
      return { body: sent, model, fault, isPlanted, ...(earlier && { earlier }) };
    })
    .filter(({ isPlanted }) => isPlanted);
}

/** Values that a change puts in the place of another value. */
const STRAY_VALUES: readonly unknown[] = [
  null,
  "",
  "x",
  "auto",
  0,
  -1,
  1.5,
  7,
  true,
  false,
  [],
  ["x"],
  [{}],
  {},
  { type: "x" },
];

/** Changes one place of a generated body: removes a field, adds one, or replaces a value at any depth. */
export function withAnyChange(sound: fc.Arbitrary<GeneratedBody>): fc.Arbitrary<GeneratedBody> {
  const change = fc.constantFrom("remove", "add", "replace", "replace", "replace");
  return fc
    .tuple(sound, fc.nat(), change, fc.constantFrom(...STRAY_VALUES))
    .map(([{ body, model, earlier }, die, kind, value]) => {
      const changed = structuredClone(body);
      const places = placesIn(changed);
      const place = places[die % places.length];
      if (place !== undefined) {
        const [holder, key] = place;
        if (kind === "replace" || Array.isArray(holder)) holder[key] = structuredClone(value);
        else if (kind === "add") holder.stray = structuredClone(value);
        else delete holder[key];
      }
      return { body: changed, model, ...(earlier && { earlier }) };
    });
}

function placesIn(body: Json): readonly (readonly [holder: Json, key: string])[] {
  const places: (readonly [Json, string])[] = [];
  const open: unknown[] = [body];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    for (const [key, value] of Object.entries(holder as Json)) {
      places.push([holder as Json, key]);
      if (typeof value === "object" && value !== null) open.push(value);
    }
  }
  return places;
}
