import fc from "fast-check";

/** A parsed JSON object that a fault may change. */
export type Json = Record<string, unknown>;

/** Facts about a model that decide which settings are sound. */
export interface OpenAiTraits {
  readonly id: string;
  readonly isReasoning: boolean;
  readonly efforts: readonly string[];
  readonly acceptsImages: boolean;
  readonly maxOutputTokens: number;
}

export interface GeneratedBody {
  readonly body: Json;
  readonly model: OpenAiTraits;
  /** Items of stored responses that the body continues. Undefined for a body that continues nothing. */
  readonly earlier?: readonly Json[];
}

/** Chooses a number from 0 to `max`. */
type Source = (max: number) => number;

/** Number of choices for one body. All later choices are the first one. */
const TAPE_LENGTH = 400;

/**
 * Builds values from a tape of random numbers. A shorter tape builds a simpler value, so fast-check can shrink
 * it. `fc.gen` would be simpler, but its values cannot be combined with other arbitraries.
 */
function built<T>(build: (source: Source) => T): fc.Arbitrary<T> {
  return fc.uint8Array({ maxLength: TAPE_LENGTH, size: "max" }).map((tape) => {
    let next = 0;
    return build((max) => {
      const value = tape[next] ?? 0;
      next += 1;
      return value % (max + 1);
    });
  });
}

const WORDS = [
  "read the file",
  "fix the test",
  "Done.",
  "one more thing",
  "语言 и слова",
  "",
  "answer in JSON",
];
const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function word(source: Source): string {
  return oneOf(source, ...WORDS);
}

function chance(source: Source): boolean {
  return source(1) === 1;
}

function count(source: Source, max: number): number {
  return source(max);
}

function oneOf<T>(source: Source, ...values: readonly T[]): T {
  return values[source(values.length - 1)] as T;
}

/** Keeps some of the fields. */
function some(source: Source, fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(() => count(source, 3) === 0));
}

function times<T>(amount: number, make: (index: number) => T): T[] {
  return Array.from({ length: amount }, (_, index) => make(index));
}

function parameters(source: Source, strict: boolean): Json {
  const properties: Json = {
    path: { type: "string", description: "A path" },
    lines: { type: "array", items: { type: "integer" } },
    mode: { type: ["string", "null"], enum: ["fast", "slow", null] },
    where: strict
      ? { anyOf: [{ $ref: "#/$defs/place" }, { type: "null" }] }
      : { oneOf: [{ type: "string" }, { type: "object", additionalProperties: true }] },
  };
  const names = Object.keys(properties).slice(0, count(source, 4));
  const place = {
    type: "object",
    properties: { line: { type: "number" } },
    required: ["line"],
    additionalProperties: false,
  };
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, properties[name]])),
    ...(strict || chance(source) ? { required: names } : {}),
    ...(strict ? { additionalProperties: false, $defs: { place } } : {}),
  };
}

const GRAMMAR = { definition: 'start: "a"', syntax: "lark" };

const METADATA: Json = {
  metadata: { run: "7", user: "a" },
  user: "user-1",
  safety_identifier: "user-1",
  prompt_cache_key: "session-1",
  service_tier: "auto",
};

// Chat completions

function chatTool(source: Source, name: string): Json {
  if (count(source, 4) === 0) {
    const format = oneOf<Json>(source, { type: "text" }, { type: "grammar", grammar: GRAMMAR });
    return { type: "custom", custom: { name, description: "Runs text", ...some(source, { format }) } };
  }
  const strict = chance(source);
  const more = some(source, { description: "Reads a file" });
  return {
    type: "function",
    function: { name, ...more, parameters: parameters(source, strict), ...(strict ? { strict } : {}) },
  };
}

