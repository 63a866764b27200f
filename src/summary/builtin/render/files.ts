import { type Piece, rising } from "../budget.ts";
import { clip, clipMarkdown } from "../clip.ts";
import type { SessionDigest } from "../digest.ts";
import { LABELS } from "../labels.ts";
import { earlierItems } from "../read/earlier.ts";
import { type Edit, type FileRecord, isScratch } from "../read/files.ts";
import { currentEdits } from "./current-work.ts";
import { namesFile, readEarlierFiles, withEarlierCounts } from "./earlier-file.ts";
import { changeCode, readChange } from "./edit-code.ts";
import { shortPath } from "./paths.ts";

const MAX_CHANGED = 150;
const MAX_EARLIER_CHARS = 900;

/** Changed files by recency, then those only read, then what an earlier summary knew of others. */
export function renderFiles(digest: SessionDigest): Piece[] {
  const changed = digest.files
    .filter((file) => file.edits > 0 || file.created || file.removed)
    .map((file) => ({ file, weight: weightOf(file) }))
    .sort((a, b) => b.weight - a.weight)
    .map(({ file }) => file);
  const readOnly = digest.files
    .filter((file) => !changed.includes(file) && file.reads > 0)
    .sort((a, b) => b.reads - a.reads || b.lastAt - a.lastAt);
  const earlier = earlierItems(digest.earlier, "Files and Code Sections");
  const shownElsewhere = new Set(currentEdits(digest).map(({ edit }) => edit));
  const changedPieces = changed.slice(0, MAX_CHANGED).map((file, rank): Piece => {
    const before = readEarlierFiles(earlier.filter((item) => namesFile(item, file.path, digest.cwd)));
    return {
      forms: fileForms(withEarlierCounts(file, before), digest.cwd, before.note, shownElsewhere),
      importance: 270 - (150 * rank) / changed.length,
      group: LABELS.changedFiles,
    };
  });
  const carried = earlier
    .filter(
      (item) =>
        !changed.some((file) => namesFile(item, file.path, digest.cwd)) && !item.startsWith("- Only read:"),
    )
    .map(carriedPiece);
  return [...changedPieces, ...readPieces(readOnly, digest.cwd), ...carried];
}

/** Recency first; a file edited often outranks one touched in passing a little later. */
function weightOf(file: FileRecord): number {
  const passing = isScratch(file.path) ? 200 : 0;
  return file.lastAt + Math.min(file.edits, 8) * 6 - passing;
}

function fileForms(
  file: FileRecord,
  cwd: string | undefined,
  earlier: string | undefined,
  shownElsewhere: ReadonlySet<Edit>,
): string[] {
  const shown = file.lastEdits.filter((edit) => !shownElsewhere.has(edit)).map(readChange);
  const path = shortPath(file.path, cwd);
  const header = `- \`${path}\` — ${doneTo(file)}`;
  const why = file.reasons.length > 0 ? [`  Why: ${file.reasons.join(" · ")}`] : [];
  const names =
    file.defines.length > 0 ? [`  Names: ${file.defines.map((name) => `\`${name}\``).join(", ")}`] : [];
  const before = earlier ? [`  Before: ${earlier}`] : [];
  const edits = (count: number, lines: number): string[] =>
    shown.slice(-count).map((change) => indented(changeCode(change, file.path, lines)));
  const told = [header, ...why, ...names, ...before];
  const forms = [
    [...told, ...edits(2, 24)],
    [...told, ...edits(1, 14)],
    [header, ...why, ...edits(1, 6)],
    [header, ...why.map((line) => clip(line, 140))],
    [header],
  ];
  return forms.map((lines) => lines.join("\n")).filter((form, index, all) => form !== all[index - 1]);
}

export function doneTo(file: FileRecord): string {
  const parts = [
    file.removed ? "removed" : "",
    file.created ? "created" : "",
    file.edits > 0 ? `edited ${file.edits}×` : "",
    file.reads > 0 ? `read ${file.reads}×` : "",
    file.changedOutside ? "also changed outside the conversation" : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

function readPieces(files: readonly FileRecord[], cwd: string | undefined): Piece[] {
  if (files.length === 0) return [];
  const names = files.map(
    (file) => `\`${shortPath(file.path, cwd)}\`${file.reads > 1 ? ` (${file.reads}×)` : ""}`,
  );
  const lengths = [24, 10, 4].filter((length, index) => index === 0 || length < names.length);
  const forms = lengths.map((length) => {
    const more = names.length > length ? `, and ${names.length - length} more` : "";
    return `- Only read: ${names.slice(0, length).join(", ")}${more}`;
  });
  return [{ forms, importance: 140, group: LABELS.readFiles }];
}

function carriedPiece(item: string, index: number, items: readonly string[]): Piece {
  const bullet = /^[-*•]\s/.test(item) ? item : `- ${item}`;
  const firstLine = bullet.split("\n")[0] ?? bullet;
  const forms = [clipMarkdown(bullet, MAX_EARLIER_CHARS), clipMarkdown(bullet, 350), clip(firstLine, 160)];
  return {
    forms: [...new Set(forms)],
    importance: rising(135, 105, index, items.length),
    group: LABELS.earlierFiles,
  };
}
