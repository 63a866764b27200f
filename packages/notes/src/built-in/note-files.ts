import {
  clip,
  doneTo,
  earlierItems,
  type FileRecord,
  isOnlyDone,
  isSamePath,
  isScratch,
  namedIn,
  oneLine,
  readDone,
  readEarlierFile,
  shortPath,
  UNTOUCHED_FILE,
  withoutBold,
} from "@longhaul/core/internal/summary";
import type { UpdateInput } from "./news.ts";
import { foreignItem, type NoteItem, ownItem, putLast } from "./note-items.ts";

/** This file writes the section "Files and Functions" of the built-in notes. */

const WHY = "  Why: ";
const NAMES = "  Names: ";
const BETWEEN_REASONS = " · ";
const MAX_REASONS = 2;
const MAX_REASON_CHARS = 160;
/** A shorter sentence, such as "Let me fix that", is not a reason. */
const MIN_REASON_CHARS = 28;
const MAX_NAMES = 12;
const MAX_NOTE_CHARS = 300;
/**
 * Worth of a changed file. It is dropped only after this number of newer files, if the agent only read those
 * files.
 */
const CHANGED_WORTH = 15;
const LOOKS_LIKE_A_FILE = /^(?!(?:\w+:)?\/\/)[^\s]*(?:\/[^\s]*|\.\w{1,8}(?::[\d-]+)?)$/;
const HEADER = /^- `([^`\n]+)`(.*)$/;

/** A file as the notes describe it, with the name that the notes use. */
interface NotedFile extends FileRecord {
  /** Remarks that a model or a person wrote about the file. */
  readonly remarks: readonly string[];
}

/** Keeps one item per file and adds new information to it. The file that was used last comes last. */
export function filesAndFunctions(before: readonly string[], news: UpdateInput): readonly NoteItem[] {
  const slots = new Map<string, NotedFile | string>();
  const noted: string[] = [];
  const note = (file: NotedFile): void => {
    slots.set(file.path, file);
    noted.push(file.path);
  };
  /**
   * Returns the name that the notes already use for this path. Returns the path itself if there is no such
   * name.
   */
  const knownAs = (path: string): string =>
    slots.has(path) ? path : (noted.find((known) => isSamePath(known, path)) ?? path);
  for (const item of before) {
    const file = readFile(item);
    if (file === undefined || slots.has(file.path)) slots.set(item, item);
    else note(file);
  }
  for (const item of earlierItems(news.digest.earlier, "Files and Code Sections")) {
    const file = fileFromSummary(item, news.root);
    if (file !== undefined && !slots.has(knownAs(file.path))) note(file);
  }
  for (const record of news.digest.files.toSorted((a, b) => a.lastAt - b.lastAt)) {
    const path = knownAs(notedPath(record.path, news.root));
    const known = slots.get(path);
    putLast(slots, path, merged(typeof known === "object" ? known : undefined, { ...record, path }));
  }
  return [...slots.values()].map((slot) => (typeof slot === "string" ? foreignItem(slot) : fileItem(slot)));
}

const notedPath = (path: string, root: string | undefined): string =>
  oneLine(shortPath(path, root)).replace(/`/g, "'");

/**
 * Merges two records of a file. If the notes already contain the file and the agent writes it in full, that
 * counts as an edit.
 */
function merged(known: NotedFile | undefined, file: FileRecord): NotedFile {
  if (known === undefined) return { ...file, remarks: [] };
  const isOverwritten = file.created && (known.created || known.isRead || known.byShell || known.edits > 0);
  return {
    ...file,
    path: known.path,
    remarks: known.remarks,
    isRead: known.isRead || file.isRead,
    byShell: known.byShell || file.byShell,
    edits: known.edits + file.edits + (isOverwritten ? 1 : 0),
    created: known.created || (file.created && !isOverwritten),
    changedOutside: known.changedOutside || file.changedOutside,
    removed: file.removed || (known.removed && file.edits === 0 && !file.byShell && !file.created),
    reasons: [...new Set([...known.reasons, ...file.reasons])],
    defines: [...new Set([...file.defines, ...known.defines])],
  };
}