function chatUserContent(source: Source, model: OpenAiTraits): unknown {
  if (chance(source)) return word(source);
  const parts: Json[] = [{ type: "text", text: word(source) }];
  parts.push(
    ...oneOf<Json[]>(
      source,
      [],
      [{ type: "input_audio", input_audio: { data: "aGk=", format: "wav" } }],
      [{ type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,aGk=" } }],
      [{ type: "text", text: "cached", prompt_cache_breakpoint: { mode: "explicit" } }],
    ),
  );
  if (model.acceptsImages && chance(source))
    parts.push({
      type: "image_url",
      image_url: { url: oneOf(source, PNG, "https://example.com/a.png"), ...some(source, { detail: "low" }) },
    });
  return parts;
}

interface Ids {
  next: number;
}

function chatTurn(source: Source, model: OpenAiTraits, ids: Ids): Json[] {
  const turn: Json[] = [
    {
      role: "user",
      content: chatUserContent(source, model),
      ...some(source, { name: oneOf(source, "ann", "Ann.Lee") }),
    },
  ];
  for (let round = count(source, 2); round > 0; round -= 1) {
    const calls = times(1 + count(source, 2), () => {
      ids.next += 1;
      const id = `call_${ids.next}`;
      return count(source, 4) === 0
        ? { id, type: "custom", custom: { name: "patch", input: "*** Begin" } }
        : {
            id,
            type: "function",
            function: { name: "read", arguments: oneOf(source, "{}", '{"path":"a.ts"}') },
          };
    });
    turn.push({
      role: "assistant",
      ...(chance(source) ? { content: oneOf(source, null, "Let me see.") } : {}),
      tool_calls: calls,
    });
    const outputs = calls.map(({ id }) => ({
      role: "tool",
      tool_call_id: id,
      content: chance(source) ? word(source) : [{ type: "text", text: word(source) }],
    }));
    turn.push(...(chance(source) ? outputs : outputs.reverse()));
  }
  if (chance(source))
    turn.push(
      oneOf<Json>(
        source,
        { role: "assistant", content: "It is empty." },
        { role: "assistant", content: null, refusal: "I cannot do that." },
        { role: "assistant", content: [{ type: "text", text: "It is empty." }] },
      ),
    );
  return turn;
}

function chatSettings(source: Source, model: OpenAiTraits, tools: readonly Json[]): Json {
  const sampling = {
    temperature: 0.2,
    top_p: 0.5,
    presence_penalty: 0.5,
    frequency_penalty: -2,
    stop: ["END"],
    max_tokens: 100,
  };
  // Newer models have function tools in chat completions only while they do not reason.
  const efforts = tools.length > 0 && /^gpt-5\.[456]/.test(model.id) ? ["none"] : model.efforts;
  const settings: Json = {
    ...some(source, METADATA),
    ...some(source, {
      seed: 7,
      n: 1,
      store: false,
      logit_bias: null,
      verbosity: "low",
      tools: null,
      stop: null,
    }),
    ...(model.isReasoning ? {} : some(source, sampling)),
    ...(model.efforts.length > 0 ? some(source, { reasoning_effort: oneOf(source, ...efforts) }) : {}),
    ...oneOf<Json>(source, {}, { stream: true }, { stream: true, stream_options: { include_usage: true } }),
    ...oneOf<Json>(
      source,
      {},
      { response_format: { type: "text" } },
      { response_format: chatFormat(source) },
    ),
  };
  if (settings.max_tokens === undefined && chance(source)) settings.max_completion_tokens = 1_000;
  if (settings.metadata !== undefined) settings.store = true;
  Object.assign(settings, some(source, CHAT_EXTRAS));
  // Models of OpenAI search the web in chat completions only if their name says so.
  if (OPENAI_NAME.test(model.id)) delete settings.web_search_options;
  if (!model.isReasoning && chance(source)) Object.assign(settings, { logprobs: true, top_logprobs: 2 });
  const [first] = tools;
  if (first === undefined) return settings;
  const choices = ["none", "auto", "required", choiceOf(first), allowed(tools)];
  return {
    ...settings,
    tools,
    ...some(source, { tool_choice: oneOf<unknown>(source, ...choices) }),
    // The o series has no setting for parallel calls.
    ...(/^o\d/.test(model.id) ? {} : some(source, { parallel_tool_calls: chance(source) })),
  };
}

const OPENAI_NAME = /^(?:gpt-|o\d)/;

const CHAT_EXTRAS: Json = {
  modalities: ["text"],
  audio: { voice: "ash", format: "mp3" },
  functions: [{ name: "old", parameters: { type: "object", properties: {} } }],
  moderation: { model: "omni-moderation-latest" },
  prompt_cache_options: { mode: "implicit" },
  prompt_cache_retention: "24h",
  web_search_options: {
    search_context_size: "low",
    user_location: { type: "approximate", approximate: { city: "Rome" } },
  },
};

function chatFormat(source: Source): Json {
  const strict = chance(source);
  return { type: "json_schema", json_schema: { name: "answer", schema: parameters(source, strict), strict } };
}

/** Selects a tool of chat completions. */
function choiceOf(tool: Json): Json {
  const type = String(tool.type);
  const { name } = tool[type] as Json;
  return { type, [type]: { name } };
}

function allowed(tools: readonly Json[]): Json {
  return { type: "allowed_tools", allowed_tools: { mode: "auto", tools: tools.map(choiceOf) } };
}

/** Generates chat completions that the API accepts. */
export function soundChat(models: readonly OpenAiTraits[]): fc.Arbitrary<GeneratedBody> {
  return built((source) => {
    const model = oneOf(source, ...models);
    const ids = { next: 0 };
    const tools = times(count(source, 3), (index) =>
      chatTool(source, oneOf(source, `read_${index}`, `patch-${index}`)),
    );
    const system = oneOf<Json[]>(
      source,
      [],
      [{ role: "system", content: "You help." }],
      [{ role: "developer", content: [{ type: "text", text: "You help." }] }],
    );
    const turns = times(1 + count(source, 2), () => chatTurn(source, model, ids)).flat();
    const body = { model: model.id, messages: [...system, ...turns], ...chatSettings(source, model, tools) };
    return { body: structuredClone(body), model };
  });
}

// Responses

function responsesTool(source: Source, index: number): Json {
  const strict = chance(source);
  return oneOf<() => Json>(
    source,
    () => ({
      type: "function",
      name: `read_${index}`,
      description: "Reads",
      parameters: parameters(source, strict),
      strict,
    }),
    () => ({ type: "function", name: `read-${index}`, parameters: parameters(source, false), strict: false }),
    () => ({
      type: "custom",
      name: `patch_${index}`,
      ...some(source, { format: { type: "grammar", ...GRAMMAR } }),
    }),
    () => ({ type: "web_search", ...some(source, { search_context_size: "low" }) }),
    () => ({ type: "local_shell" }),
    () => ({ type: "apply_patch", ...some(source, { allowed_callers: ["direct"] }) }),
    () => ({
      type: "shell",
      ...some(source, { environment: { type: "container_auto", memory_limit: "1g" } }),
    }),
    () => ({ type: "file_search", vector_store_ids: ["vs_1"], ...some(source, { max_num_results: 5 }) }),
    () => ({ type: "code_interpreter", container: oneOf<unknown>(source, "cntr_1", { type: "auto" }) }),
    () => ({ type: "computer_use_preview", display_height: 600, display_width: 800, environment: "browser" }),
    () => ({
      type: "namespace",
      name: `files_${index}`,
      description: "Files",
      tools: [
        {
          type: "function",
          name: `list_${index}`,
          parameters: parameters(source, false),
          defer_loading: true,
        },
      ],
    }),
    () => ({ type: "custom", name: `write_${index}`, defer_loading: false, format: { type: "text" } }),
    () => ({ type: "programmatic_tool_calling" }),
    () => ({
      type: "mcp",
      server_label: `server_${index}`,
      server_url: "https://example.com/mcp",
      require_approval: oneOf<unknown>(source, "never", { always: { tool_names: ["a"] } }),
      ...some(source, {
        allowed_tools: oneOf<unknown>(source, ["a"], { read_only: true }),
        headers: { a: "b" },
      }),
    }),
  )();
}

/** A call of the client's tools with its output. `id` numbers both. */
function responsesCall(source: Source, id: number, seesImages: boolean): readonly [call: Json, output: Json] {
  const call_id = `call_${id}`;
  const output = oneOf<unknown>(source, word(source), [{ type: "input_text", text: "found" }]);
  if (seesImages && count(source, 5) === 0) {
    const action = { type: "click", button: "left", x: 1, y: 2 };
    return [
      { type: "computer_call", call_id, status: "completed", pending_safety_checks: [], action },
      { type: "computer_call_output", call_id, output: { type: "computer_screenshot", image_url: PNG } },
    ];
  }
  return oneOf<readonly [Json, Json]>(
    source,
    [
      {
        type: "function_call",
        ...some(source, { id: `fc_${id}` }),
        call_id,
        name: "read",
        arguments: "{}",
        ...some(source, { status: "completed" }),
      },
      { type: "function_call_output", call_id, output },
    ],
    [
      { type: "custom_tool_call", ...some(source, { id: `ctc_${id}` }), call_id, name: "patch", input: "x" },
      { type: "custom_tool_call_output", call_id, output },
    ],
    [
      { type: "shell_call", call_id, action: { commands: ["ls"] }, status: "completed" },
      {
        type: "shell_call_output",
        call_id,
        output: [{ stdout: "a", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
      },
    ],
    [
      {
        type: "local_shell_call",
        call_id,
        action: { type: "exec", command: ["ls"], env: {} },
        status: "completed",
      },
      oneOf<Json>(
        source,
        { type: "local_shell_call_output", call_id, output: "a" },
        { type: "function_call_output", call_id, output: "a" },
      ),
    ],
    [
      { type: "tool_search_call", call_id, arguments: { query: "a" }, execution: "client" },
      { type: "tool_search_output", call_id, tools: [], execution: "client" },
    ],
    [
      {
        type: "apply_patch_call",
        call_id,
        status: "completed",
        operation: { type: "create_file", path: "a", diff: "+a" },
      },
      { type: "apply_patch_call_output", call_id, status: "completed", output: "ok" },
    ],
  );
}

function responsesTurn(source: Source, model: OpenAiTraits, ids: Ids): Json[] {
  const turn: Json[] = [
    { role: "user", content: responsesUserContent(source, model), ...some(source, { type: "message" }) },
  ];
  const think = (): void => {
    ids.next += 1;
    if (model.isReasoning && chance(source))
      turn.push({
        type: "reasoning",
        ...(chance(source) ? { id: `rs_${ids.next}` } : {}),
        summary: chance(source) ? [] : [{ type: "summary_text", text: "Hm" }],
      });
  };
  for (let round = count(source, 2); round > 0; round -= 1) {
    think();
    const pairs = times(1 + count(source, 1), () => {
      ids.next += 1;
      return responsesCall(source, ids.next, model.acceptsImages);
    });
    turn.push(...pairs.map(([call]) => call), ...pairs.map(([, output]) => output));
  }
  if (!chance(source)) return turn;
  think();
  if (chance(source)) turn.push(hostedCall(source, ids.next));
  turn.push({
    type: "message",
    role: "assistant",
    ...some(source, { id: `msg_${ids.next}` }),
    status: "completed",
    content: [{ type: "output_text", text: word(source), annotations: [] }],
  });
  return turn;
}

/** A call of a tool that OpenAI runs, or another item of the model. */
function hostedCall(source: Source, id: number): Json {
  return oneOf<Json>(
    source,
    { type: "web_search_call", id: `ws_${id}`, status: "completed", action: { type: "search", query: "a" } },
    {
      type: "web_search_call",
      status: "completed",
      action: { type: "open_page", url: "https://example.com" },
    },
    { type: "file_search_call", id: `fs_${id}`, status: "completed", queries: ["a"], results: null },
    {
      type: "code_interpreter_call",
      id: `ci_${id}`,
      status: "completed",
      code: "1",
      container_id: "c",
      outputs: [],
    },
    { type: "image_generation_call", id: `ig_${id}`, status: "completed", result: "aGk=" },
    { type: "mcp_call", id: `mcp_${id}`, server_label: "a", name: "read", arguments: "{}", output: "a" },
    { type: "compaction", id: `cmp_${id}`, encrypted_content: "sealed" },
    {
      type: "mcp_list_tools",
      id: `mcpl_${id}`,
      server_label: "a",
      tools: [{ name: "read", input_schema: {} }],
    },
    { type: "mcp_approval_request", id: `mcpr_${id}`, server_label: "a", name: "read", arguments: "{}" },
    { type: "program", id: `pg_${id}`, call_id: `program_${id}`, code: "1", fingerprint: "f" },
  );
}

function responsesUserContent(source: Source, model: OpenAiTraits): unknown {
  if (chance(source)) return word(source);
  const parts: Json[] = [{ type: "input_text", text: word(source) }];
  parts.push(
    ...oneOf<Json[]>(
      source,
      [],
      [{ type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,aGk=" }],
      [{ type: "input_file", file_url: "https://example.com/a.pdf" }],
      [{ type: "input_text", text: "cached", prompt_cache_breakpoint: { mode: "explicit" } }],
    ),
  );
  if (model.acceptsImages && chance(source))
    parts.push({
      type: "input_image",
      image_url: oneOf(source, PNG, "https://example.com/a.png"),
      detail: "auto",
    });
  return parts;
}

function responsesFormat(source: Source): Json {
  const strict = chance(source);
  return { format: { type: "json_schema", name: "answer", schema: parameters(source, strict), strict } };
}

const RESPONSES_EXTRAS: Json = {
  context_management: [{ type: "compaction", compact_threshold: 50_000 }],
  max_tool_calls: 3,
  moderation: { model: "omni-moderation-latest", policy: { input: { mode: "score" }, output: null } },
  prompt_cache_options: { mode: "explicit", ttl: "30m" },
  prompt_cache_retention: "24h",
};

function responsesSettings(source: Source, model: OpenAiTraits, tools: readonly Json[]): Json {
  const named = tools.find(({ type }) => type === "function" || type === "custom");
  const choices: unknown[] = ["none", "auto", "required"];
  const hosted = tools.find(({ type }) => type === "web_search" || type === "local_shell");
  if (hosted !== undefined) choices.push({ type: hosted.type });
  // A search of the web does not work with the effort `minimal`.
  const efforts = hosted === undefined ? model.efforts : model.efforts.filter((name) => name !== "minimal");
  if (named !== undefined) choices.push({ type: named.type, name: named.name });
  return {
    ...some(source, METADATA),
    ...some(source, RESPONSES_EXTRAS),
    ...some(source, {
      instructions: "You help.",
      max_output_tokens: 16,
      store: true,
      truncation: "disabled",
    }),
    ...some(source, {
      parallel_tool_calls: true,
      text: oneOf<Json>(source, { verbosity: model.isReasoning ? "low" : "medium" }, responsesFormat(source)),
      background: null,
      conversation: null,
    }),
    ...(model.isReasoning
      ? some(source, { include: ["reasoning.encrypted_content"] })
      : some(source, { temperature: 0, top_p: 0.1 })),
    ...(efforts.length > 0
      ? some(source, {
          reasoning: { effort: oneOf(source, ...efforts), ...some(source, { summary: "auto" }) },
        })
      : {}),
    ...oneOf<Json>(
      source,
      {},
      { stream: true },
      { stream: true, stream_options: { include_obfuscation: false } },
    ),
    ...(tools.length > 0 ? { tools, ...some(source, { tool_choice: oneOf(source, ...choices) }) } : {}),
  };
}

/** Generates Responses requests that the API accepts. */
export function soundResponses(models: readonly OpenAiTraits[]): fc.Arbitrary<GeneratedBody> {
  return built((source) => {
    const model = oneOf(source, ...models);
    const ids = { next: 0 };
    const tools = times(count(source, 3), (index) => responsesTool(source, index));
    const settings = { model: model.id, ...responsesSettings(source, model, tools) };
    if (count(source, 5) === 0)
      return { body: structuredClone({ ...settings, input: word(source) || "hi" }), model };
    const items = times(1 + count(source, 2), () => responsesTurn(source, model, ids)).flat();
    const system = oneOf<Json[]>(source, [], [{ role: "developer", content: "You help." }]);
    const cut = count(source, items.length - 1);
    if (!chance(source) || !isTurnStart(items[cut]))
      return { body: structuredClone({ ...settings, input: [...system, ...items] }), model };
    const input = items.slice(cut);
    return structuredClone({
      body: { ...settings, previous_response_id: "resp_1", input },
      model,
      earlier: items.slice(0, cut),
    });
  });
}

/** True if a stored response may end before this item. */
function isTurnStart(item: Json | undefined): boolean {
  return item?.role === "user" || item?.type === "function_call_output";
}
