import { contentBlocks } from "../../../../conversation/block.ts";
import { contentText, firstString, stringField } from "../../../../conversation/fields.ts";
import type { ApiMessage } from "../../../../conversation/message.ts";
import { isRecord, type JsonRecord } from "../../../../conversation/untrusted.ts";
import type { SeenRequest } from "../../exchange.ts";
import { LOOK_BACK_MESSAGES } from "./progress.ts";
import { kindOf, type ToolKind } from "./tools.ts";

/** A call that was answered. */
export interface SeenCall {
  readonly name: string;
  readonly kind: ToolKind;
  readonly input: JsonRecord;
  readonly result: string;
  readonly isError: boolean;
  /** Answered by the message that the coder is answering now. */
  readonly isNew: boolean;
}

/** What the coder sees of the conversation and of the project in it: the newest part. */
export interface Sight {
  /** Newest first. */
  readonly calls: readonly SeenCall[];
  /** Files that were named by calls and results, those that could not be opened left out. */
  readonly paths: readonly string[];
  /** Of the project, where the conversation tells; empty otherwise. */
  readonly root: string;
}

/** Results are read as far as a person would look at once. */
const MAX_RESULT_CHARS = 8_000;
const MAX_PATHS = 200;
/** Where the environment is described, it is near the beginning or the end of the system prompt. */
const MAX_SYSTEM_CHARS = 20_000;

const FILE_PATH =
  /(?:\/|\b)(?:[\w@.+-]+\/)*[\w@+-][\w@.+-]*\.(?:ts|tsx|js|jsx|mjs|cjs|json|md|py|go|rs|rb|java|kt|c|h|cpp|cs|php|css|html|sql|yml|yaml|toml|sh|txt)\b/g;
const NOT_OURS = /node_modules|\.git\/|^https?:|\.min\.|\.lock$|example\.com/;

export function look(request: SeenRequest): Sight {
  const calls = seenCalls(request.messages.slice(-LOOK_BACK_MESSAGES));
  const failed = new Set(calls.filter((call) => call.isError).map((call) => pathIn(call.input)));
  const named = calls.flatMap((call) => {
    const own = pathIn(call.input);
    const found = call.isError ? [] : pathsIn(call.result);
    return own !== undefined && /\.\w+$/.test(own) ? [own, ...found] : found;
  });
  const paths = [...new Set(named)].filter((path) => !failed.has(path)).slice(0, MAX_PATHS);
  return { calls, paths, root: rootIn(request.system) ?? commonRoot(paths) };
}

/** Newest first. */
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

/** What an editor that takes commands was asked to do. */
function kindIn({ name, input }: { name: string; input: JsonRecord }): ToolKind {
  if (input.command === "view") return "read";
  if (input.command === "create") return "write";
  if (input.command === "str_replace" || input.command === "insert") return "edit";
  return kindOf(name);
}

export function pathIn(input: JsonRecord): string | undefined {
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

function pathsIn(result: string): string[] {
  return (result.match(FILE_PATH) ?? []).filter((path) => !NOT_OURS.test(path));
}

function rootIn(system: string): string | undefined {
  const part =
    system.length <= MAX_SYSTEM_CHARS
      ? system
      : system.slice(0, MAX_SYSTEM_CHARS / 2) + system.slice(-MAX_SYSTEM_CHARS / 2);
  return /(?:working directory|cwd|workspace|project root)\b[^\n/]{0,40}(\/[^\s<>"'`,]+)/i.exec(part)?.[1];
}

/** Where absolute paths were named: what comes before their source folder. */
function commonRoot(paths: readonly string[]): string {
  for (const path of paths) {
    const match = /^(\/.+?)\/(?:src|lib|app|test|tests|packages|docs)\//.exec(path);
    if (match?.[1] !== undefined) return match[1];
  }
  return "";
}

/** The lines of a file as a tool showed them, without the numbers in front. */
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
