import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import type { Idea, IdeaSource } from "./ideas.ts";
import { bareName, type CoderTool, FILE_FIELD } from "./tools.ts";

const FOLDER_FIELD = /^(?:dir|directory|folder)$/;

/**
 * Checks a call before the client runs it. The fields of unusual schemas can lead a call elsewhere: a tool that
 * writes may take no path, a shell may take other words than the command, and a subagent may not get the text
 * that identifies it. Such a call could write anywhere or start ever more subagents.
 */
export function isHarmless(tool: CoderTool, input: JsonRecord, idea: Idea, source: IdeaSource): boolean {
  if (tool.form !== "plain") return true;
  switch (idea.kind) {
    case "write":
    case "edit":
      return source.madeUpFolder !== undefined || isInside(input, source.ownFolder);
    case "shell":
      return textsIn(input).some(({ text }) => text === idea.command);
    case "agent":
      return textsIn(input).some(({ text }) => text === idea.prompt);
    default:
      return true;
  }
}

/** True if the input names at least one place, and all its places are inside the folder. */
function isInside(input: JsonRecord, folder: string | undefined): boolean {
  const places = textsIn(input).filter(({ name }) => FILE_FIELD.test(name) || FOLDER_FIELD.test(name));
  const isOwn = (text: string): boolean => text === folder || text.startsWith(`${folder}/`);
  return places.length > 0 && places.every(({ text }) => isOwn(text));
}

interface NamedText {
  /** Name of the property, in lower case and without punctuation. */
  readonly name: string;
  readonly text: string;
}

/** Returns all texts in a value. The items of a list have the name of the list. */
function textsIn(value: unknown, name = ""): readonly NamedText[] {
  if (typeof value === "string") return [{ name, text: value }];
  if (Array.isArray(value)) return value.flatMap((item) => textsIn(item, name));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => textsIn(item, bareName(key)));
}
