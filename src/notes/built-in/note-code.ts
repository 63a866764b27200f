import { clip, oneLine } from "../../summary/clip.ts";
import {
  doneTo,
  earlierItems,
  type FileRecord,
  isSamePath,
  isScratch,
  languageOf,
  namedIn,
  readDone,
  readEarlierFile,
  type SessionDigest,
  saysOnlyDone,
  shortPath,
  UNTOUCHED_FILE,
  withoutBold,
} from "../../summary/readers/readers.ts";
import { inCode, isPassing } from "./note-commands.ts";
import { foreignItem, type NoteItem, ownItem, PINNED } from "./note-items.ts";
import { behindLabel, labelled, type News } from "./note-state.ts";

const WHY = "  Why: ";
const NAMES = "  Names: ";
const BETWEEN_REASONS = " · ";
const MAX_REASONS = 2;
const MAX_REASON_CHARS = 160;
/** "Let me fix that" is no reason. */
const LEAST_REASON_CHARS = 28;
const MAX_NAMES = 12;
const MAX_NOTE_CHARS = 300;
/** A changed file outlives this many that were only looked at. */
const CHANGED_WORTH = 15;
const LOOKS_LIKE_A_FILE = /^(?!(?:\w+:)?\/\/)[^\s]*(?:\/[^\s]*|\.\w{1,8}(?::[\d-]+)?)$/;
const HEADER = /^- `([^`\n]+)`(.*)$/;

interface NotedFile {
  readonly path: string;
  /** What was done to it, in the words of {@link doneTo}. */
  readonly record: FileRecord;
  /** What others wrote about it. */
  readonly remarks: readonly string[];
}

/** One item per file, the newest last. What is known of a file grows; only its place changes. */
export function filesAndFunctions(before: readonly string[], news: News): readonly NoteItem[] {
  const slots = new Map<string, NotedFile | string>();
  const noted: string[] = [];
  const note = (file: NotedFile): void => {
    slots.set(file.path, file);
    noted.push(file.path);
  };
  /** Files that the notes name in another way than we do; the new ones all have their one name. */
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
    const path = knownAs(oneLine(shortPath(record.path, news.root)).replace(/`/g, "'"));
    const known = slots.get(path);
    slots.delete(path);
    slots.set(path, merged(typeof known === "object" ? known : undefined, path, record));
  }
  return [...slots.values()].map((slot) => (typeof slot === "string" ? foreignItem(slot) : fileItem(slot)));
}

/** A file written whole that is known already was not created then. */
function merged(known: NotedFile | undefined, path: string, record: FileRecord): NotedFile {
  if (known === undefined) return { path, record, remarks: [] };
  const before = known.record;
  const overwritten = record.created && before.reads + before.edits > 0 && !before.created ? 1 : 0;
  const writtenAgain = record.created && before.created ? 1 : 0;
  return {
    path: known.path,
    remarks: known.remarks,
    record: {
      ...record,
      reads: before.reads + record.reads,
      edits: before.edits + record.edits + overwritten + writtenAgain,
      created: before.created || (record.created && overwritten === 0),
      changedOutside: before.changedOutside || record.changedOutside,
      removed: record.removed || (before.removed && record.edits === 0 && !record.created),
      reasons: [...new Set([...before.reasons, ...record.reasons])],
      defines: [...new Set([...record.defines, ...before.defines])],
    },
  };
}

function fileItem({ path, record, remarks }: NotedFile): NoteItem {
  const done = doneTo(record);
  const header = `- \`${path}\`${done === "" ? "" : ` — ${done}`}`;
  const reasons = record.reasons
    .filter(({ length }) => length >= LEAST_REASON_CHARS)
    .slice(-MAX_REASONS)
    .map((reason) => clip(withoutBold(oneLine(reason)), MAX_REASON_CHARS));
  const why = reasons.length > 0 ? [`${WHY}${reasons.join(BETWEEN_REASONS)}`] : [];
  const names = record.defines.slice(0, MAX_NAMES).map((name) => `\`${name}\``);
  const defines = names.length > 0 ? [`${NAMES}${names.join(", ")}`] : [];
  const isChanged = record.edits > 0 || record.created || record.removed || remarks.length > 0;
  const worth = isChanged && !isScratch(path) ? CHANGED_WORTH : 0;
  const forms = [
    [header, ...remarks, ...why, ...defines],
    [header, ...remarks, ...defines],
    [header, ...remarks.slice(0, 1).map((remark) => clip(remark, 120))],
  ];
  return ownItem(
    forms.map((lines) => lines.join("\n")),
    worth,
  );
}

