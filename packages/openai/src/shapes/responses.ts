import { COMMON_FIELDS, effort, JSON_FORMAT, SERVICE_TIERS, verbosity } from "./common.ts";
import { inputItem } from "./responses-items.ts";
import { responsesTool, responsesToolChoice } from "./responses-tools.ts";
import {
  anyObject,
  anything,
  bool,
  byType,
  type Fields,
  listOf,
  nullable,
  nullableFields,
  number,
  object,
  oneOf,
  type Shape,
  tagged,
  text,
  textOfLength,
} from "./shape.ts";

/** Shape of the body of `POST /v1/responses`, after the types of the official SDK. */

/** Tokens of `compact_threshold`. */
const MIN_COMPACT_THRESHOLD = 1_000;

/** Characters of `safety_identifier`. */
const MAX_IDENTIFIER_LENGTH = 128;

/** The API refuses a smaller `max_output_tokens`. */
const MIN_OUTPUT_TOKENS = 16;

const INCLUDABLE = [
  "file_search_call.results",
  "web_search_call.results",
  "web_search_call.action.sources",
  "message.input_image.image_url",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
];

const format = tagged({
  text: object({ type: text }),
  json_object: object({ type: text }),
  json_schema: object(
    { type: text, ...JSON_FORMAT.required, schema: anyObject },
    { ...JSON_FORMAT.optional, description: nullable(text) },
  ),
});

const summary = nullable(oneOf("auto", "concise", "detailed"));

const CONVERSATION: Fields = {
  conversation: byType({ string: text, object: object({ id: text }) }),
  previous_response_id: text,
  prompt: object(
    { id: textOfLength({ min: 1 }) },
    { variables: nullable(anyObject), version: nullable(text) },
  ),
  context_management: listOf(
    object(
      { type: oneOf("compaction") },
      { compact_threshold: nullable(number({ min: MIN_COMPACT_THRESHOLD, whole: true })) },
    ),
    { min: 1 },
  ),
};

const GENERATION: Fields = {
  max_output_tokens: number({ min: MIN_OUTPUT_TOKENS, whole: true }),
  max_tool_calls: number({ min: 1, whole: true }),
  temperature: number({ min: 0, max: 2 }),
  top_p: number({ min: 0, max: 1 }),
  top_logprobs: number({ min: 0, max: 20, whole: true }),
  presence_penalty: number({ min: -2, max: 2 }),
  frequency_penalty: number({ min: -2, max: 2 }),
  truncation: oneOf("auto", "disabled"),
  reasoning: object(
    {},
    {
      context: nullable(oneOf("auto", "current_turn", "all_turns")),
      effort: nullable(effort),
      generate_summary: summary,
      mode: nullable(text),
      summary,
    },
  ),
  text: object({}, { format: nullable(format), verbosity: nullable(verbosity) }),
};

const OPTIONAL: Fields = {
  ...COMMON_FIELDS,
  ...CONVERSATION,
  ...GENERATION,
  instructions: text,
  background: bool,
  // The types of the SDK do not list it, but codex sends it to the API with every call.
  client_metadata: anyObject,
  include: listOf(oneOf(...INCLUDABLE)),
  parallel_tool_calls: bool,
  prompt_cache_options: object(
    {},
    {
      mode: oneOf("implicit", "explicit"),
      ttl: oneOf("30m", "12h"),
      comparison_response_id: nullable(text),
      prewarm: bool,
    },
  ),
  prompt_cache_retention: oneOf("in_memory", "24h"),
  safety_identifier: textOfLength({ max: MAX_IDENTIFIER_LENGTH }),
  service_tier: oneOf(...SERVICE_TIERS, "ultrafast"),
  stream_options: object({}, { include_obfuscation: bool }),
  tool_choice: responsesToolChoice,
  tools: listOf(responsesTool),
  // Fields of newer types and of the multi-agent beta. Their contents are not checked.
  access_programs: anyObject,
  image: anyObject,
  multi_agent: anything,
};

/** The API treats `null` as absent in every optional field of the body, except for the model and the input. */
export const responsesBody: Shape = object(
  {},
  {
    ...nullableFields(OPTIONAL),
    model: text,
    input: byType({ string: text, array: listOf(inputItem) }),
  },
);
