/** By bytes, as a provider compares what it has cached: another order of fields is another prefix. */
export function isSameJson(before: unknown, after: unknown): boolean {
  if (before === after || hasSameFields(before, after)) return true;
  const json = jsonOf(before);
  return json !== undefined && json === jsonOf(after);
}

/** A host that makes the object anew each turn mostly puts the same things into it. */
function hasSameFields(before: unknown, after: unknown): boolean {
  if (!isObject(before) || !isObject(after)) return false;
  const names = Object.keys(before);
  const others = Object.keys(after);
  return (
    names.length === others.length &&
    names.every((name, at) => name === others[at] && before[name] === after[name])
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

export function jsonOf(
  value: unknown,
  replacer?: (key: string, value: unknown) => unknown,
): string | undefined {
  try {
    return JSON.stringify(value, replacer);
  } catch {
    // What cannot be written as JSON cannot have been sent either.
    return undefined;
  }
}
