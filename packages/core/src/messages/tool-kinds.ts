import { firstString, stringField } from "./untrusted.ts";

/** What a tool is for. `file-by-command`: its input says what it does to the file. */
type ToolKind =
  | "file-read"
  | "file-edit"
  | "file-write"
  | "file-by-command"
  | "notebook-read"
  | "notebook-edit"
  | "shell"
  | "grep"
  | "glob"
  | "web-fetch"
  | "web-search"
  | "recall";

/** The tool by which an agent searches what is no longer in its context. */
export const RECALL_TOOL_NAME = "recall";

interface ToolNames {
  /** Names that can mean nothing else, as they are written. */
  readonly sure: readonly string[];
  /** These may be anybody's tool: enough to note a file or a command that a call names, not to clear its result. */
  readonly likely?: readonly string[];
}

/** Claude Code's names first, then those of other agents. */
const TOOLS: Readonly<Record<ToolKind, ToolNames>> = {
  "file-read": {
    sure: ["Read", "read", "read_file", "readFile", "ReadFile", "read_many_files", "view_file"],
    likely: ["view", "open_file"],
  },
  shell: {
    sure: [
      ...["Bash", "PowerShell", "bash", "shell", "powershell", "local_shell", "run_shell_command"],
      ...["execute_command", "exec_command", "shell_command", "run_command", "run_terminal_cmd"],
      "run_in_terminal",
    ],
    likely: ["exec", "terminal"],
  },
  grep: { sure: ["Grep", "grep", "grep_search", "search_file_content", "ripgrep"] },
  glob: { sure: ["Glob", "glob", "glob_file_search", "file_search", "find_files"] },
  "web-fetch": { sure: ["WebFetch", "web_fetch", "webfetch", "webFetch", "fetch_url", "fetch_webpage"] },
  "web-search": { sure: ["WebSearch", "web_search", "websearch", "webSearch", "google_web_search"] },
  "file-edit": {
    sure: [
      ...["Edit", "MultiEdit", "edit", "multiedit", "edit_file", "editFile", "multi_edit", "apply_patch"],
      ...["apply_diff", "replace_in_file", "replace_string_in_file", "search_replace", "str_replace"],
    ],
    likely: ["replace"],
  },
  "file-write": {
    sure: ["Write", "write", "write_file", "writeFile", "WriteFile", "write_to_file", "create_file"],
  },
  "file-by-command": { sure: ["str_replace_editor", "str_replace_based_edit_tool"] },
  "notebook-read": { sure: ["NotebookRead"] },
  "notebook-edit": { sure: ["NotebookEdit"] },
  recall: { sure: [RECALL_TOOL_NAME] },
};

/** The names that mean these kinds for sure. */
export function toolsOf(...kinds: readonly ToolKind[]): readonly string[] {
  return kinds.flatMap((kind) => TOOLS[kind].sure);
}

/** What a tool does to the file it names; `by-command`: its input says which. */
export type FileUse = "read" | "change" | "by-command";

/** Tools after which the agent knows a file's content, by their names in lower case. */
export type FileTools = ReadonlyMap<string, FileUse>;

/** As the common agents call them. */
export const FILE_TOOLS: FileTools = new Map<string, FileUse>([
  ...usedFor("read", "file-read", "notebook-read"),
  ...usedFor("change", "file-edit", "file-write", "notebook-edit"),
  ...usedFor("by-command", "file-by-command"),
]);

function usedFor(use: FileUse, ...kinds: readonly ToolKind[]): readonly (readonly [string, FileUse])[] {
  return kinds.flatMap((kind) => [...lowerCaseNames(kind)].map((name) => [name, use] as const));
}

function lowerCaseNames(kind: ToolKind): ReadonlySet<string> {
  const { sure, likely = [] } = TOOLS[kind];
  return new Set([...sure, ...likely].map((name) => name.toLowerCase()));
}

/** What a call does to the file it names; undefined for tools that work on no single file. */
export function fileUseOf(
  tool: string,
  input: unknown,
  tools: FileTools = FILE_TOOLS,
): "read" | "change" | undefined {
  const use = tools.get(lowerCase(tool));
  if (use !== "by-command") return use;
  return stringField(input, "command") === "view" ? "read" : "change";
}

const WHOLE_WRITES = lowerCaseNames("file-write");

/** Whether a call that changes a file gives it its whole content. */
export function writesWholeFile(tool: string, input: unknown): boolean {
  const name = lowerCase(tool);
  if (FILE_TOOLS.get(name) === "by-command") return stringField(input, "command") === "create";
  return WHOLE_WRITES.has(name);
}

/** How tools call the file they work on. */
export const PATH_FIELDS = [
  "file_path",
  "notebook_path",
  "path",
  "filePath",
  "absolute_path",
  "target_file",
  "filename",
] as const;

export const filePathIn = (input: unknown): string | undefined => firstString(input, ...PATH_FIELDS);

const SHELLS = lowerCaseNames("shell");

export const isShellTool = (tool: string): boolean => SHELLS.has(lowerCase(tool));

/** Not every file has a name on every call. */
const lowerCase = (tool: unknown): string => (typeof tool === "string" ? tool.toLowerCase() : "");
