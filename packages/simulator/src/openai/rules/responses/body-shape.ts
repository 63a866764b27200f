import type { JsonRecord } from "@longhaul/core/internal/messages";
import { editDistance } from "@longhaul/core/internal/options";
import {
  anything,
  boolean,
  filledString,
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
  unless,
} from "../../../shape/shape-check.ts";
import { refuse } from "../../wording/refuse.ts";
import { ends, metadataOf } from "../metadata.ts";
import { type Check, filledList, type Inspection, orList, shortened, union } from "../shape/inspection.ts";
import { input } from "./item-shapes.ts";
import { textFormat } from "./text-format.ts";
import { toolChoice, tools } from "./tool-shapes.ts";
import { idWith } from "./value-checks.ts";

/** Minimum `max_output_tokens`. */
const MIN_OUTPUT_TOKENS = 16;

/** Minimum `compact_threshold` in tokens. */
const MIN_COMPACT_THRESHOLD_TOKENS = 1_000;

/** Maximum characters of `safety_identifier` in the documentation. */
const MAX_SAFETY_IDENTIFIER_LENGTH = 128;

/** Maximum characters, captured: github.com/theopenco/llmgateway/pull/3110, vybestack/llxprt-code/issues/2135. */
const MAX_CACHE_KEY_LENGTH = 64;

const MAX_LOGPROBS = 20;

// Fields with a structure of their own

const conversation = union({
  string: idWith("conv"),
  object: object({ id: required(idWith("conv")) }),
});

/** The simulator stores no prompts, so it accepts every id. */
const prompt = object({
  id: required(filledString),
  variables: nullable(record),
  version: nullable(string),
});

const moderationMode = nullable(object({ mode: required(oneOf("score", "block")) }));

const moderation = object({
  model: required(string),
  policy: nullable(object({ input: moderationMode, output: moderationMode })),
});

/** Data that an answer may include on request. */
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

const include = list(oneOf(...INCLUDABLE), { of: `one of ${orList(INCLUDABLE.map(ends))}` });

export const metadata: Check = metadataOf({ type: "a metadata object", pathHasName: true });

const text = object({
  format: nullable(textFormat),
  verbosity: nullable(oneOf("low", "medium", "high")),
});

/** Efforts of all models. Another rule checks the efforts of the model. */
const effort = oneOf("none", "minimal", "low", "medium", "high", "xhigh", "max");
const summary = nullable(oneOf("concise", "detailed", "auto"));

const reasoning = object({
  effort: nullable(effort),
  summary,
  // Deprecated in the types. The API refuses it as unknown for some models and takes it from older clients.
  generate_summary: summary,
  context: nullable(oneOf("auto", "current_turn", "all_turns")),
  mode: nullable(string),
});

const cacheOptions = object({
  mode: oneOf("implicit", "explicit"),
  ttl: oneOf("30m", "12h"),
  comparison_response_id: nullable(string),
  prewarm: boolean,
});

/** Tiers of the newest types that the API does not list in its error text. */
const isNewTier = (value: unknown): boolean => value === "scale" || value === "ultrafast";

const serviceTier = unless(isNewTier, oneOf("auto", "default", "fast", "flex", "priority"));

const management: Check = object({
  type: required(string),
  compact_threshold: nullable(integer(MIN_COMPACT_THRESHOLD_TOKENS)),
});

const contextManagement: Check = (value, inspection) => {
  filledList(management, { of: "objects" })(value, inspection);
  for (const { type } of value as readonly JsonRecord[]) {
    if (type !== "compaction") {
      refuse("contextManagementUnknown", inspection.path, { type: shortened(String(type)) });
    }
  }
};

const previousResponse = idWith("resp");
const promptCacheRetention = oneOf("in_memory", "24h");
const imageOptions = object({ context_compression: oneOf("auto", "enabled", "disabled") });

// Bodies

/** Checks of fields, in the order in which the API reports faults. */
export type Body = ReadonlyMap<string, Check>;

/** Fields of `POST /v1/responses`, in the order of the API. Fields without a captured place come last. */
const CREATE: Body = new Map<string, Check>([
  ["model", string],
  ["input", input],
  ["previous_response_id", previousResponse],
  ["conversation", conversation],
  ["prompt", prompt],
  ["moderation", moderation],
  ["include", include],
  ["tools", tools],
  ["tool_choice", toolChoice],
  ["metadata", metadata],
  ["text", text],
  ["temperature", number(0, 2)],
  ["top_p", number(0, 1)],
  ["presence_penalty", number(-2, 2)],
  ["frequency_penalty", number(-2, 2)],
  ["parallel_tool_calls", boolean],
  ["stream", boolean],
  ["stream_options", object({ include_obfuscation: boolean })],
  ["background", boolean],
  ["max_output_tokens", integer(MIN_OUTPUT_TOKENS)],
  ["max_tool_calls", integer(1)],
  ["reasoning", reasoning],
  ["user", string],
  ["safety_identifier", shortString(MAX_SAFETY_IDENTIFIER_LENGTH)],
  ["prompt_cache_options", cacheOptions],
  ["prompt_cache_key", shortString(MAX_CACHE_KEY_LENGTH)],
  ["prompt_cache_retention", promptCacheRetention],
  ["truncation", oneOf("auto", "disabled")],
  ["instructions", string],
  ["store", boolean],
  ["service_tier", serviceTier],
  ["top_logprobs", integer(0, MAX_LOGPROBS)],
  ["context_management", contextManagement],
  ["access_programs", record],
  ["image", imageOptions],
  // Field of the multi-agent beta. Its fields are not checked.
  ["multi_agent", anything],
  // Undocumented field that codex 0.169 sends with every call, in its open source.
  ["client_metadata", record],
]);

