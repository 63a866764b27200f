/**
 * Readers for values that anything may have written: lines of files, tool inputs, results, attachments. The types say
 * what a value should be; these say what is really there. A part of the wrong shape is absent instead of an error.
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

/** The first of these fields that holds text. */
export function firstString(value: unknown, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = stringField(value, name);
    if (text !== undefined && text !== "") return text;
  }
  return undefined;
}

/** 0 for what is no number, or none that can be reckoned with. */
export function figureField(value: unknown, name: string): number {
  const found = field(value, name);
  return typeof found === "number" && Number.isFinite(found) ? found : 0;
}

export function listField(value: unknown, name: string): readonly unknown[] {
  return asList(field(value, name));
}

/** The texts of a list; whatever else is in it is passed over. */
export function stringListField(value: unknown, name: string): readonly string[] {
  return listField(value, name).filter((item) => typeof item === "string");
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** All text in message or tool-result content, with media as short marks in its place. */
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

/** Undefined for text that is no JSON, or is nested too deep to be handled. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return mayNestTooDeep(text) && isNestedTooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

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
