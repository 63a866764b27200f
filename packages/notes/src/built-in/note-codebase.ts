import {
  clip,
  earlierConcepts,
  isScratch,
  languageOf,
  oneLine,
  shortPath,
} from "@longhaul/core/internal/summary";
import type { UpdateInput } from "./news.ts";
import { inCode, isPassing } from "./note-commands.ts";
import { behindLabel, foreignItem, labeled, type NoteItem, ownItem, PINNED } from "./note-items.ts";

/** This file writes the section "Codebase and System Documentation" of the built-in notes. */

const PLACE = "Working directory";
const PLACE_LINE = /^`([^`\n]+)`(?:, git branch `([^`\n]*)`)?/;
const MAX_LISTED = 24;
const MAX_BRIEFLY_LISTED = 8;
const MAX_EARLIER_CHARS = 260;
const FOLDER_DEPTH = 3;

/**
 * Lists the working directory, languages, folders, packages and programs of the project. In each list, the
 * most recently used name comes first.
 */
export function codebase(before: readonly string[], news: UpdateInput): readonly NoteItem[] {
  const lists = newNames(news);
  const ours = [PLACE, ...Object.keys(lists)].map((label) => labeled(label, ""));
  const isOurs = (item: string): boolean =>
    ours.some((start) => item.startsWith(start)) && !item.includes("\n");
  const told = earlierConcepts(news.digest.earlier).map((item) => clip(oneLine(item), MAX_EARLIER_CHARS));
  const foreign = [
    ...before.filter((item) => !isOurs(item)),
    ...told.filter((item) => !before.includes(item)),
  ];
  return [
    ...placeItem(before, news),
    ...foreign.map(foreignItem),
    ...Object.entries(lists).flatMap(([label, names]) => listItem(label, before, names)),
  ];
}

/** Finds the folder in which the session started. The notes contain this folder. */
export function rootIn(items: readonly string[]): string | undefined {
  return PLACE_LINE.exec(behindLabel(items, PLACE) ?? "")?.[1];
}

function placeItem(before: readonly string[], { digest, root = "" }: UpdateInput): NoteItem[] {
  if (root.trim() === "") return [];
  const branch = digest.branch ?? PLACE_LINE.exec(behindLabel(before, PLACE) ?? "")?.[2];
  const last = digest.cwd !== undefined && digest.cwd !== root ? `; last in ${inCode(digest.cwd)}` : "";
  const place = `${inCode(root)}${branch ? `, git branch ${inCode(branch)}` : ""}${last}`;
  return [ownItem([labeled(PLACE, place)], PINNED)];
}

function listItem(label: string, before: readonly string[], names: readonly string[]): NoteItem[] {
  const known = behindLabel(before, label)?.split(", ") ?? [];
  const all = [...new Set([...names, ...known])].slice(0, MAX_LISTED);
  if (all.length === 0) return [];
  const line = (count: number): string => labeled(label, all.slice(0, count).join(", "));
  return [ownItem([line(MAX_LISTED), line(MAX_BRIEFLY_LISTED)])];
}

/**
 * Returns the names in the new entries. The key is the label of a list in the section, the value is the names
 * for that list. The newest name comes first.
 */
function newNames({ digest, root }: UpdateInput): Readonly<Record<string, readonly string[]>> {
  const paths = digest.files
    .toSorted((a, b) => b.lastAt - a.lastAt)
    .map(({ path }) => shortPath(path, root))
    .filter((path) => !isScratch(path));
  const programs = digest.programs.filter((name) => !isPassing(name));
  return {
    Languages: paths.flatMap((path) => languageOf(path) ?? []),
    "Folders worked in": paths.flatMap(folderOf),
    Packages: digest.packages.map(inCode),
    "Programs in use": programs.map(inCode),
    "Names that matter": digest.names.map(inCode),
  };
}

function folderOf(path: string): readonly string[] {
  const folders = path.split("/").slice(0, -1);
  if (folders.length === 0 || /^(?:…|\/|\w:|~|\.\.)|,/.test(path)) return [];
  return [inCode(`${folders.slice(0, FOLDER_DEPTH).join("/")}/`)];
}
