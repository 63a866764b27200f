import { isRecord, type JsonRecord, parseJson } from "../messages/untrusted.ts";

/** As the API's own documentation has it sent back. */
const BROKEN_INPUT = "INVALID_JSON";

/**
 * The input of a call is an object, or the conversation could not be sent on. One that is none (cut off by the
 * output limit, or nonsense) is kept in one, under a name that says so: nobody takes it for a whole call.
 */
export function callInput(input: unknown): JsonRecord {
  return isRecord(input) ? input : { [BROKEN_INPUT]: input ?? null };
}

export const isBrokenInput = (input: unknown): boolean => isRecord(input) && BROKEN_INPUT in input;

export function parsedInput(json: string): JsonRecord {
  if (json.trim() === "") return {};
  return callInput(parseJson(json) ?? json);
}
