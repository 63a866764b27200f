import type { AgentEvent } from "@longhaul/agent";
import type { LonghaulError } from "@longhaul/core/errors";
import { fileUseOf } from "@longhaul/core/internal/messages";
import type { Todo } from "@longhaul/core/messages";
import type { Colors, Terminal } from "../../terminal.ts";
import { plural } from "../../view/numbers.ts";
import { fitText, foldText, isPath, oneLine, shownText, textWidth } from "../../view/text-width.ts";
import { fitToolName } from "../../view/tool-names.ts";

type EndedCall = Omit<Extract<AgentEvent, { type: "call-ended" }>, "type" | "callId" | "durationMs">;

interface LineStyle extends Pick<Terminal, "width" | "colors"> {
  /** Indent for the lines of a subagent. */
  readonly indent?: string;
}

/** Maximum changed lines of an edit to show, enough to recognize the edit. */
const DIFF_LINES_SHOWN = 6;

/** Shows a call in one line. For a file change, adds some of the changed lines. */
export function callLines(call: EndedCall, style: LineStyle): readonly string[] {
  const line = callLine(call, style);
  const isChange = !call.isError && fileUseOf(call.tool, undefined) === "change";
  return isChange ? [line, ...changeLines(call.display, style)] : [line];
}

/**
 * Formats `● Read src/a.ts · 120 lines`. The summary gets up to half of the width, and the title is cut to
 * the rest.
 */
function callLine(
  { tool, title, isError, display, summary = isError ? firstLine(display) : "" }: EndedCall,
  { width, colors, indent = "" }: LineStyle,
): string {
  const mark = isError ? colors.red("✗") : colors.green("●");
  const end = summary === "" ? "" : ` · ${fitText(summary, Math.floor(width / 2))}`;
  const name = fitToolName(tool, Math.max(24, Math.floor(width / 2)));
  const room = width - textWidth(`${indent}● ${name} ${end}`);
  const shown = title === "" || room < 4 ? "" : ` ${fitText(title, room, isPath(title) ? "front" : "end")}`;
  return `${indent}${mark} ${colors.bold(name)}${shown}${isError ? colors.red(end) : colors.dim(end)}`;
}

const firstLine = (display: string): string =>
  display
    .split("\n")
    .map(oneLine)
    .find((line) => line !== "") ?? "";

/**
 * Returns only the changed lines of a diff. If the diff has an `@@` line, skips the file names above the
 * first one.
 */
function changeLines(display: string, { width, colors, indent = "" }: LineStyle): readonly string[] {
  const rows = shownText(display).split("\n");
  const all = rows
    .slice(rows.findIndex((line) => line.startsWith("@@")) + 1)
    .filter((line) => /^[+-]/.test(line));
  const shown = all.slice(0, DIFF_LINES_SHOWN).map((line) => {
    const text = `${indent}  ${fitTabbed(line, width - indent.length - 2)}`;
    return line.startsWith("+") ? colors.green(text) : colors.red(text);
  });
  const more = all.length - shown.length;
  if (more <= 0) return shown;
  return [...shown, colors.dim(`${indent}  … ${plural(more, "more changed line")} (Ctrl-O shows all)`)];
}

/**
 * Cuts a line of code to a width. Indentation matters in code, so spaces stay. A tab becomes two spaces,
 * because its width depends on the terminal.
 */
function fitTabbed(line: string, width: number): string {
  const text = line.replaceAll("\t", "  ");
  const lead = /^\S? */.exec(text)?.[0] ?? "";
  return lead + fitText(text.slice(lead.length), Math.max(1, width - textWidth(lead)));
}

/** Shows a diff or an output in full. */
export function unfoldedBody(display: string, colors: Colors): string {
  const lines = shownText(display).split("\n");
  const isDiff = lines.some((line) => line.startsWith("@@"));
  if (!isDiff) return lines.join("\n");
  return lines
    .map((line) =>
      line.startsWith("+") ? colors.green(line) : line.startsWith("-") ? colors.red(line) : line,
    )
    .join("\n");
}

/** Returns the title of a call, for headings. */
export const callTitle = (tool: string, title: string): string => oneLine(`${tool} ${title}`);

/** Describes an error and its remedy. */
export function errorLines(
  { message, remedy }: Pick<LonghaulError, "message" | "remedy">,
  { width, colors }: LineStyle,
): string {
  const fold = (text: string, lead: string, indent: string): string =>
    shownText(text)
      .split("\n")
      .map((line, at) => foldText(`${at === 0 ? lead : "  "}${line}`, width, indent))
      .join("\n");
  const words = colors.red(fold(message, "✗ ", "  "));
  return remedy === undefined ? words : `${words}\n${fold(remedy, "  ", "    ")}`;
}

export function todoLines(todos: readonly Todo[], width: number, colors: Colors): readonly string[] {
  return todos.map(({ content, status }) => {
    const text = fitText(content, Math.max(1, width - 4));
    if (status === "completed") return colors.dim(`  ✓ ${text}`);
    return status === "in_progress" ? colors.bold(`  ▸ ${text}`) : `  ○ ${text}`;
  });
}
