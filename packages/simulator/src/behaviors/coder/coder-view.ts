import {
  asList,
  contentBlocks,
  contentText,
  firstString,
  isRecord,
  type JsonRecord,
  stringField,
} from "@longhaul/core/internal/messages";
import type { ApiMessage } from "@longhaul/core/messages";
import type { SeenRequest } from "../../exchange.ts";
import { LOOK_BACK_MESSAGES } from "./progress.ts";
import { isFileEditor, isPatchTool, kindOf, type ToolKind } from "./tools.ts";
import { isPlainPath, pathInside, workingFolder } from "./working-folder.ts";

/** A call with its result. */
export interface SeenCall {
  readonly name: string;
  readonly kind: ToolKind;
  readonly input: JsonRecord;
  readonly result: string;
  readonly isError: boolean;
  /** True if the newest message contains the result of this call. */
  readonly isNew: boolean;
}

/** The coder's view of the newest part of the conversation and of the project. */
export interface CoderView {
  /** Calls, newest first. */
  readonly calls: readonly SeenCall[];
  /**
   * Paths of files that calls and results named, without files that could not be opened. If the working
   * folder is known, the paths are absolute and inside that folder. Otherwise, the list contains all paths as
   * shown.
   */
  readonly paths: readonly string[];
  /** The client's working folder, if known. */
  readonly root: string | undefined;
}

/** Maximum characters of a tool result that the coder reads. */
const MAX_RESULT_CHARS = 8_000;
const MAX_PATHS = 200;

/** Matches a path only as a whole word, because a part of a path would be a different path. */
const FILE_PATH =
  /(?<![^\s"'`(<[=:,|])\/?(?:[\w@.+-]+\/)*[\w@+-][\w@.+-]*\.(?:ts|tsx|js|jsx|mjs|cjs|json|md|py|go|rs|rb|java|kt|c|h|cpp|cs|php|css|html|sql|yml|yaml|toml|sh|txt)\b(?![\w/-]|\.\w)/g;
const NOT_OURS = /node_modules|\.git\/|^https?:|\.min\.|\.lock$|example\.com/;

export function look(request: SeenRequest, folder?: string): CoderView {
  const root = workingFolder(request) ?? folder;
  const calls = seenCalls(request.messages.slice(-LOOK_BACK_MESSAGES));
  const failed = usable(
    calls.filter((call) => call.isError).flatMap((call) => pathIn(call.input) ?? []),
    root,
  );
  const named = calls.flatMap((call) => {
    const own = pathIn(call.input);
    const found = call.isError ? [] : pathsIn(call.result, root);
    return own !== undefined && /\.\w+$/.test(own) ? [own, ...found] : found;
  });
  const paths = [...usable(named, root)].filter((path) => !failed.has(path)).slice(0, MAX_PATHS);
  return { calls, paths, root };
}

/** Returns each usable path once, because most results repeat the same few names. */
function usable(named: readonly string[], root: string | undefined): ReadonlySet<string> {
  const paths = [...new Set(named)].flatMap((path) =>
    root === undefined ? (isPlainPath(path) ? path : []) : (pathInside(root, path) ?? []),
  );
  return new Set(paths);
}

/** Returns the calls, newest first. */
export function seenCalls(recent: readonly ApiMessage[]): readonly SeenCall[] {
  const lastAnswer = recent.findLastIndex((message) => message.role === "assistant");
  const open = new Map<string, { name: string; input: JsonRecord }>();
  const calls: SeenCall[] = [];
  for (const [index, message] of recent.entries()) {
    for (const block of contentBlocks(message.content)) {
      if (block.type === "tool_use") {
        open.set(block.id, { name: block.name, input: isRecord(block.input) ? block.input : {} });
      } else if (block.type === "tool_result") {
        const call = open.get(block.tool_use_id);
        if (call === undefined) continue;
        const result = contentText(block.content).slice(0, MAX_RESULT_CHARS);
        const isError = block.is_error === true || /^(?:error\b|exit code [1-9])/i.test(result.trimStart());
        calls.push({ ...call, kind: kindIn(call), result, isError, isNew: index > lastAnswer });
      }
    }
  }
  return calls.reverse();
}

/** Returns the kind of a call. The kind of a call to an editor tool depends on its command. */
function kindIn({ name, input }: { name: string; input: JsonRecord }): ToolKind {
  if (input.command === "view") return "read";
  if (input.command === "create") return "write";
  if (input.command === "str_replace" || input.command === "insert") return "edit";
  if (isFileEditor(name)) return typeof input.old_text === "string" ? "edit" : "write";
  if (isPatchTool(name)) return "write";
  return kindOf(name);
}

/** Returns the path in the input of a call. Of several files, the first one counts. */
export function pathIn(input: JsonRecord): string | undefined {
  const [first] = [...asList(input.files), ...asList(input.paths)];
  if (typeof first === "string") return first;
  return pathInFields(isRecord(first) ? first : input);
}

function pathInFields(input: JsonRecord): string | undefined {
  return firstString(
    input,
    "file_path",
    "path",
    "file",
    "filename",
    "target_file",
    "absolute_path",
    "filePath",
  );
}

/**
 * Finds the paths in a tool result. The name of the working folder may contain blanks, so the function
 * removes the folder from paths first.
 */
function pathsIn(result: string, root: string | undefined): string[] {
  const text = root === undefined ? result : result.replaceAll(`${root}/`, "./");
  return (text.match(FILE_PATH) ?? []).filter((path) => !NOT_OURS.test(path));
}

/** Returns the lines of a file as a tool showed them, without line numbers. */
export function fileLines(result: string): readonly string[] {
  const lines = result.split("\n");
  const numbered = lines.filter((line) => LINE_NUMBER.test(line)).length;
  return numbered * 2 > lines.length ? lines.map((line) => line.replace(LINE_NUMBER, "")) : lines;
}

const LINE_NUMBER = /^\s*\d+(?:→|\t|\||: )/;

export const resultHead = (result: string): string =>
  result
    .split("\n")
    .find((line) => line.trim() !== "")
    ?.trim()
    .slice(0, 160) ?? "";

export function inputText(input: JsonRecord): string {
  return stringField(input, "command") ?? pathIn(input) ?? stringField(input, "pattern") ?? "";
}
