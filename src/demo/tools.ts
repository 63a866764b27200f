import type { ContentBlock } from "../conversation/message.ts";
import type { Random } from "./random.ts";
import type { ToolCall } from "./recorder.ts";
import { numberedLines, patchBetween, type Workspace } from "./workspace.ts";

export interface Todo {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
  readonly activeForm: string;
}

export interface ReadRange {
  readonly offset: number;
  readonly limit: number;
}

const CANCELLED = "The user declined this tool call. Nothing was run; wait for what they say next.";

/** The agent's tools, working on the virtual project instead of a disk. */
export class Toolbox {
  readonly #workspace: Workspace;
  readonly #cwd: string;
  readonly #random: Random;
  #todos: readonly Todo[] = [];

  constructor(workspace: Workspace, cwd: string, random: Random) {
    this.#workspace = workspace;
    this.#cwd = cwd;
    this.#random = random;
  }

  read(path: string, range?: ReadRange): ToolCall {
    return {
      name: "Read",
      input: { file_path: this.absolute(path), ...range },
      run: () => {
        const lines = this.#workspace.text(path).replace(/\n$/, "").split("\n");
        const startLine = range?.offset ?? 1;
        const shown = lines.slice(startLine - 1, startLine - 1 + (range?.limit ?? lines.length));
        const content = shown.join("\n");
        const extent = { numLines: shown.length, startLine, totalLines: lines.length };
        const file = { filePath: this.absolute(path), content, ...extent };
        return { content: numberedLines(content, startLine), toolUseResult: { type: "text", file } };
      },
    };
  }

  readImage(
    path: string,
    base64: string,
    size: { readonly width: number; readonly height: number },
  ): ToolCall {
    const source = { type: "base64", media_type: "image/png", data: base64 };
    const content: readonly ContentBlock[] = [{ type: "image", source }];
    const dimensions = { originalWidth: size.width, originalHeight: size.height };
    const file = { base64, type: "image/png", originalSize: Math.floor(base64.length * 0.75), dimensions };
    return {
      name: "Read",
      input: { file_path: this.absolute(path) },
      run: () => ({ content, toolUseResult: { type: "image", file } }),
    };
  }

  edit(path: string, oldText: string, newText: string): ToolCall {
    const filePath = this.absolute(path);
    return {
      name: "Edit",
      input: { file_path: filePath, old_string: oldText, new_string: newText, replace_all: false },
      run: () => {
        const originalFile = this.#workspace.text(path);
        this.#workspace.edit(path, oldText, newText);
        const structuredPatch = patchBetween(originalFile, this.#workspace.text(path));
        const change = { filePath, oldString: oldText, newString: newText, originalFile, structuredPatch };
        return {
          content: `The file ${filePath} has been updated.`,
          toolUseResult: { ...change, userModified: false, replaceAll: false },
        };
      },
    };
  }

  write(path: string, text: string): ToolCall {
    const filePath = this.absolute(path);
    return {
      name: "Write",
      input: { file_path: filePath, content: text },
      run: () => {
        const originalFile = this.#workspace.has(path) ? this.#workspace.text(path) : null;
        this.#workspace.write(path, text);
        const type = originalFile === null ? "create" : "update";
        const structuredPatch = originalFile === null ? [] : patchBetween(originalFile, text);
        return {
          content: `The file ${filePath} has been written.`,
          toolUseResult: { type, filePath, content: text, originalFile, structuredPatch },
        };
      },
    };
  }

  grep(pattern: string, folder: string, suffix = ""): ToolCall {
    const glob = suffix === "" ? {} : { glob: `*${suffix}` };
    return {
      name: "Grep",
      input: { pattern, path: this.absolute(folder), output_mode: "content", "-n": true, ...glob },
      run: () => {
        const hits = this.#workspace.search(pattern, folder, suffix);
        const content = hits.length === 0 ? "No matches found" : hits.join("\n");
        const toolUseResult = { mode: "content", filenames: [], numFiles: 0, content, numLines: hits.length };
        return { content, toolUseResult };
      },
    };
  }

  glob(folder: string, suffix: string): ToolCall {
    return {
      name: "Glob",
      input: { pattern: `${folder}**/*${suffix}`, path: this.#cwd },
      run: () => {
        const filenames = this.#workspace.paths(folder, suffix).map((path) => this.absolute(path));
        const found = { filenames, numFiles: filenames.length, truncated: false };
        return { content: filenames.join("\n"), toolUseResult: { ...found, durationMs: 14 } };
      },
    };
  }

  /** `output` is asked for when the command runs: it may depend on edits made in the same response. */
  bash(command: string, description: string, output: () => string, seconds = 0.4): ToolCall {
    return {
      name: "Bash",
      input: { command, description },
      run: () => {
        const stdout = output();
        const toolUseResult = {
          stdout,
          stderr: "",
          interrupted: false,
          isImage: false,
          noOutputExpected: false,
        };
        return { content: stdout, toolUseResult, isError: false, durationMs: this.#lasting(seconds) };
      },
    };
  }

  failingBash(command: string, description: string, output: () => string, seconds = 0.4): ToolCall {
    return {
      name: "Bash",
      input: { command, description },
      run: () => {
        const content = `Exit code 1\n${output()}`;
        const toolUseResult = `Error: ${content}`;
        return { content, toolUseResult, isError: true, durationMs: this.#lasting(seconds) };
      },
    };
  }

  cancelled(command: string, description: string): ToolCall {
    return {
      name: "Bash",
      input: { command, description },
      run: () => ({ content: CANCELLED, toolUseResult: "Error: declined by the user", isError: true }),
    };
  }

  todos(newTodos: readonly Todo[]): ToolCall {
    return {
      name: "TodoWrite",
      input: { todos: newTodos },
      run: () => {
        const oldTodos = this.#todos;
        this.#todos = newTodos;
        return { content: "The todo list has been updated.", toolUseResult: { oldTodos, newTodos } };
      },
    };
  }

  fetch(url: string, prompt: string, result: string): ToolCall {
    const answer = { bytes: result.length * 9, code: 200, codeText: "OK", result, durationMs: 1_840, url };
    return {
      name: "WebFetch",
      input: { url, prompt },
      run: () => ({ content: result, toolUseResult: answer, durationMs: 1_840 }),
    };
  }

  explore(description: string, prompt: string, report: string): ToolCall {
    const content: readonly ContentBlock[] = [{ type: "text", text: report }];
    const totals = { totalDurationMs: 74_210, totalTokens: 38_411, totalToolUseCount: 19 };
    const usage = { input_tokens: 5, cache_creation_input_tokens: 812, cache_read_input_tokens: 36_204 };
    const outcome = { status: "completed", prompt, agentId: "a41c9e7", content, ...totals };
    return {
      name: "Task",
      input: { subagent_type: "Explore", description, prompt },
      run: () => ({
        content,
        toolUseResult: { ...outcome, usage: { ...usage, output_tokens: 1_390 } },
        durationMs: totals.totalDurationMs,
      }),
    };
  }

  absolute(path: string): string {
    return `${this.#cwd}/${path}`;
  }

  #lasting(seconds: number): number {
    return Math.round(seconds * 1_000) + this.#random.between(10, 120);
  }
}

/** The first `done` items are completed, the next one is being worked on, the others wait. */
export function todoList(
  items: readonly (readonly [content: string, activeForm: string])[],
  done: number,
): Todo[] {
  return items.map(([content, activeForm], index) => ({
    content,
    activeForm,
    status: index < done ? "completed" : index === done ? "in_progress" : "pending",
  }));
}