/** Undefined for what names no file in our way. */
function readFile(item: string): NotedFile | undefined {
  const [first = "", ...rest] = item.split("\n");
  const [, path, done = ""] = HEADER.exec(first) ?? [];
  if (path === undefined || item.includes("```")) return undefined;
  const why = rest.find((line) => line.startsWith(WHY))?.slice(WHY.length);
  const names = rest.find((line) => line.startsWith(NAMES))?.slice(NAMES.length);
  const isOurs = done === "" || saysOnlyDone(done);
  const remarks = rest.filter((line) => !line.startsWith(WHY) && !line.startsWith(NAMES));
  const told = isOurs ? remarks : [`  ${done.replace(/^[\s—:-]+/, "")}`, ...remarks];
  return {
    path,
    remarks: told,
    record: {
      ...UNTOUCHED_FILE,
      path,
      ...readDone(isOurs ? done : ""),
      reasons: why?.split(BETWEEN_REASONS) ?? [],
      defines: names?.split(", ").map((name) => name.replace(/`/g, "")) ?? [],
    },
  };
}

/** Of a file that a summary tells about: what was done to it and why, without its code. */
function fileFromSummary(item: string, root: string | undefined): NotedFile | undefined {
  const named = namedIn(item).find((name) => name !== undefined && LOOKS_LIKE_A_FILE.test(name));
  if (named === undefined || item.startsWith("- Only read:")) return undefined;
  const plain = item.replace(/\*\*/g, "");
  const inMarks = plain.includes(`\`${named}\``) ? plain : plain.replace(named, () => `\`${named}\``);
  const { edits, reads, created, note = "" } = readEarlierFile(inMarks);
  const path = oneLine(shortPath(named.replace(/:\d+(?:-\d+)?$/, ""), root)).replace(/`/g, "'");
  const remark = clip(withBothBrackets(note.replace(/^[\s,;:.·—-]+|[\s:]+$/g, "")), MAX_NOTE_CHARS);
  const remarks = remark === "" ? [] : [`  ${remark}`];
  return { path, remarks, record: { ...UNTOUCHED_FILE, path, edits, reads, created } };
}

/** Of brackets right behind the name one is taken for a part of the name's. */
function withBothBrackets(note: string): string {
  const [header = "", ...rest] = note.split(" · ");
  const [opens, closes] = [header.indexOf("("), header.indexOf(")")];
  const lacksFirst = closes !== -1 && (opens === -1 || closes < opens);
  const lacksLast = header.lastIndexOf("(") > header.lastIndexOf(")") && !header.endsWith("…");
  return [`${lacksFirst ? "(" : ""}${header}${lacksLast ? ")" : ""}`, ...rest].join(" · ");
}

const PLACE = "Working directory";
const PLACE_LINE = /^`([^`\n]+)`(?:, git branch `([^`\n]*)`)?/;
const LISTS = ["Languages", "Folders worked in", "Packages", "Programs in use", "Names that matter"] as const;
type ListLabel = (typeof LISTS)[number];
const MAX_LISTED = 24;
const MAX_BRIEFLY_LISTED = 8;
const MAX_EARLIER_CHARS = 260;
const FOLDER_DEPTH = 3;

/** Where the session works and with what. Lists grow at their front: what was used last leads. */
export function codebase(before: readonly string[], news: News): readonly NoteItem[] {
  const foreign = before.filter((item) => !isOurs(item)).map(foreignItem);
  const known = new Set(before);
  const told = earlierItems(news.digest.earlier, "Key Technical Concepts")
    .filter((item) => !/^- (?:Languages|Packages|Commands in use|Names that matter): /.test(item))
    .map((item) => clip(oneLine(item), MAX_EARLIER_CHARS))
    .filter((item) => !known.has(item));
  const place = placeLine(before, news);
  const lists = LISTS.flatMap((label) => listItem(label, before, newNames(label, news)));
  return [
    ...(place === undefined ? [] : [ownItem([place], PINNED)]),
    ...foreign,
    ...told.map(foreignItem),
    ...lists,
  ];
}

/** The folder in which the session began, as the notes have it. */
export function rootIn(items: readonly string[]): string | undefined {
  return PLACE_LINE.exec(behindLabel(items, PLACE) ?? "")?.[1];
}

function placeLine(before: readonly string[], { digest, root }: News): string | undefined {
  const place = behindLabel(before, PLACE) ?? "";
  const branch = digest.branch ?? PLACE_LINE.exec(place)?.[2];
  if (root === undefined || root.trim() === "") return undefined;
  const last = digest.cwd !== undefined && digest.cwd !== root ? `; last in ${inCode(digest.cwd)}` : "";
  return labelled(PLACE, `${inCode(root)}${branch ? `, git branch ${inCode(branch)}` : ""}${last}`);
}

function isOurs(item: string): boolean {
  return [PLACE, ...LISTS].some((label) => item.startsWith(labelled(label, ""))) && !item.includes("\n");
}

function listItem(label: ListLabel, before: readonly string[], names: readonly string[]): NoteItem[] {
  const known = behindLabel(before, label)?.split(", ") ?? [];
  const all = [...new Set([...names, ...known])].slice(0, MAX_LISTED);
  if (all.length === 0) return [];
  const line = (count: number): string => labelled(label, all.slice(0, count).join(", "));
  return [ownItem([line(MAX_LISTED), line(MAX_BRIEFLY_LISTED)])];
}

function newNames(label: ListLabel, { digest, root }: News): readonly string[] {
  switch (label) {
    case "Languages":
      return filesOf(digest, root).flatMap((path) => languageOf(path) ?? []);
    case "Folders worked in":
      return filesOf(digest, root).flatMap(folderOf);
    case "Packages":
      return digest.packages.map(({ name }) => inCode(name));
    case "Programs in use":
      return digest.programs.filter(({ name }) => !isPassing(name)).map(({ name }) => inCode(name));
    case "Names that matter":
      return digest.names.map(({ name }) => inCode(name));
  }
}

/** Newest first. */
function filesOf({ files }: SessionDigest, root: string | undefined): readonly string[] {
  return files
    .toSorted((a, b) => b.lastAt - a.lastAt)
    .map(({ path }) => shortPath(path, root))
    .filter((path) => !isScratch(path));
}

function folderOf(path: string): readonly string[] {
  const folders = path.split("/").slice(0, -1);
  if (folders.length === 0 || /^(?:…|\/|\w:|~|\.\.)|,/.test(path)) return [];
  return [inCode(`${folders.slice(0, FOLDER_DEPTH).join("/")}/`)];
}
