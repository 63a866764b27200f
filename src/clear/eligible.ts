/** What an eligible tool is for. */
type EligibleKind =
  | "file-read"
  | "shell"
  | "grep"
  | "glob"
  | "web-fetch"
  | "web-search"
  | "file-edit"
  | "file-write";

/**
 * Tools whose results can be had again, by what they do: Claude Code's names first, then those of other
 * agents. Only names that can mean nothing else: `search`, `fetch` or `replace` may be anybody's tool.
 * Directory listings, background output and notebook edits are not among the kinds.
 */
const TOOLS_BY_KIND: Readonly<Record<EligibleKind, readonly string[]>> = Object.freeze({
  "file-read": ["Read", "read", "read_file", "readFile", "ReadFile", "read_many_files", "view_file"],
  shell: [
    ...["Bash", "PowerShell", "bash", "shell", "powershell", "local_shell", "run_shell_command"],
    ...["execute_command", "exec_command", "shell_command", "run_command", "run_terminal_cmd"],
    "run_in_terminal",
  ],
  grep: ["Grep", "grep", "grep_search", "search_file_content", "ripgrep"],
  glob: ["Glob", "glob", "glob_file_search", "file_search", "find_files"],
  "web-fetch": ["WebFetch", "web_fetch", "webfetch", "webFetch", "fetch_url", "fetch_webpage"],
  "web-search": ["WebSearch", "web_search", "websearch", "webSearch", "google_web_search"],
  "file-edit": [
    ...["Edit", "MultiEdit", "edit", "multiedit", "edit_file", "editFile", "multi_edit", "apply_patch"],
    ...["apply_diff", "replace_in_file", "replace_string_in_file", "search_replace", "str_replace"],
    ...["str_replace_editor", "str_replace_based_edit_tool"],
  ],
  "file-write": ["Write", "write", "write_file", "writeFile", "WriteFile", "write_to_file", "create_file"],
});

/** Tools whose results are cleared unless the caller names others. Names match as they are written. */
export const ELIGIBLE_TOOLS: readonly string[] = Object.freeze(Object.values(TOOLS_BY_KIND).flat());

/** After these the agent knows a file's content. */
export const FILE_READ_TOOLS: ReadonlySet<string> = new Set(TOOLS_BY_KIND["file-read"]);

/** Their input is the large part: what was written, and what it took the place of. */
export const WRITE_LIKE_TOOLS: ReadonlySet<string> = new Set([
  ...TOOLS_BY_KIND["file-edit"],
  ...TOOLS_BY_KIND["file-write"],
]);
