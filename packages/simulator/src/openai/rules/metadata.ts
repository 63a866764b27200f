import { isRecord } from "@longhaul/core/internal/messages";
import { shortString } from "../../shape/shape-check.ts";
import { refuse } from "../wording/refuse.ts";
import type { Check } from "./shape/inspection.ts";

/** Limits of `Metadata` in the official SDK. */
const MAX_PAIRS = 16;
const MAX_KEY_CHARACTERS = 64;
const MAX_VALUE_CHARACTERS = 512;

/** The API shows a name of more characters than this by its first and last three. */
const MAX_WHOLE_NAME_CHARACTERS = 12;

const metadataValue = shortString(MAX_VALUE_CHARACTERS);

/** Checks the field `metadata`, which both APIs share. */
export const metadata: Check = (value, inspection) => {
  if (!isRecord(value)) return inspection.refuse({ kind: "type", expected: "object" }, value);
  const names = Object.keys(value);
  if (names.length > MAX_PAIRS) {
    refuse("metadataTooMany", inspection.path, { limit: MAX_PAIRS, count: names.length });
  }
  for (const name of names) {
    const { length } = name;
    if (length > MAX_KEY_CHARACTERS) {
      const values = { name: elided(name), limit: MAX_KEY_CHARACTERS, length };
      refuse("metadataKeyTooLong", inspection.path, values);
    }
    inspection.enter(name);
    metadataValue(value[name], inspection);
    inspection.leave();
  }
};

function elided(name: string): string {
  return name.length > MAX_WHOLE_NAME_CHARACTERS ? `${name.slice(0, 3)}...${name.slice(-3)}` : name;
}
