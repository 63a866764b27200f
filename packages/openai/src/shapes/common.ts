import type { Report } from "../report.ts";
import { at, isRecord, quote } from "../values.ts";
import {
  anyObject,
  bool,
  type Fields,
  listOf,
  nullable,
  object,
  oneOf,
  type Shape,
  tagged,
  text,
  textOfLength,
  wrongType,
} from "./shape.ts";

/** Shapes that chat completions and Responses share. */

/** Number of key-value pairs of `metadata`, and characters of a key and of a value. */
const MAX_METADATA_PAIRS = 16;
const MAX_METADATA_KEY = 64;
const MAX_METADATA_VALUE = 512;

const MAX_CACHE_KEY = 64;

const metadata: Shape = (value, path, report) => {
  if (!isRecord(value)) {
    wrongType(path, "an object with strings", value, report);
    return;
  }
  const pairs = Object.entries(value).filter(([, entry]) => entry !== undefined);
  if (pairs.length > MAX_METADATA_PAIRS)
    report.add(
      "metadata-limit",
      path,
      `${path} has ${pairs.length} pairs, but the API accepts at most ${MAX_METADATA_PAIRS}. Remove some.`,
    );
  for (const [key, entry] of pairs) metadataPair(key, entry, at(path, key), report);
};

function metadataPair(key: string, value: unknown, path: string, report: Report): void {
  if (key.length > MAX_METADATA_KEY)
    report.add(
      "metadata-limit",
      path,
      `The key ${quote(key)} has ${key.length} characters, but the API accepts at most ${MAX_METADATA_KEY}. Shorten it.`,
    );
  if (typeof value !== "string") wrongType(path, "a string", value, report);
  else if (value.length > MAX_METADATA_VALUE)
    report.add(
      "metadata-limit",
      path,
      `${path} has ${value.length} characters, but the API accepts at most ${MAX_METADATA_VALUE}. Shorten it.`,
    );
}

/** Characters of a text of a message, of a tool or of an output. */
export const longText: Shape = textOfLength({ max: 10_485_760 });

const NAME_PATTERN = /^[a-zA-Z0-9_-]+$/;

/** Name of a tool, a function or a response format. */
export function nameUpTo(maxLength: number): Shape {
  return (value, path, report) => {
    if (typeof value !== "string") wrongType(path, "a string", value, report);
    else if (value.length > maxLength || !NAME_PATTERN.test(value))
      report.add(
        "name-invalid",
        path,
        `${path} is ${quote(value)}. Use 1 to ${maxLength} characters of a-z, A-Z, 0-9, "_" and "-".`,
      );
  };
}

/** Mark for the prompt cache at the end of a content part. */
export const cacheMark: Shape = object({ mode: oneOf("explicit") }, { ttl: oneOf("30m", "12h") });

const moderationMode = nullable(object({ mode: oneOf("score", "block") }));

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

export const effort: Shape = oneOf(...EFFORTS);

export const verbosity: Shape = oneOf("low", "medium", "high");

/** Optional fields of the body that have the same shape in both APIs. */
export const COMMON_FIELDS: Fields = {
  metadata,
  moderation: object(
    { model: text },
    { policy: nullable(object({}, { input: moderationMode, output: moderationMode })) },
  ),
  prompt_cache_key: textOfLength({ max: MAX_CACHE_KEY }),
  store: bool,
  stream: bool,
  user: text,
};

/** Tiers that both APIs have. */
export const SERVICE_TIERS: readonly string[] = ["auto", "default", "fast", "flex", "priority", "scale"];

/** Schema, name and strictness of a JSON format. Chat completions nest them in `json_schema`. */
export const JSON_FORMAT: { readonly required: Fields; readonly optional: Fields } = {
  required: { name: nameUpTo(64) },
  optional: { strict: nullable(bool), schema: anyObject },
};

/** Format of a custom tool's input. The grammar is nested in chat completions and flat in Responses. */
export function customFormat(grammar: Shape): Shape {
  return tagged({ text: object({ type: text }), grammar });
}

export const GRAMMAR: Fields = { definition: text, syntax: oneOf("lark", "regex") };

/** Tools of `tool_choice` with `allowed_tools`. */
export const ALLOWED_TOOLS: Fields = { mode: oneOf("auto", "required"), tools: listOf(anyObject) };
