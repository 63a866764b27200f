import { firstString, stringField } from "./untrusted.ts";

/** Purpose of a tool. For `file-by-command`, the input determines the operation. */
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

/** The tool with which an agent searches content that is no longer in its context. */
export const RECALL_TOOL_NAME = "recall";

interface ToolNames {
  /** Unambiguous names, case-sensitive. */
  readonly unambiguous: readonly string[];
  /** Ambiguous names. They are used to note the file or command of a call, but not to clear its result. */
  readonly likely?: readonly string[];
}

/** Names of the tools of each kind. Claude Code's names come first, then the names that other agents use. */
const TOOLS: Readonly<Record<ToolKind, ToolNames>> = {
  "file-read": {
    unambiguous: ["Read", "read", "read_file", "readFile", "ReadFile", "read_many_files", "view_file"],
    likely: ["view", "open_file"],
  },
  shell: {
    unambiguous: [
      ...["Bash", "PowerShell", "bash", "shell", "powershell", "local_shell", "run_shell_command"],
      ...["execute_command", "exec_command", "shell_command", "run_command", "run_terminal_cmd"],
      "run_in_terminal",
    ],
    likely: ["exec", "terminal"],
  },
  grep: { unambiguous: ["Grep", "grep", "grep_search", "search_file_content", "ripgrep"] },
  glob: { unambiguous: ["Glob", "glob", "glob_file_search", "file_search", "find_files"] },
  "web-fetch": {
    unambiguous: ["WebFetch", "web_fetch", "webfetch", "webFetch", "fetch_url", "fetch_webpage"],
  },
  "web-search": { unambiguous: ["WebSearch", "web_search", "websearch", "webSearch", "google_web_search"] },
  "file-edit": {
    unambiguous: [
      ...["Edit", "MultiEdit", "edit", "multiedit", "edit_file", "editFile", "multi_edit", "apply_patch"],
      ...["apply_diff", "replace_in_file", "replace_string_in_file", "search_replace", "str_replace"],
    ],
    likely: ["replace"],
  },
  "file-write": {
    unambiguous: ["Write", "write", "write_file", "writeFile", "WriteFile", "write_to_file", "create_file"],
  },
  "file-by-command": { unambiguous: ["str_replace_editor", "str_replace_based_edit_tool"] },
  "notebook-read": { unambiguous: ["NotebookRead"] },
  "notebook-edit": { unambiguous: ["NotebookEdit"] },
  recall: { unambiguous: [RECALL_TOOL_NAME] },
};

/** Returns the unambiguous tool names of these kinds. */
export function toolsOf(...kinds: readonly ToolKind[]): readonly string[] {
  return kinds.flatMap((kind) => TOOLS[kind].unambiguous);
}

/** Operation of a tool on its file. For `by-command`, the input determines the operation. */
export type FileUse = "read" | "change" | "by-command";

/**
 * Tools that show the agent a file's content. The key is the tool name in lower case, and the value is the
 * operation on the file.
 */
export type FileTools = ReadonlyMap<string, FileUse>;

/** File tools of common agents, by name in lower case. */
export const FILE_TOOLS: FileTools = new Map<string, FileUse>([
  ...fileUsesOf("read", "file-read", "notebook-read"),
  ...fileUsesOf("change", "file-edit", "file-write", "notebook-edit"),
  ...fileUsesOf("by-command", "file-by-command"),
]);

function fileUsesOf(use: FileUse, ...kinds: readonly ToolKind[]): readonly (readonly [string, FileUse])[] {
  return kinds.flatMap((kind) => [...lowerCaseNames(kind)].map((name) => [name, use] as const));
}

function lowerCaseNames(kind: ToolKind): ReadonlySet<string> {
  const { unambiguous: sure, likely = [] } = TOOLS[kind];
  return new Set([...sure, ...likely].map((name) => name.toLowerCase()));
}

/**
 * Returns the operation of a call on its file. Returns undefined for tools that do not work on a single file.
 */
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

/** Returns true if a call writes the whole content of a file. */
export function writesWholeFile(tool: string, input: unknown): boolean {
  const name = lowerCase(tool);
  if (FILE_TOOLS.get(name) === "by-command") return stringField(input, "command") === "create";
  return WHOLE_WRITES.has(name);
}

/** Input fields in which tools expect the file path. */
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

/** Returns the tool name in lower case. Some files have calls without a name. */
const lowerCase = (tool: unknown): string => (typeof tool === "string" ? tool.toLowerCase() : "");
