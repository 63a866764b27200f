import { describe, expect, it } from "vitest";
import { FILE_TOOLS, filePathIn, fileUseOf, isShellTool, toolsOf, writesWholeFile } from "./tool-kinds.ts";

describe("tool kinds", () => {
  it("derives from a tool's name, in upper or lower case, whether a call reads or changes a file", () => {
    for (const name of ["Read", "read_file", "ReadFile", "view_file", "view", "NotebookRead"])
      expect(fileUseOf(name, {})).toBe("read");
    for (const name of ["Edit", "multi_edit", "Write", "write_to_file", "replace", "NotebookEdit"])
      expect(fileUseOf(name, {})).toBe("change");
    for (const name of ["Bash", "Grep", "fetch", "search", ""]) expect(fileUseOf(name, {})).toBeUndefined();
  });

  it('derives from the "command" in the input whether a tool call reads or changes a file', () => {
    expect(fileUseOf("str_replace_editor", { command: "view" })).toBe("read");
    expect(fileUseOf("str_replace_editor", { command: "insert" })).toBe("change");
    expect(fileUseOf("str_replace_editor", undefined)).toBe("change");
  });

  it("uses only the file tools that the caller passes", () => {
    const tools = new Map([["slurp", "read"]] as const);
    expect(fileUseOf("Slurp", {}, tools)).toBe("read");
    expect(fileUseOf("Read", {}, tools)).toBeUndefined();
  });

  it("distinguishes tools that write a whole file from tools that edit part of a file", () => {
    expect(["Write", "create_file", "writeFile"].every((name) => writesWholeFile(name, {}))).toBe(true);
    expect(["Edit", "str_replace", "NotebookEdit"].some((name) => writesWholeFile(name, {}))).toBe(false);
    expect(writesWholeFile("str_replace_editor", { command: "create" })).toBe(true);
    expect(writesWholeFile("str_replace_editor", { command: "str_replace" })).toBe(false);
  });

  it("lists every file tool by its name in lower case", () => {
    for (const name of FILE_TOOLS.keys()) expect(name).toBe(name.toLowerCase());
    for (const name of toolsOf("file-read", "file-edit", "file-write", "file-by-command"))
      expect(FILE_TOOLS.has(name.toLowerCase())).toBe(true);
  });

  it("reads the file path from any input field that tools use for paths", () => {
    for (const name of ["file_path", "notebook_path", "path", "absolute_path", "target_file", "filename"])
      expect(filePathIn({ [name]: "/a" })).toBe("/a");
    expect(filePathIn({ file_path: 7 })).toBeUndefined();
  });

  it("recognizes shell tools in upper or lower case, but not tools that only read shell output", () => {
    expect(["Bash", "PowerShell", "exec", "run_terminal_cmd"].every(isShellTool)).toBe(true);
    expect(["BashOutput", "Read", ""].some(isShellTool)).toBe(false);
  });
});
