import type { RequestFrame } from "@longhaul/core/compaction";
import { asList, field, isRecord, PATH_FIELDS, stringField } from "@longhaul/core/internal/messages";
import { unescaped } from "@longhaul/core/internal/summary";
import type { ToolUseBlock } from "@longhaul/core/messages";
import { FILE_TOOLS } from "@longhaul/core/messages";
import type { ToolDefinition } from "@longhaul/core/models";
import type { Refusal, SectionEdit, TextEdit } from "./note-edits.ts";

/** A host tool that edits files, with the names of its input fields. */
export interface EditTool {
  readonly name: string;
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: string | undefined;
  /** Name of the field with the list of edits. Undefined for a tool that takes one edit per call. */
  readonly list: string | undefined;
  /**
   * Value of the command field that makes the tool edit a file. Undefined for a tool without such a field.
   */
  readonly command: string | undefined;
}

const OLD_TEXT_FIELDS = ["old_string", "old_str", "oldText", "oldString", "old_text", "search"] as const;
const NEW_TEXT_FIELDS = ["new_string", "new_str", "newText", "newString", "new_text", "replace"] as const;
const REPLACE_ALL_FIELDS = ["replace_all", "replaceAll"] as const;
const EDIT_COMMAND = "str_replace";

/**
 * Finds a host tool with which the model can edit the notes in a fork of the conversation. Only a tool of the
 * host is possible, because an additional tool would change the cached prefix. Returns undefined if the host
 * has no suitable tool, or if the request forbids tool calls. If the request forbids parallel tool calls,
 * also returns undefined, because one edit is not enough.
 */
export function findEditTool({ tools = [], tool_choice }: RequestFrame): EditTool | undefined {
  if (tool_choice?.type === "none" || field(tool_choice, "disable_parallel_tool_use") === true)
    return undefined;
  const found = tools.flatMap((tool) => editToolOf(tool) ?? []);
  return found.find(({ list }) => list === undefined) ?? found[0];
}

function editToolOf(tool: ToolDefinition): EditTool | undefined {
  const name = stringField(tool, "name") ?? "";
  const use = FILE_TOOLS.get(name.toLowerCase());
  // The model cannot call a tool with deferred loading yet.
  if ((use !== "change" && use !== "by-command") || tool.defer_loading === true) return undefined;
  if (stringField(tool, "type")?.startsWith("text_editor_")) return providersEditor(name);
  const properties = field(tool.input_schema, "properties");
  const path = firstNamed(properties, PATH_FIELDS);
  if (path === undefined) return undefined;
  const own = partsIn(properties);
  if (use === "by-command") {
    const commands = asList(field(field(properties, "command"), "enum"));
    return own && commands.includes(EDIT_COMMAND)
      ? { name, path, ...own, list: undefined, command: EDIT_COMMAND }
      : undefined;
  }
  if (own !== undefined) return { name, path, ...own, list: undefined, command: undefined };
  const each = partsIn(field(field(field(properties, "edits"), "items"), "properties"));
  return each && { name, path, ...each, list: "edits", command: undefined };
}

/**
 * Describes the provider's own edit tool. Its field names are fixed, because requests do not contain its
 * schema.
 */
const providersEditor = (name: string): EditTool => ({
  name,
  path: "path",
  oldText: "old_str",
  newText: "new_str",
  replaceAll: undefined,
  list: undefined,
  command: EDIT_COMMAND,
});

function partsIn(properties: unknown): Pick<EditTool, "oldText" | "newText" | "replaceAll"> | undefined {
  const oldText = firstNamed(properties, OLD_TEXT_FIELDS);
  const newText = firstNamed(properties, NEW_TEXT_FIELDS);
  if (oldText === undefined || newText === undefined) return undefined;
  return { oldText, newText, replaceAll: firstNamed(properties, REPLACE_ALL_FIELDS) };
}

const firstNamed = (properties: unknown, names: readonly string[]): string | undefined =>
  names.find((name) => isRecord(field(properties, name)));

