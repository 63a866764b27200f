/**
 * Levels of lists and objects within one another that are read. Nothing real comes near it, and neither
 * `JSON.stringify` nor a function that calls itself for each level overflows the stack.
 */
export const MOST_NESTED_LEVELS = 500;

/** Stands where a value was nested deeper. */
const TOO_DEEP = `[nested more than ${MOST_NESTED_LEVELS} levels deep]`;

/** Ends at the first part that is too deep, so an object that holds itself is too deep as well. */
export function isNestedTooDeep(value: unknown, levels: number = MOST_NESTED_LEVELS): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof item === "object" && isNestedTooDeep(item, levels - 1)) return true;
  }
  return false;
}

/** The value with a short text in place of every part that is nested too deep. */
export function withoutDeepParts(value: unknown, levels: number = MOST_NESTED_LEVELS): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return TOO_DEEP;
  if (Array.isArray(value)) return value.map((item) => withoutDeepParts(item, levels - 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, withoutDeepParts(item, levels - 1)]),
  );
}

/** True if a JSON text has enough brackets to be nested too deep. Most lines have too few. */
export function mayNestTooDeep(json: string): boolean {
  if (json.length <= MOST_NESTED_LEVELS * 2) return false;
  let brackets = 0;
  for (const bracket of ["{", "["]) {
    for (let at = json.indexOf(bracket); at >= 0; at = json.indexOf(bracket, at + 1)) {
      if (++brackets > MOST_NESTED_LEVELS) return true;
    }
  }
  return false;
}
