import { clip, dedented, fenced } from "../clip.ts";
import { type Edit, fenceLanguage } from "../readers/readers.ts";

const MAX_LINE_CHARS = 180;
const MAX_REMOVED_LINES = 4;

/** The lines of an edit that differ; read once where the same edit is shown at several lengths. */
interface Change {
  readonly now: readonly string[];
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export function readChange(edit: Edit): Change {
  const now = linesOf(edit.now);
  const was = linesOf(edit.was);
  let start = 0;
  while (start < was.length && start < now.length && was[start] === now[start]) start++;
  let end = 0;
  while (end < was.length - start && end < now.length - start && was.at(-1 - end) === now.at(-1 - end)) end++;
  const removed = was.slice(start, was.length - end);
  const added = now.slice(start, now.length - end);
  return { now, removed, added };
}

/**
 * An edit as code: only new lines in their language; where lines were replaced, as a difference, since
 * new text alone does not tell what it took the place of.
 */
export function changeCode({ now, removed, added }: Change, path: string, maxLines: number): string {
  if (removed.every((line) => line.trim() === "")) {
    const code = shortened(dedented(added.length > 0 ? added : now), maxLines);
    return fenced(code.join("\n"), fenceLanguage(path));
  }
  const changes = [
    ...shortened(removed, MAX_REMOVED_LINES).map((line) => `-${line}`),
    ...shortened(added, maxLines).map((line) => `+${line}`),
  ];
  return fenced(changes.join("\n"), "diff");
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  return text.replace(/\r/g, "").replace(/^\n+/, "").trimEnd().split("\n");
}

function shortened(lines: readonly string[], maxLines: number): string[] {
  const shown = lines.slice(0, maxLines).map((line) => clip(line, MAX_LINE_CHARS));
  const missing = lines.length - shown.length;
  return missing > 0 ? [...shown, `… ${missing} more lines`] : shown;
}
