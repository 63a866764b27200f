import { isRecord } from "@longhaul/core/internal/messages";
import { filledString, list, record, shortString, string } from "../../../shape/shape-check.ts";
import { refuse } from "../../wording/refuse.ts";
import { type Check, type Inspection, orList, shortened } from "../shape/inspection.ts";

/** Maximum characters of item ids and call ids. */
const MAX_ID_LENGTH = 64;

/** Maximum characters of the name of a tool. */
const MAX_NAME_LENGTH = 128;

const NAME_PATTERN = /^[a-zA-Z0-9_-]+$/;
const ID_PATTERN = /^[a-zA-Z0-9_-]*[a-zA-Z0-9-]$/;

/** Maximum characters of a text, captured: github.com/VectorlyApp/bluebox/issues/31. */
const MAX_TEXT_LENGTH = 10_485_760;

/** Checks a text of a message, of a tool or of an output. */
export const longText: Check = shortString(MAX_TEXT_LENGTH);

function checkLength(value: string, maximum: number, inspection: Inspection): void {
  if (value.length > maximum) inspection.refuse({ kind: "stringTooLong", maximum }, value);
}

/** Checks an id that the API gave to an item or a response. */
export function idWith(prefix: string): Check {
  return (value, inspection) => {
    string(value, inspection);
    const id = value as string;
    checkLength(id, MAX_ID_LENGTH, inspection);
    const { path } = inspection;
    if (!ID_PATTERN.test(id)) refuse("idCharactersWrong", path, { path, id: shortened(id) });
    if (!id.startsWith(prefix)) refuse("idPrefixWrong", path, { path, id: shortened(id), prefix });
  };
}

export const callId: Check = (value, inspection) => {
  filledString(value, inspection);
  checkLength(value as string, MAX_ID_LENGTH, inspection);
};

/** Checks the name of a tool, in its definition and in calls. */
export const toolName: Check = (value, inspection) => {
  filledString(value, inspection);
  checkLength(value as string, MAX_NAME_LENGTH, inspection);
  if (!NAME_PATTERN.test(value as string)) {
    inspection.refuse({ kind: "pattern", pattern: NAME_PATTERN.source }, value);
  }
};

/** Requires exactly one of several fields that name the same content. */
export function withSource(check: Check, sources: readonly string[]): Check {
  return (value, inspection) => {
    check(value, inspection);
    if (!isRecord(value)) return;
    const given = sources.filter((name) => value[name] !== undefined && value[name] !== null);
    if (given.length === 1) return;
    const { path } = inspection;
    const choices = orList(sources);
    refuse(given.length === 0 ? "oneSourceNeeded" : "oneSourceOnly", path, { path, choices });
  };
}

export const listOfRecords: Check = list(record, { of: "objects" });

export const listOfStrings: Check = list(string, { of: "strings" });