/** Fields of `POST /v1/responses/compact`. */
const COMPACT: Body = new Map<string, Check>([
  ["model", string],
  ["input", input],
  ["previous_response_id", previousResponse],
  ["instructions", string],
  ["prompt_cache_key", shortString(MAX_CACHE_KEY_LENGTH)],
  ["prompt_cache_options", object({ mode: oneOf("implicit", "explicit"), ttl: oneOf("30m") })],
  ["prompt_cache_retention", promptCacheRetention],
  ["service_tier", serviceTier],
  ["image", imageOptions],
]);

/** Fields of `POST /v1/responses/input_tokens`. */
const COUNT: Body = new Map<string, Check>([
  ["model", string],
  ["input", input],
  ["previous_response_id", previousResponse],
  ["conversation", conversation],
  ["instructions", string],
  ["tools", tools],
  ["tool_choice", toolChoice],
  ["text", text],
  ["reasoning", reasoning],
  ["parallel_tool_calls", boolean],
  ["truncation", oneOf("auto", "disabled")],
  ["personality", string],
]);

const BODIES: Readonly<Record<string, Body>> = { responses: CREATE, compact: COMPACT, count_tokens: COUNT };

/** Fields of chat completions with the names that they have here. */
const MOVED: ReadonlyMap<string, string> = new Map([
  ["messages", "input"],
  ["reasoning_effort", "reasoning.effort"],
  ["response_format", "text.format"],
]);

/**
 * Checks types, required fields and unknown fields of a body. Reports faults in the order of the API: required
 * fields, unknown fields, then each field in the order of its table.
 */
export function checkShape(inspection: Inspection): void {
  const { endpoint, body } = inspection.request;
  const fields = BODIES[endpoint] ?? CREATE;
  checkRequired(inspection);
  for (const name in body) {
    const moved = MOVED.get(name);
    if (moved !== undefined && endpoint === "responses") refuse("parameterMoved", null, { name, moved });
  }
  checkFields(fields, inspection);
}

/** Refuses unknown fields, and then checks each field in the order of its table. */
export function checkFields(fields: Body, inspection: Inspection): void {
  const { body } = inspection.request;
  for (const name in body) {
    if (!fields.has(name) && !inspection.acceptsExtraFields)
      refuseUnknown(name, [...fields.keys()], inspection);
  }
  for (const [name, check] of fields) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    inspection.enter(name);
    check(value, inspection);
    inspection.leave();
  }
}

/** Refuses an unknown field of the body. Suggests fields that the body does not have yet. */
function refuseUnknown(name: string, fields: readonly string[], inspection: Inspection): never {
  const { body } = inspection.request;
  const names = similarNames(
    name,
    fields.filter((field) => body[field] === undefined),
  );
  const path = shortened(name);
  if (names.length === 0) return refuse("fieldUnknown", path, { path });
  return refuse("fieldMisspelled", path, { path, names: orList(names) });
}

/** Maximum number of edits between a misspelled name and a suggested one. */
const MAX_EDITS = 2;

/** Returns the names that are at most two edits away, the nearest first. */
function similarNames(name: string, names: readonly string[]): readonly string[] {
  return names
    .filter(({ length }) => Math.abs(length - name.length) <= MAX_EDITS)
    .map((one) => ({ one, edits: editDistance(name, one) }))
    .filter(({ edits }) => edits <= MAX_EDITS)
    .sort((a, b) => a.edits - b.edits || (a.one < b.one ? -1 : 1))
    .map(({ one }) => one);
}

function checkRequired(inspection: Inspection): void {
  const { endpoint, body } = inspection.request;
  if (endpoint !== "count_tokens") requireString("model", body.model, inspection);
  if (endpoint !== "responses") return;
  // Prompts may hold the input. It is not documented whether a conversation continues without one.
  const isElsewhere = [body.prompt, body.conversation, body.previous_response_id].some(
    (value) => (value ?? undefined) !== undefined,
  );
  if (!(isElsewhere && body.input === undefined)) requireString("input", body.input, inspection);
}

/** The API names null an object here, and expects a string even for the input. */
function requireString(name: string, value: unknown, inspection: Inspection): void {
  if (value !== undefined && value !== null) return;
  inspection.enter(name);
  if (value === undefined) inspection.refuse({ kind: "missing" }, value);
  inspection.refuseType("a string", {});
}