/** Reads the edits from a call of the edit tool. Returns at least one edit, or a refusal. */
export function editsOf({ input }: ToolUseBlock, tool: EditTool): readonly TextEdit[] | Refusal {
  const path = stringField(input, tool.path);
  if (tool.command !== undefined && stringField(input, "command") !== tool.command)
    return { refused: `Not applied: only the command "${tool.command}" is allowed here.` };
  const items = tool.list === undefined ? [input] : asList(field(input, tool.list));
  const edits = items.flatMap((item) => (path === undefined ? [] : (textEdit(item, path, tool) ?? [])));
  if (edits.length === items.length && edits.length > 0) return edits;
  return { refused: `Not applied: an edit needs ${describeEdit(tool)}.` };
}

function textEdit(item: unknown, path: string, tool: EditTool): TextEdit | undefined {
  const oldText = stringField(item, tool.oldText);
  const newText = stringField(item, tool.newText);
  if (oldText === undefined || newText === undefined) return undefined;
  const replaceAll = tool.replaceAll !== undefined && field(item, tool.replaceAll) === true;
  return { kind: "text", path, oldText, newText, ...(replaceAll ? { replaceAll } : {}) };
}

/** Describes the fields of an edit call, for the prompt or for the reason of a refusal. */
export function describeEdit({ path, oldText, newText, list, command }: EditTool): string {
  const texts = `\`${oldText}\` and \`${newText}\``;
  const edits = list === undefined ? texts : `\`${list}\` (a list, each with ${texts})`;
  const how = command === undefined ? "" : `\`command\` "${command}", `;
  return `${how}\`${path}\`, ${edits}`;
}

const OPENING = /<note\s[^<>]*>/gi;
/** Matches an attribute of a note tag. A `<note>` tag without such an attribute may be ordinary text. */
const HAS_ATTRIBUTE_OF_OURS = /\b(?:section|mode)\s*=/i;
const CLOSING = "</note>";
const ATTRIBUTE = /([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/**
 * Reads the `<note …>…</note>` blocks of a reply in order. Ignores the text between them. `named` is the name
 * of the block in messages to the model.
 */
export function noteBlocksIn(
  text: string,
): readonly { readonly named: string; readonly edit: SectionEdit | Refusal }[] {
  const openings = [...text.matchAll(OPENING)].filter(([tag]) => HAS_ATTRIBUTE_OF_OURS.test(tag));
  return openings.map((opening, index) => {
    const attributes = attributesIn(opening[0]);
    const section = attributes.get("section");
    const rest = text.slice(opening.index + opening[0].length, openings[index + 1]?.index);
    return {
      named: section === undefined ? "A note" : `The note for ${JSON.stringify(section)}`,
      edit: sectionEdit(section, attributes.get("mode"), rest),
    };
  });
}

/** @param rest text from the opening tag to the next block */
function sectionEdit(
  section: string | undefined,
  mode: string | undefined,
  rest: string,
): SectionEdit | Refusal {
  const end = rest.indexOf(CLOSING);
  if (end === -1) return refused(`it has no ${CLOSING} at its end`);
  // If there are two closing tags, it is unclear which tag ends the block. Either choice could lose a part of
  // the text.
  if (rest.lastIndexOf(CLOSING) !== end)
    return refused(`its text contains ${CLOSING}, so write that differently`);
  if (section === undefined) return refused('it does not name its section (section="…")');
  if (mode !== "replace" && mode !== "append") return refused('its mode is neither "replace" nor "append"');
  return { kind: "section", section, mode, text: rest.slice(0, end).trim() };
}

const refused = (why: string): Refusal => ({ refused: `Not applied: ${why}.` });

/**
 * Reads the attributes of a tag. Decodes XML entities, because some models escape the `&` in the section name
 * "Errors & Corrections".
 */
function attributesIn(tag: string): ReadonlyMap<string, string> {
  const found = [...tag.matchAll(ATTRIBUTE)];
  return new Map(
    found.map(([, name = "", double, single = ""]) => [
      name.toLowerCase(),
      unescaped(double ?? single).trim(),
    ]),
  );
}
