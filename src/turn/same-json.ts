/** By bytes, as a provider compares what it has cached: another order of fields is another prefix. */
export function isSameJson(before: unknown, after: unknown): boolean {
  const isSame = compared(before, after);
  if (isSame !== undefined) return isSame;
  const json = jsonOf(before);
  return json !== undefined && json === jsonOf(after);
}

/** Compares without writing JSON, which costs a multiple. Undefined if only the JSON can tell. */
function compared(before: unknown, after: unknown): boolean | undefined {
  try {
    return hasSameParts(before, after);
  } catch {
    // Nested too deep, cyclic, or a getter that throws.
    return undefined;
  }
}

function hasSameParts(before: unknown, after: unknown): boolean | undefined {
  if (before === after) return true;
  if (typeof before === "string" && typeof after === "string") return false;
  if (!isObject(before) || !isObject(after)) return undefined;
  if (hasOwnJson(before) || hasOwnJson(after) || Array.isArray(before) !== Array.isArray(after))
    return undefined;
  if (Array.isArray(before) && before.length !== after.length) return false;
  const names = Object.keys(before);
  const others = Object.keys(after);
  if (names.length !== others.length) return undefined;
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as string;
    if (name !== others[at]) return undefined;
    const isSame = hasSameParts(before[name], after[name]);
    if (isSame !== true) return isSame;
  }
  return true;
}

const hasOwnJson = (value: Readonly<Record<string, unknown>>): boolean => typeof value.toJSON === "function";

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/**
 * A copy as JSON has it, without fields of the name `leftOut`. It shares the texts, so it costs little, and comparing it with a
 * later copy of the same object reads no text. Undefined for a value without a JSON form.
 */
export function jsonCopy(value: unknown, leftOut?: string): unknown {
  try {
    return copied(value, leftOut);
  } catch {
    return undefined;
  }
}

function copied(value: unknown, leftOut: string | undefined): unknown {
  if (!isObject(value)) return typeof value === "function" || typeof value === "symbol" ? undefined : value;
  if (hasOwnJson(value)) return copied(JSON.parse(JSON.stringify(value)), leftOut);
  if (Array.isArray(value)) return value.map((item: unknown) => copied(item, leftOut) ?? null);
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const part = name === leftOut ? undefined : copied(value[name], leftOut);
    if (part === undefined) continue;
    if (name === "__proto__") Object.defineProperty(copy, name, { value: part, enumerable: true });
    else copy[name] = part;
  }
  return copy;
}

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
