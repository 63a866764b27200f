import { COMMON_FIELDS, effort, JSON_FORMAT, verbosity } from "./common.ts";
import { inputItem } from "./responses-items.ts";
import { responsesTool, responsesToolChoice } from "./responses-tools.ts";
import {
  anyObject,
  bool,
  byType,
  type Fields,
  listOf,
  mapOf,
  nullable,
  number,
  object,
  oneOf,
  type Shape,
  tagged,
  text,
} from "./shape.ts";

/** Shape of the body of `POST /v1/responses`, after the types of the official SDK. */

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
  json_schema: object({ type: text, ...JSON_FORMAT.required, schema: anyObject }, JSON_FORMAT.optional),
});

const summary = nullable(oneOf("auto", "concise", "detailed"));

const CONVERSATION: Fields = {
  conversation: nullable(byType({ string: text, object: object({ id: text }) })),
  previous_response_id: nullable(text),
  prompt: nullable(
    object(
      { id: text },
      { variables: nullable(mapOf(byType({ string: text, object: anyObject }))), version: nullable(text) },
    ),
  ),
};

export const responsesBody: Shape = object(
  {},
  {
    ...COMMON_FIELDS,
    ...CONVERSATION,
    model: text,
    input: byType({ string: text, array: listOf(inputItem) }),
    instructions: nullable(text),
    background: nullable(bool),
    // The types of the SDK do not list it, but codex sends it to the API with every call.
    client_metadata: nullable(anyObject),
    context_management: nullable(
      listOf(object({ type: text }, { compact_threshold: nullable(number({ whole: true })) })),
    ),
    include: nullable(listOf(oneOf(...INCLUDABLE))),
    max_output_tokens: nullable(number({ min: MIN_OUTPUT_TOKENS, whole: true })),
    max_tool_calls: nullable(number({ whole: true })),
    parallel_tool_calls: nullable(bool),
    reasoning: nullable(
      object(
        {},
        {
          context: nullable(oneOf("auto", "current_turn", "all_turns")),
          effort: nullable(effort),
          generate_summary: summary,
          mode: nullable(text),
          summary,
        },
      ),
    ),
    stream_options: nullable(object({}, { include_obfuscation: bool })),
    temperature: nullable(number({ min: 0, max: 2 })),
    text: object({}, { format, verbosity: nullable(verbosity) }),
    tool_choice: responsesToolChoice,
    tools: listOf(responsesTool),
    top_logprobs: nullable(number({ min: 0, max: 20, whole: true })),
    top_p: nullable(number({ min: 0, max: 1 })),
    truncation: nullable(oneOf("auto", "disabled")),
  },
);
