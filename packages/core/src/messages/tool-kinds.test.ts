import { describe, expect, it } from "vitest";
import { FILE_TOOLS, filePathIn, fileUseOf, isShellTool, toolsOf, writesWholeFile } from "./tool-kinds.ts";

describe("the kinds of tools", () => {
  it("say what a call does to the file it names, whatever the case of the tool's name", () => {
    for (const name of ["Read", "read_file", "ReadFile", "view_file", "view", "NotebookRead"])
      expect(fileUseOf(name, {})).toBe("read");
    for (const name of ["Edit", "multi_edit", "Write", "write_to_file", "replace", "NotebookEdit"])
      expect(fileUseOf(name, {})).toBe("change");
    for (const name of ["Bash", "Grep", "fetch", "search", ""]) expect(fileUseOf(name, {})).toBeUndefined();
  });

  it("leave it to the input where the tool is told what to do", () => {
    expect(fileUseOf("str_replace_editor", { command: "view" })).toBe("read");
    expect(fileUseOf("str_replace_editor", { command: "insert" })).toBe("change");
    expect(fileUseOf("str_replace_editor", undefined)).toBe("change");
  });

  it("are the caller's where it has its own", () => {
    const tools = new Map([["slurp", "read"]] as const);
    expect(fileUseOf("Slurp", {}, tools)).toBe("read");
    expect(fileUseOf("Read", {}, tools)).toBeUndefined();
  });

  it("tell a file that is written whole from one that is edited", () => {
    expect(["Write", "create_file", "writeFile"].every((name) => writesWholeFile(name, {}))).toBe(true);
    expect(["Edit", "str_replace", "NotebookEdit"].some((name) => writesWholeFile(name, {}))).toBe(false);
    expect(writesWholeFile("str_replace_editor", { command: "create" })).toBe(true);
    expect(writesWholeFile("str_replace_editor", { command: "str_replace" })).toBe(false);
  });

  it("know every tool for files by its name in lower case, and every sure name of a file tool", () => {
    for (const name of FILE_TOOLS.keys()) expect(name).toBe(name.toLowerCase());
    for (const name of toolsOf("file-read", "file-edit", "file-write", "file-by-command"))
      expect(FILE_TOOLS.has(name.toLowerCase())).toBe(true);
  });

  it("take the path from whichever field the tool has for it", () => {
    for (const name of ["file_path", "notebook_path", "path", "absolute_path", "target_file", "filename"])
      expect(filePathIn({ [name]: "/a" })).toBe("/a");
    expect(filePathIn({ file_path: 7 })).toBeUndefined();
  });

  it("know shells by any case, but not what only reads a shell's output", () => {
    expect(["Bash", "PowerShell", "exec", "run_terminal_cmd"].every(isShellTool)).toBe(true);
    expect(["BashOutput", "Read", ""].some(isShellTool)).toBe(false);
  });
});
