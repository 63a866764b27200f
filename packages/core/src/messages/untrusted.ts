/**
 * Readers for untrusted values: lines of files, tool inputs, results, attachments. They check the actual
 * shape of a value. A part of the wrong shape counts as absent and is not an error.
 */

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function field(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

export function stringField(value: unknown, name: string): string | undefined {
  const found = field(value, name);
  return typeof found === "string" ? found : undefined;
}

/** Returns the first of these fields that contains a string. */
export function firstString(value: unknown, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = stringField(value, name);
    if (text !== undefined && text !== "") return text;
  }
  return undefined;
}

/** Returns 0 for a value that is not a finite number. */
export function numberField(value: unknown, name: string): number {
  const found = field(value, name);
  return typeof found === "number" && Number.isFinite(found) ? found : 0;
}

export function listField(value: unknown, name: string): readonly unknown[] {
  return asList(field(value, name));
}

/** Returns the strings in a list. Other items are skipped. */
export function stringListField(value: unknown, name: string): readonly string[] {
  return listField(value, name).filter((item) => typeof item === "string");
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns all text in message or tool result content. Media appear as short placeholders. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  const parts: string[] = [];
  for (const block of asList(content)) {
    const type = stringField(block, "type");
    if (type === "text") parts.push(stringField(block, "text") ?? "");
    else if (type === "image") parts.push("[image]");
    else if (type === "document") parts.push("[document]");
  }
  return parts.filter((part) => part !== "").join("\n");
}

/** Returns undefined for text that is not JSON or is nested too deeply. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return mayNestTooDeep(text) && isNestedTooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * Maximum nesting of lists and objects. No real data is nested nearly as deeply. At this depth,
 * `JSON.stringify` and recursive functions do not overflow the stack.
 */
export const MAX_NESTED_LEVELS = 500;

/** Text that replaces a value with more nested levels than the maximum. */
const TOO_DEEP = `[nested more than ${MAX_NESTED_LEVELS} levels deep]`;

/** Returns true if a value has too many nested levels. A circular object counts as too deep. */
export function isNestedTooDeep(value: unknown, levels: number = MAX_NESTED_LEVELS): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof item === "object" && isNestedTooDeep(item, levels - 1)) return true;
  }
  return false;
}

/** Replaces every part that is nested too deeply with a short text. */
export function withoutDeepParts(value: unknown, levels: number = MAX_NESTED_LEVELS): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return TOO_DEEP;
  if (Array.isArray(value)) return value.map((item) => withoutDeepParts(item, levels - 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, withoutDeepParts(item, levels - 1)]),
  );
}

/**
 * Returns true if a JSON text has enough brackets to be nested too deeply. Most texts have fewer brackets.
 */
export function mayNestTooDeep(json: string): boolean {
  if (json.length <= MAX_NESTED_LEVELS * 2) return false;
  let brackets = 0;
  for (const bracket of ["{", "["]) {
    for (let at = json.indexOf(bracket); at >= 0; at = json.indexOf(bracket, at + 1)) {
      if (++brackets > MAX_NESTED_LEVELS) return true;
    }
  }
  return false;
}
