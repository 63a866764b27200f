import type { AgentEvent } from "@longhaul/agent";
import type { LonghaulError } from "@longhaul/core/errors";
import { fileUseOf } from "@longhaul/core/internal/messages";
import type { Todo } from "@longhaul/core/messages";
import type { Colours, Terminal } from "../../terminal.ts";
import { plural } from "../../view/numbers.ts";
import { fitText, foldText, oneLine, shownText, textWidth } from "../../view/text-width.ts";

type EndedCall = Omit<Extract<AgentEvent, { type: "call-ended" }>, "type" | "callId" | "durationMs">;

interface LineStyle extends Pick<Terminal, "width" | "colours"> {
  /** Of what belongs to a subagent. */
  readonly indent?: string;
}

/** Of an edit, enough to see what it is about. */
const DIFF_LINES_SHOWN = 6;

/** A call in one line, and of a change of a file some lines of what changed. */
export function callLines(call: EndedCall, style: LineStyle): readonly string[] {
  const line = callLine(call, style);
  const isChange = !call.isError && fileUseOf(call.tool, undefined) === "change";
  return isChange ? [line, ...changeLines(call.display, style)] : [line];
}

/** `● Read src/a.ts · 120 lines`. The summary stays whole: what is long is the title. */
function callLine(
  { tool, title, isError, display, summary = isError ? firstLine(display) : "" }: EndedCall,
  { width, colours, indent = "" }: LineStyle,
): string {
  const mark = isError ? colours.red("✗") : colours.green("●");
  const end = summary === "" ? "" : ` · ${fitText(summary, Math.floor(width / 2))}`;
  const name = fitText(tool, 24);
  const room = width - textWidth(`${indent}● ${name} ${end}`);
  const shown = title === "" || room < 4 ? "" : ` ${fitText(title, room)}`;
  return `${indent}${mark} ${colours.bold(name)}${shown}${isError ? colours.red(end) : colours.dim(end)}`;
}

const firstLine = (display: string): string =>
  display
    .split("\n")
    .map(oneLine)
    .find((line) => line !== "") ?? "";

/** Only the lines that changed. The names of the files stand above the first `@@`, where there is one. */
function changeLines(display: string, { width, colours, indent = "" }: LineStyle): readonly string[] {
  const rows = shownText(display).split("\n");
  const all = rows
    .slice(rows.findIndex((line) => line.startsWith("@@")) + 1)
    .filter((line) => /^[+-]/.test(line));
  const shown = all.slice(0, DIFF_LINES_SHOWN).map((line) => {
    const text = `${indent}  ${fitTabbed(line, width - indent.length - 2)}`;
    return line.startsWith("+") ? colours.green(text) : colours.red(text);
  });
  const more = all.length - shown.length;
  if (more <= 0) return shown;
  return [
    ...shown,
    colours.dim(`${indent}  … ${plural(more, "more changed line")} (Ctrl-O shows all of it)`),
  ];
}

/** Indentation says much in code, so spaces stay; a tab is as wide as the terminal likes, so it becomes two. */
function fitTabbed(line: string, width: number): string {
  const text = line.replaceAll("\t", "  ");
  const lead = /^\S? */.exec(text)?.[0] ?? "";
  return lead + fitText(text.slice(lead.length), Math.max(1, width - textWidth(lead)));
}

/** A diff or an output, whole. */
export function unfoldedBody(display: string, colours: Colours): string {
  const lines = shownText(display).split("\n");
  const isDiff = lines.some((line) => line.startsWith("@@"));
  if (!isDiff) return lines.join("\n");
  return lines
    .map((line) =>
      line.startsWith("+") ? colours.green(line) : line.startsWith("-") ? colours.red(line) : line,
    )
    .join("\n");
}

/** What a call is, for headings. */
export const callTitle = (tool: string, title: string): string => oneLine(`${tool} ${title}`);

/** What happened, and what to do about it. */
export function errorLines(
  { message, remedy }: Pick<LonghaulError, "message" | "remedy">,
  { width, colours }: LineStyle,
): string {
  const fold = (text: string, lead: string, indent: string): string =>
    shownText(text)
      .split("\n")
      .map((line, at) => foldText(`${at === 0 ? lead : "  "}${line}`, width, indent))
      .join("\n");
  const words = colours.red(fold(message, "✗ ", "  "));
  return remedy === undefined ? words : `${words}\n${fold(remedy, "  ", "    ")}`;
}

export function todoLines(todos: readonly Todo[], width: number, colours: Colours): readonly string[] {
  return todos.map(({ content, status }) => {
    const text = fitText(content, Math.max(1, width - 4));
    if (status === "completed") return colours.dim(`  ✓ ${text}`);
    return status === "in_progress" ? colours.bold(`  ▸ ${text}`) : `  ○ ${text}`;
  });
}
