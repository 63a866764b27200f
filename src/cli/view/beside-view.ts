import type { BesideReport, MemoryReport, NotesProblem } from "../beside-report.ts";
import type { NotesFigures } from "../notes-report.ts";
import type { Terminal } from "../terminal.ts";
import { notesFacts } from "./notes-view.ts";
import { formatCount, plural } from "./numbers.ts";
import { inProject } from "./project-path.ts";
import { fitText, foldText, oneLine } from "./text-width.ts";
import { titled } from "./titled-table.ts";

const ROWS_SHOWN = 12;

export function notesSection(notes: BesideReport["notes"] | undefined, terminal: Terminal): string {
  if (notes === undefined || notes === null) return "";
  const { colours, width } = terminal;
  const title = `${colours.bold("Notes")} ${colours.dim(fitText(notes.path, width - 6, "front"))}`;
  if (isProblem(notes)) {
    const problem = foldText(`  They cannot be read: ${oneLine(notes.problem)}`, width, "  ");
    return `${title}\n${colours.yellow(problem)}`;
  }
  const over = notes.overLimit.map((name) => oneLine(name)).join(", ");
  const remark = over === "" ? [] : [colours.yellow(foldText(`  Over their limit: ${over}`, width, "  "))];
  return [title, notesFacts(notes, terminal), ...remark].join("\n");
}

const isProblem = (notes: NotesFigures | NotesProblem): notes is NotesProblem => "problem" in notes;

/** What was attached, and what would be now. One file is one row. */
export function memorySection(
  memory: MemoryReport | undefined,
  cwd: string | null,
  terminal: Terminal,
): string {
  if (memory === undefined) return "";
  const attached = memory.attached.map(({ path, tokens, times, isVisible }) => {
    const how = times === 1 ? "attached" : `attached ${times} times`;
    return { path, tokens, how: isVisible ? how : `${how}, no longer in the context` };
  });
  const isListed = new Set(attached.map(({ path }) => path));
  const others = memory.governing.filter(({ path }) => !isListed.has(path));
  const onDisk = others.map(({ path, tokens }) => ({ path, tokens, how: "on disk, not attached" }));
  const unread = memory.skipped.map(({ path, reason }) => ({ path, tokens: undefined, how: reason }));
  const files = [...attached, ...onDisk, ...unread];
  const rows = files
    .slice(0, ROWS_SHOWN)
    .map(({ path, tokens, how }) => [
      tokens === undefined ? "" : formatCount(tokens),
      fitText(inProject(path, cwd), terminal.width - 50, "front"),
      fitText(how.replaceAll("-", " "), 36),
    ]);
  const visible = memory.attached.filter(({ isVisible }) => isVisible);
  const total = visible.reduce((sum, { tokens }) => sum + tokens, 0);
  const more = files.length > ROWS_SHOWN ? `; ${files.length - ROWS_SHOWN} more not shown` : "";
  const sum = `(${plural(visible.length, "file")} in the context, ${formatCount(total)} tokens${more})`;
  return titled(
    `Memory files ${terminal.colours.dim(sum)}`,
    [{ title: "tokens", align: "right" }, { title: "file" }, { title: "" }],
    rows,
    terminal,
  );
}
