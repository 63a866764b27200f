import { isRecord } from "@longhaul/core/internal/messages";
import { shortString } from "../../shape/shape-check.ts";
import { refuse } from "../wording/refuse.ts";
import { type Check, shortened } from "./shape/inspection.ts";

/** Limits of `Metadata` in the official SDK. */
const MAX_PAIRS = 16;
const MAX_KEY_CHARACTERS = 64;
const MAX_VALUE_CHARACTERS = 512;

const metadataValue = shortString(MAX_VALUE_CHARACTERS);

/** Shows the first and the last three characters of a name, as the API does. */
export const ends = (name: string): string => `${name.slice(0, 3)}...${name.slice(-3)}`;

/** Points in which the captured answers of the two APIs differ. */
interface Differences {
  /** Expected type in the error text. */
  readonly type: string;
  /** True if the parameter of the error about a long name contains the name. */
  readonly pathHasName: boolean;
}

/** Creates the check of the field `metadata`, which both APIs and conversations have. */
export function metadataOf({ type, pathHasName }: Differences): Check {
  return (value, inspection) => {
    if (!isRecord(value)) return inspection.refuseType(type, value);
    const names = Object.keys(value);
    const { path } = inspection;
    if (names.length > MAX_PAIRS)
      refuse("propertiesTooMany", path, { path, limit: MAX_PAIRS, length: names.length });
    for (const name of names) {
      inspection.enter(name);
      const { length } = name;
      if (length > MAX_KEY_CHARACTERS) {
        const values = { path, name: ends(name), limit: MAX_KEY_CHARACTERS, length };
        refuse("propertyNameTooLong", pathHasName ? shortened(inspection.path) : path, values);
      }
      metadataValue(value[name], inspection);
      inspection.leave();
    }
  };
}
