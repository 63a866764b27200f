import { isRecord, type JsonRecord, parseJson } from "../messages/untrusted.ts";

/** The field name that Anthropic's documentation recommends for invalid input. */
const INVALID_INPUT_FIELD = "INVALID_JSON";

/**
 * Ensures that the input of a tool call is an object, because the API rejects anything else. Other values are
 * malformed, or the output limit cut them off. They are wrapped in a field whose name marks the input as
 * invalid.
 */
export function toInputObject(input: unknown): JsonRecord {
  return isRecord(input) ? input : { [INVALID_INPUT_FIELD]: input ?? null };
}

export const isInvalidInput = (input: unknown): boolean => isRecord(input) && INVALID_INPUT_FIELD in input;

export function parsedInput(json: string): JsonRecord {
  if (json.trim() === "") return {};
  return toInputObject(parseJson(json) ?? json);
}
