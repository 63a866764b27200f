import { asList, field, isRecord, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { SeenRequest } from "../../exchange.ts";
import { toolChoiceOf } from "../wishes.ts";

/**
 * Names of tools, in lower case and without punctuation. The key is the kind of the tools, the value is the
 * list of names.
 */
const NAMES = {
  read: "read readfile readfiles viewfile openfile fileread catfile readtextfile getfilecontents",
  write: "write writefile createfile filewrite writetofile savefile createnewfile",
  edit: "edit editfile fileedit multiedit strreplace searchreplace replaceinfile replace",
  shell: `bash shell runcommand execute executecommand terminal runterminalcmd exec
          runshellcommand runinterminal localshell runbash runcommands execcommand shellcommand`,
  grep: "grep search searchcodebase searchfiles searchfilecontent codesearch ripgrep grepsearch",
  list: "glob findfiles filesearch listfiles listdirectory listdir ls list",
  fetch: "webfetch fetch fetchurl httpget readurl",
  "web-search": "websearch searchweb googlewebsearch",
  todo: "todowrite todo updateplan writetodos updatetodolist",
  agent: "task agent subagent dispatchagent spawnagent",
} as const;

/** Kind of a tool. For an unusual tool (`other`), the coder derives the input from the schema alone. */
export type ToolKind = keyof typeof NAMES | "other";

const KIND_BY_NAME: ReadonlyMap<string, ToolKind> = new Map(
  Object.entries(NAMES).flatMap(([kind, names]) =>
    names.split(/\s+/).map((name) => [name, kind as ToolKind] as const),
  ),
);

export interface CoderTool {
  readonly name: string;
  /** Kinds of calls to this tool. An editor tool that takes commands has several kinds. */
  readonly kinds: readonly ToolKind[];
  readonly schema: JsonRecord;
  /**
   * Form of the input. `editor` and `memory` take a command, which decides the other fields. `script` takes a
   * program that calls the tools of the client. `patch` takes a text that names files and their changes.
   */
  readonly form: "plain" | "editor" | "memory" | "script" | "patch";
}

/** Matches tools that wait for a person or for another agent. A call of such a tool would block the session. */
const WAITS =
  /ask.?(?:user|question|followup)|request.?user|exit.?plan|enter.?plan|confirm|approval|(?:^|[._])wait(?:[._]|$)/i;

/** Matches the description of a tool whose input is a program that can run shell commands (codex). */
const RUNS_SCRIPTS = /\btools\.exec_command\(/;

const COMMAND_SCHEMA: JsonRecord = {
  type: "object",
  properties: { command: { type: "string" } },
  required: ["command"],
};

interface ToolSelection {
  readonly tools: readonly CoderTool[];
  /** True if the request forces a tool call. */
  readonly isForced: boolean;
  readonly allowsParallel: boolean;
}

/** A field with the file that a tool writes. */
export const FILE_FIELD: RegExp =
  /^(?:filepath|file|filename|targetfile|absolutepath|notebookpath|relativeworkspacepath|path|paths|files|filepaths)$/;

/** Returns a name in lower case and without punctuation. */
export const bareName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** Selects the tools that this request lets the model call, in the given order. */
export function selectTools(
  request: SeenRequest,
  uses: (name: string) => boolean = () => true,
): ToolSelection {
  const { mode, only, allowsParallel } = toolChoiceOf(request);
  if (mode === "none") return { tools: [], isForced: false, allowsParallel };
  const callable = request.tools
    .flatMap((tool) => coderTool(tool) ?? [])
    .filter(({ name }) => only === undefined || only.includes(name));
  const isForced = mode === "any";
  if (isForced && only !== undefined) return { tools: callable, isForced, allowsParallel };
  const liked = callable.filter(({ name }) => uses(name) && !WAITS.test(name));
  return { tools: isForced && liked.length === 0 ? callable : liked, isForced, allowsParallel };
}

/**
 * Describes a tool for the coder. Returns undefined for tools that the provider runs, and for tools with a
 * deferred definition.
 */
export function coderTool(tool: JsonRecord): CoderTool | undefined {
  const name = stringField(tool, "name");
  if (name === undefined || tool.defer_loading === true) return undefined;
  const type = stringField(tool, "type") ?? "custom";
  if (type.startsWith("bash_")) return { name, kinds: ["shell"], schema: COMMAND_SCHEMA, form: "plain" };
  const editor: CoderTool = { name, kinds: ["read", "write", "edit"], schema: {}, form: "editor" };
  if (type.startsWith("text_editor_")) return editor;
  if (type.startsWith("memory_")) return { name, kinds: ["other"], schema: {}, form: "memory" };
  if (type !== "custom") return undefined;
  const schema = isRecord(tool.input_schema) ? tool.input_schema : {};
  if (takesEditorCommands(schema)) return editor;
  if (isFileEditor(name)) return { name, kinds: ["write", "edit"], schema, form: "plain" };
  if (isPatchTool(name)) return { name, kinds: ["write", "edit"], schema, form: "patch" };
  if (RUNS_SCRIPTS.test(stringField(tool, "description") ?? ""))
    return { name, kinds: ["shell"], schema, form: "script" };
  const kind = isMcp(name) && !takesPath(schema) ? "other" : kindOf(name);
  return { name, kinds: [takesUsualField(kind, schema) ? kind : "other"], schema, form: "plain" };
}

/**
 * Names of fields that tools of a kind must have, in lower case and without punctuation. Without such a field,
 * the coder cannot say where the tool works or what it does, so the tool counts as unknown.
 */
const USUAL_FIELDS: Partial<Readonly<Record<ToolKind, RegExp>>> = {
  write: FILE_FIELD,
  edit: FILE_FIELD,
  shell: /^(?:command|commands|cmd|script)$/,
  agent: /^(?:prompt|task|instructions|question)$/,
};

function takesUsualField(kind: ToolKind, schema: JsonRecord): boolean {
  const usual = USUAL_FIELDS[kind];
  return usual === undefined || fieldNames(schema).some((name) => usual.test(name));
}

/** Returns the field that a call of this kind must set, even if the schema does not require it. */
export function usualField(kind: ToolKind, { properties }: JsonRecord): string | undefined {
  const usual = USUAL_FIELDS[kind];
  if (usual === undefined || !isRecord(properties)) return undefined;
  return Object.keys(properties).find((name) => usual.test(bareName(name)));
}

/** Depth to which the fields of a schema are read. Tools of the known kinds nest their fields once or twice. */
const MAX_FIELD_DEPTH = 6;

function fieldNames(schema: unknown, depth = 0): readonly string[] {
  if (!isRecord(schema) || depth > MAX_FIELD_DEPTH) return [];
  const { properties, items, anyOf, oneOf, allOf } = schema;
  const parts = [items, ...asList(anyOf), ...asList(oneOf), ...asList(allOf)];
  const fields = isRecord(properties) ? Object.entries(properties) : [];
  return [
    ...fields.flatMap(([name, part]) => [bareName(name), ...fieldNames(part, depth + 1)]),
    ...parts.flatMap((part) => fieldNames(part, depth + 1)),
  ];
}

function takesEditorCommands(schema: JsonRecord): boolean {
  const commands = asList(field(field(field(schema, "properties"), "command"), "enum"));
  return ["view", "create", "str_replace"].every((command) => commands.includes(command));
}

/**
 * True for the tool `editor` of cline, which creates a file if the call has no old text, and edits it
 * otherwise.
 */
export const isFileEditor = (name: string): boolean => name === "editor";

/** True for the tools of OpenAI's models that create and change files by a patch. */
export const isPatchTool = (name: string): boolean => name === "apply_patch";

/**
 * Returns the kind of a tool by its name. The name of an MCP tool ends with the plain tool name. An MCP tool
 * may write anywhere, so only MCP tools that read are recognized.
 */
export function kindOf(name: string): ToolKind {
  const own = name.split("__").at(-1) ?? name;
  const kind = KIND_BY_NAME.get(bareName(own)) ?? "other";
  return isMcp(name) && kind !== "read" ? "other" : kind;
}

const isMcp = (name: string): boolean => name.startsWith("mcp__");

/** Returns false for tools that read something other than files, such as a mailbox or a customer. */
const takesPath = (schema: JsonRecord): boolean =>
  Object.keys(isRecord(schema.properties) ? schema.properties : {}).some((name) => /path|file/i.test(name));
