import {
  boolean,
  filledString,
  nullable,
  record,
  required,
  string,
  tagged,
} from "../../../shape/shape-check.ts";
import type { Check } from "../shape/inspection.ts";

/** Maximum characters of the name of an output format. */
const MAX_FORMAT_NAME_LENGTH = 64;

const FORMAT_NAME_PATTERN = /^[a-zA-Z0-9_-]+$/;

const formatName: Check = (value, inspection) => {
  filledString(value, inspection);
  const name = value as string;
  if (name.length > MAX_FORMAT_NAME_LENGTH) {
    inspection.refuse({ kind: "stringTooLong", maximum: MAX_FORMAT_NAME_LENGTH }, name);
  }
  if (!FORMAT_NAME_PATTERN.test(name)) {
    inspection.refuse({ kind: "pattern", pattern: FORMAT_NAME_PATTERN.source }, name);
  }
};

/** Format of the text of the answer. */
export const textFormat: Check = tagged({
  json_object: {},
  text: {},
  json_schema: {
    name: required(formatName),
    schema: required(record),
    description: nullable(string),
    strict: nullable(boolean),
  },
});
