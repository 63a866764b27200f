import { clip, oneLine } from "../../../summary/clip.ts";
import {
  earlierItems,
  isScratch,
  languageOf,
  type SessionDigest,
  shortPath,
} from "../../../summary/readers/readers.ts";
import { inCode, isPassing } from "../command-text.ts";
import type { News } from "../news.ts";
import { foreignItem, type NoteItem, ownItem, PINNED } from "../note-item.ts";
import { behindLabel, labelled } from "../state-lines.ts";

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
