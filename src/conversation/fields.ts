import { isRecord } from "./untrusted.ts";

/** Readers for inputs, results and attachments, whose shape depends on who wrote the file: what has the wrong type is absent. */

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
