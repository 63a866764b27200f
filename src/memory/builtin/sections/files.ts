import { clip, oneLine } from "../../../summary/clip.ts";
import {
  doneTo,
  earlierItems,
  type FileRecord,
  isSamePath,
  isScratch,
  namedIn,
  readDone,
  readEarlierFile,
  saysOnlyDone,
  shortPath,
  UNTOUCHED_FILE,
  withoutBold,
} from "../../../summary/readers/readers.ts";
import type { News } from "../news.ts";
import { foreignItem, type NoteItem, ownItem } from "../note-item.ts";

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