function fileItem({ remarks, ...file }: NotedFile): NoteItem {
  const done = doneTo(file);
  const header = `- \`${file.path}\`${done === "" ? "" : ` — ${done}`}`;
  const reasons = file.reasons
    .filter(({ length }) => length >= MIN_REASON_CHARS)
    .slice(-MAX_REASONS)
    .map((reason) => clip(withoutBold(oneLine(reason)), MAX_REASON_CHARS));
  const why = reasons.length > 0 ? [`${WHY}${reasons.join(BETWEEN_REASONS)}`] : [];
  const names = file.defines.slice(0, MAX_NAMES).map((name) => `\`${name}\``);
  const defines = names.length > 0 ? [`${NAMES}${names.join(", ")}`] : [];
  const isChanged = file.edits > 0 || file.byShell || file.created || file.removed || remarks.length > 0;
  const forms = [
    [header, ...remarks, ...why, ...defines],
    [header, ...remarks, ...defines],
    [header, ...remarks.slice(0, 1).map((remark) => clip(remark, 120))],
  ].map((lines) => lines.join("\n"));
  return ownItem(forms, isChanged && !isScratch(file.path) ? CHANGED_WORTH : 0);
}

/**
 * Parses an item of this section. Returns undefined if the item does not have the format that this file
 * writes.
 */
function readFile(item: string): NotedFile | undefined {
  const [first = "", ...rest] = item.split("\n");
  const [, path, done = ""] = HEADER.exec(first) ?? [];
  if (path === undefined || item.includes("```")) return undefined;
  const behind = (start: string): string | undefined =>
    rest.find((line) => line.startsWith(start))?.slice(start.length);
  const isOurs = done === "" || isOnlyDone(done);
  const remarks = rest.filter((line) => !line.startsWith(WHY) && !line.startsWith(NAMES));
  return {
    ...UNTOUCHED_FILE,
    path,
    ...readDone(isOurs ? done : ""),
    reasons: behind(WHY)?.split(BETWEEN_REASONS) ?? [],
    defines: behind(NAMES)?.replace(/`/g, "").split(", ") ?? [],
    remarks: isOurs ? remarks : [`  ${done.replace(/^[\s—:-]+/, "")}`, ...remarks],
  };
}

/** Reads the changes to a file and their reasons from a summary, without the code. */
function fileFromSummary(item: string, root: string | undefined): NotedFile | undefined {
  const named = namedIn(item).find((name) => name !== undefined && LOOKS_LIKE_A_FILE.test(name));
  if (named === undefined || item.startsWith("- Only read:")) return undefined;
  const plain = item.replace(/\*\*/g, "");
  const inMarks = plain.includes(`\`${named}\``) ? plain : plain.replace(named, () => `\`${named}\``);
  const { edits, byShell, isRead, created, note = "" } = readEarlierFile(inMarks);
  const path = notedPath(named.replace(/:\d+(?:-\d+)?$/, ""), root);
  const remark = clip(withBothBrackets(note.replace(/^[\s,;:.·—-]+|[\s:]+$/g, "")), MAX_NOTE_CHARS);
  return {
    ...UNTOUCHED_FILE,
    path,
    edits,
    byShell,
    isRead,
    created,
    remarks: remark === "" ? [] : [`  ${remark}`],
  };
}

/** Restores a bracket at the start or end of a note, if the bracket was parsed as part of the file name. */
function withBothBrackets(note: string): string {
  const [header = "", ...rest] = note.split(" · ");
  const [opens, closes] = [header.indexOf("("), header.indexOf(")")];
  const lacksFirst = closes !== -1 && (opens === -1 || closes < opens);
  const lacksLast = header.lastIndexOf("(") > header.lastIndexOf(")") && !header.endsWith("…");
  return [`${lacksFirst ? "(" : ""}${header}${lacksLast ? ")" : ""}`, ...rest].join(" · ");
}
