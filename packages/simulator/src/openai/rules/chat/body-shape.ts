import {
  anything,
  boolean,
  integer,
  list,
  nullable,
  number,
  object,
  oneOf,
  record,
  required,
  shortString,
  string,
  tagged,
} from "../../../shape/shape-check.ts";
import { refuse } from "../../wording/refuse.ts";
import { metadataOf } from "../metadata.ts";
import { type Check, type Fields, filledList, type Inspection, union } from "../shape/inspection.ts";
import { functionName, messages, prediction } from "./message-shapes.ts";

/** Maximum tools of a request, captured: github.com/vishalmysore/Tools4AI/issues/16. */
const MAX_TOOLS = 128;
/** Maximum choices of a reply: the API's OpenAPI description. */
const MAX_CHOICES = 128;
/** Maximum stop sequences: the API reference. */
const MAX_STOPS = 4;
/** Maximum of `top_logprobs`: the API reference. */
const MAX_TOP_LOGPROBS = 20;
/** Range of the two penalties: the API reference. */
const MAX_PENALTY = 2;
const MAX_TEMPERATURE = 2;
/** Range of the biases of tokens: the API reference. */
const MAX_BIAS = 100;
/** Maximum characters of the key of the prompt cache, captured: github.com/theopenco/llmgateway/pull/3110. */
const MAX_CACHE_KEY_CHARACTERS = 64;
/** Maximum characters of `safety_identifier`: the official SDK since 7.0. Older versions said 64. */
const MAX_SAFETY_IDENTIFIER_CHARACTERS = 128;

/** Checks types, required fields and unknown fields of the whole body. */
export function checkShape(inspection: Inspection): void {
  const { body } = inspection.request;
  const { model } = body;
  if (model === undefined || model === null || model === "") refuse("modelMissing");
  bodyShape(body, inspection);
}

// Tools

const functionDefinition: Fields = {
  name: required(functionName),
  description: string,
  parameters: nullable(record),
};

const grammar = object({ definition: required(string), syntax: required(oneOf("lark", "regex")) });

const tool = tagged({
  function: { function: required(object({ ...functionDefinition, strict: nullable(boolean) })) },
  custom: {
    custom: required(
      object({
        name: required(functionName),
        description: string,
        format: tagged({ text: {}, grammar: { grammar: required(grammar) } }),
      }),
    ),
  },
});

const named = required(object({ name: required(string) }));

const toolChoice = union({
  string: oneOf("none", "auto", "required"),
  object: tagged({
    function: { function: named },
    custom: { custom: named },
    allowed_tools: {
      allowed_tools: required(
        object({ mode: required(oneOf("auto", "required")), tools: required(list(record)) }),
      ),
    },
  }),
});

// Output

/** Formats, in the order in which the API lists them. */
const responseFormat = tagged({
  json_object: {},
  json_schema: {
    json_schema: required(
      object({
        name: required(functionName),
        description: string,
        schema: record,
        strict: nullable(boolean),
      }),
    ),
  },
  text: {},
});

const audio = object({
  format: required(oneOf("wav", "aac", "mp3", "flac", "opus", "pcm16")),
  voice: required(union({ string: anything, object: object({ id: required(string) }) })),
});

const bias = number(-MAX_BIAS, MAX_BIAS);

const logitBias: Check = (value, inspection) => {
  record(value, inspection);
  const biases = value as Readonly<Record<string, unknown>>;
  for (const token in biases) {
    inspection.enter(token);
    bias(biases[token], inspection);
    inspection.leave();
  }
};

const minimumTopLogprobs = integer(0);

/** The API words the upper limit of this field in its own way. */
const topLogprobs: Check = (value, inspection) => {
  minimumTopLogprobs(value, inspection);
  if ((value as number) > MAX_TOP_LOGPROBS) {
    refuse("topLogprobsTooBig", inspection.path, { limit: MAX_TOP_LOGPROBS });
  }
};

const moderationMode = nullable(object({ mode: required(oneOf("score", "block")) }));

const webSearch = object({
  search_context_size: oneOf("low", "medium", "high"),
  user_location: nullable(
    object({
      type: required(oneOf("approximate")),
      approximate: required(object({ city: string, country: string, region: string, timezone: string })),
    }),
  ),
});

// The body

const shareOfOne = number(0, 1);
const penalty = number(-MAX_PENALTY, MAX_PENALTY);
const tokens = integer(1);

const optionalFields: Readonly<Record<string, Check>> = {
  audio,
  frequency_penalty: penalty,
  function_call: union({ string: oneOf("none", "auto"), object: object({ name: required(string) }) }),
  functions: filledList(object(functionDefinition), { maximum: MAX_TOOLS, of: "objects" }),
  logit_bias: logitBias,
  logprobs: boolean,
  max_completion_tokens: tokens,
  max_tokens: tokens,
  metadata: metadataOf({ type: "an object", pathHasName: false }),
  modalities: list(oneOf("text", "audio")),
  moderation: object({
    model: required(string),
    policy: nullable(object({ input: moderationMode, output: moderationMode })),
  }),
  n: integer(1, MAX_CHOICES),
  parallel_tool_calls: boolean,
  prediction,
  presence_penalty: penalty,
  prompt_cache_key: shortString(MAX_CACHE_KEY_CHARACTERS),
  prompt_cache_options: object({ mode: oneOf("implicit", "explicit"), ttl: oneOf("30m") }),
  // Older versions of the SDK wrote `in-memory`.
  prompt_cache_retention: oneOf("in_memory", "24h", "in-memory"),
  // `field-rules.ts` checks the value, because the API words it by model.
  reasoning_effort: string,
  response_format: responseFormat,
  safety_identifier: shortString(MAX_SAFETY_IDENTIFIER_CHARACTERS),
  seed: integer(Number.NEGATIVE_INFINITY),
  service_tier: oneOf("auto", "default", "flex", "scale", "priority", "fast"),
  stop: union({ string: anything, "array of strings": list(string, { maximum: MAX_STOPS }) }),
  store: boolean,
  stream: boolean,
  stream_options: object({ include_obfuscation: boolean, include_usage: boolean }),
  temperature: number(0, MAX_TEMPERATURE),
  tool_choice: toolChoice,
  tools: filledList(tool, { maximum: MAX_TOOLS, of: "objects" }),
  top_logprobs: topLogprobs,
  top_p: shareOfOne,
  user: string,
  verbosity: oneOf("low", "medium", "high"),
  web_search_options: webSearch,
};

/**
 * Null counts as absent for every optional field, as measured for `src/proxy/normalizers.ts` of
 * github.com/kangminlee-maker/local-OAuth-CLI-API-adapter.
 */
const nullableFields = Object.fromEntries(
  Object.entries(optionalFields).map(([name, check]) => [name, nullable(check)]),
);

const bodyShape = object({ model: required(string), messages: required(messages), ...nullableFields });
