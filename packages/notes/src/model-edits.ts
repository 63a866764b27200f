import type { RequestFrame } from "@longhaul/core/compaction";
import { asList, field, isRecord, PATH_FIELDS, stringField } from "@longhaul/core/internal/messages";
import { unescaped } from "@longhaul/core/internal/summary";
import type { ToolUseBlock } from "@longhaul/core/messages";
import { FILE_TOOLS } from "@longhaul/core/messages";
import type { ToolDefinition } from "@longhaul/core/models";
import type { Refusal, SectionEdit, TextEdit } from "./note-edits.ts";

/** A tool of the host's that edits files, and what it calls the parts of an edit. */
export interface EditTool {
  readonly name: string;
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: string | undefined;
  /** The field with the list of edits, of tools that take several at once. */
  readonly list: string | undefined;
  /** For tools that take their work as a command: the one that edits. */
  readonly command: string | undefined;
}

const OLD_TEXT_FIELDS = ["old_string", "old_str", "oldText", "oldString", "old_text", "search"] as const;
const NEW_TEXT_FIELDS = ["new_string", "new_str", "newText", "newString", "new_text", "replace"] as const;
const REPLACE_ALL_FIELDS = ["replace_all", "replaceAll"] as const;
const EDIT_COMMAND = "str_replace";

/**
 * The tool by which a model that shares the conversation's prefix can edit its notes: a tool of ours would change
 * the prefix. Undefined where the host has none that we understand, or the request does not let the model make as
 * many calls as it likes: one edit is not enough.
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
  // A tool that is loaded later is not there yet.
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

/** Its schema is the provider's own and stands in no request. */
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

/** A call of the tool as the edits it asks for. At least one. */
export function editsOf({ input }: ToolUseBlock, tool: EditTool): readonly TextEdit[] | Refusal {
  const path = stringField(input, tool.path);
  if (tool.command !== undefined && stringField(input, "command") !== tool.command)
    return { refused: `Not carried out: only the command "${tool.command}" is.` };
  const items = tool.list === undefined ? [input] : asList(field(input, tool.list));
  const edits = items.flatMap((item) => (path === undefined ? [] : (textEdit(item, path, tool) ?? [])));
  if (edits.length === items.length && edits.length > 0) return edits;
  return { refused: `Not carried out: an edit needs ${partsInWords(tool)}.` };
}

function textEdit(item: unknown, path: string, tool: EditTool): TextEdit | undefined {
  const oldText = stringField(item, tool.oldText);
  const newText = stringField(item, tool.newText);
  if (oldText === undefined || newText === undefined) return undefined;
  const replaceAll = tool.replaceAll !== undefined && field(item, tool.replaceAll) === true;
  return { kind: "text", path, oldText, newText, ...(replaceAll ? { replaceAll } : {}) };
}

/** The parts of a call of the tool, for a prompt or a reason. */
export function partsInWords({ path, oldText, newText, list, command }: EditTool): string {
  const texts = `\`${oldText}\` and \`${newText}\``;
  const edits = list === undefined ? texts : `\`${list}\` (a list, each with ${texts})`;
  const how = command === undefined ? "" : `\`command\` "${command}", `;
  return `${how}\`${path}\`, ${edits}`;
}

const OPENING = /<note\s[^<>]*>/gi;
/** The word alone may be anybody's tag. */
const HAS_ATTRIBUTE_OF_OURS = /\b(?:section|mode)\s*=/i;
const CLOSING = "</note>";
const ATTRIBUTE = /([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/**
 * The `<note …>…</note>` blocks of an answer, in their order. What stands between them is talk. `named` is how a reason
 * refers to a block.
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

/** `rest`: up to where the next block begins. */
function sectionEdit(
  section: string | undefined,
  mode: string | undefined,
  rest: string,
): SectionEdit | Refusal {
  const end = rest.indexOf(CLOSING);
  if (end === -1) return refused(`it has no ${CLOSING} at its end`);
  // Whichever of the two ends it, the other is part of something that would be lost.
  if (rest.lastIndexOf(CLOSING) !== end)
    return refused(`it holds ${CLOSING} in its text; write that otherwise`);
  if (section === undefined) return refused('it does not say which section it is for (section="…")');
  if (mode !== "replace" && mode !== "append") return refused('its mode is neither "replace" nor "append"');
  return { kind: "section", section, mode, text: rest.slice(0, end).trim() };
}

const refused = (why: string): Refusal => ({ refused: `Not carried out: ${why}.` });

/** Some models write attributes as XML has them; "Errors & Corrections" is a section's name. */
function attributesIn(tag: string): ReadonlyMap<string, string> {
  const found = [...tag.matchAll(ATTRIBUTE)];
  return new Map(
    found.map(([, name = "", double, single = ""]) => [
      name.toLowerCase(),
      unescaped(double ?? single).trim(),
    ]),
  );
}
