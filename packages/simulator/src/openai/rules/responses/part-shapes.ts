import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import {
  anything,
  nullable,
  object,
  oneOf,
  record,
  required,
  string,
  tagged,
} from "../../../shape/shape-check.ts";
import { refuse } from "../../wording/refuse.ts";
import { type Check, type Fields, type Inspection, listed, shortened } from "../shape/inspection.ts";
import { fileData, fileUrl, imageUrl } from "./media-checks.ts";
import { listOfRecords, longText, withSource } from "./value-checks.ts";

// Cache breakpoints exist in gpt-5.6 and later. Older models ignore them as far as the documentation says.
const breakpoint: Check = nullable(object({ mode: required(oneOf("explicit")), ttl: oneOf("30m", "12h") }));
const marked: Fields = { prompt_cache_breakpoint: breakpoint };

const imageDetail = nullable(oneOf("low", "high", "auto", "original"));

const textPart: Fields = { text: required(longText), ...marked };
const imagePart: Fields = {
  detail: imageDetail,
  file_id: nullable(string),
  image_url: nullable(imageUrl),
  ...marked,
};
const filePart: Fields = {
  detail: nullable(oneOf("auto", "low", "high")),
  file_data: nullable(fileData),
  file_id: nullable(string),
  file_url: nullable(fileUrl),
  filename: nullable(string),
  ...marked,
};
const outputTextPart: Fields = {
  text: required(longText),
  // Both are part of every answer. The API also accepts messages of clients that leave them out.
  annotations: nullable(listOfRecords),
  logprobs: nullable(listOfRecords),
};

/** Fields of which a file has at least one: guide on file inputs. Whether it may have several is not documented. */
const FILE_SOURCES = ["file_id", "file_data", "file_url"];

function withContent(check: Check): Check {
  return (value, inspection) => {
    check(value, inspection);
    const part = value as JsonRecord;
    if (FILE_SOURCES.some((name) => (part[name] ?? undefined) !== undefined)) return;
    const { path } = inspection;
    refuse("oneSourceNeeded", path, { path, choices: "'file_id', 'file_data', or 'file_url'" });
  };
}

const PARTS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["input_text", object({ type: anything, ...textPart })],
  ["input_image", withSource(object({ type: anything, ...imagePart }), ["file_id", "image_url"])],
  ["input_file", withContent(object({ type: anything, ...filePart }))],
  ["input_audio", object({ type: anything, input_audio: required(record) })],
  ["output_text", object({ type: anything, ...outputTextPart })],
  ["refusal", object({ type: anything, refusal: required(string) })],
  // Not documented: accepted with any fields.
  ["scoped_content", anything],
]);

/** All types of parts that the API names when it gets an unknown one. */
const ALL_PART_TYPES: readonly string[] = [
  "input_text",
  "input_image",
  "input_audio",
  "output_text",
  "refusal",
  "input_file",
  "computer_screenshot",
  "summary_text",
  "encrypted_content",
];

/** Checks one part of content. Refuses parts that exist, but not at this place, in other words. */
function partOf(types: readonly string[]): Check {
  const allowed = new Set(types);
  return (value, inspection) => {
    if (!isRecord(value)) return inspection.refuseType("an object", value);
    const { type } = value;
    const check = typeof type === "string" && allowed.has(type) ? PARTS.get(type) : undefined;
    if (check === undefined) return refusePart(type, types, inspection);
    check(value, inspection);
  };
}

function refusePart(type: unknown, types: readonly string[], inspection: Inspection): never {
  const isKnown = typeof type === "string" && ALL_PART_TYPES.includes(type);
  if (!isKnown) inspection.enter("type");
  if (type === undefined) return inspection.refuse({ kind: "missing" }, type);
  return refuse("valueUnknown", inspection.path, {
    value: typeof type === "string" ? shortened(type) : "",
    choices: listed(isKnown ? types : ALL_PART_TYPES),
  });
}

/** Checks content that is a text or a list of parts of the given types. */
function contentOf(types: readonly string[]): Check {
  const part = partOf(types);
  return (value, inspection) => {
    if (typeof value === "string") return longText(value, inspection);
    if (!Array.isArray(value)) {
      return inspection.refuseType("one of an array of objects or string", value);
    }
    for (let index = 0; index < value.length; index++) {
      inspection.enter(index);
      part(value[index], inspection);
      inspection.leave();
    }
  };
}

/** Content of messages of the user, the system and the developer. */
export const inputContent: Check = contentOf([
  "input_text",
  "input_image",
  "input_file",
  "scoped_content",
  "input_audio",
]);

/** Content of messages of the model. */
export const outputContent: Check = contentOf(["output_text", "refusal"]);

/** Output of a function or a custom tool. */
export const toolOutput: Check = contentOf(["input_text", "input_image", "input_file"]);

/** Output of the computer tool. */
export const screenshot: Check = tagged({
  computer_screenshot: { file_id: nullable(string), image_url: nullable(imageUrl), detail: imageDetail },
});
