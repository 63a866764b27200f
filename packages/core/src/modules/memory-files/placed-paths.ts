/** A folder that gives access to its files and subfolders. Its paths cannot name anything outside. */
export interface Place {
  /** Absolute, as given, without a trailing separator. */
  readonly root: string;
  readonly separator: "/" | "\\";
  /** True for Windows paths: with drive letters or shares, both separators, and case-insensitive names. */
  readonly isWindows: boolean;
}

/** A file or folder within a place: names separated by `/` on every system. */
export interface PlacedPath {
  readonly place: Place;
  readonly relative: string;
}

/** Maximum length of a path. No system allows longer paths, and they would slow down processing. */
const LONGEST_PATH = 4_096;
const DRIVE = /^[A-Za-z]:[\\/]/;
/** `\\server\share`, but not `\\?\` and `\\.\`, which name devices. */
const SHARE = /^[\\/]{2}[^\\/?.][^\\/]*[\\/][^\\/]/;
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\..*)?$/i;

/**
 * Creates a place. Returns undefined for a path that is not absolute, and for a whole disk, which would
 * contain everything.
 */
export function placeOf(folder: unknown): Place | undefined {
  if (typeof folder !== "string" || folder.length > LONGEST_PATH || folder.includes("\0")) return undefined;
  const isWindows = DRIVE.test(folder) || (folder.startsWith("\\") && SHARE.test(folder));
  if (!isWindows && !folder.startsWith("/")) return undefined;
  const names = namesIn(folder, isWindows);
  // The drive counts as one name here, a share as two.
  const namesOfRoot = isWindows ? (DRIVE.test(folder) ? 1 : 2) : 0;
  if (names === undefined || names.length <= namesOfRoot) return undefined;
  const separator = isWindows && folder.includes("\\") ? "\\" : "/";
  const start = isWindows && !DRIVE.test(folder) ? separator.repeat(2) : isWindows ? "" : "/";
  return { root: start + names.join(separator), separator, isWindows };
}

/**
 * Returns the path within the place. Relative paths start at its root. Returns undefined for paths that lead
 * out of it and for impossible file names. Paths come from models and files and are never trusted.
 */
export function insideOf(place: Place, path: unknown): string | undefined {
  if (typeof path !== "string" || path.length > LONGEST_PATH || path.includes("\0")) return undefined;
  const { isWindows } = place;
  const names = namesIn(path, isWindows);
  if (names === undefined) return undefined;
  if (!isAbsolute(path, isWindows)) {
    if (isWindows ? /^[\\/]/.test(path) : DRIVE.test(path) || path.startsWith("\\\\")) return undefined;
    return named(names, isWindows);
  }
  const root = namesIn(place.root, isWindows) ?? [];
  const same = (a: string, b: string | undefined): boolean =>
    isWindows ? a.toLowerCase() === b?.toLowerCase() : a === b;
  if (!root.every((name, index) => same(name, names[index]))) return undefined;
  return named(names.slice(root.length), isWindows);
}

/** Works like {@link insideOf}, but returns a placed path. */
export function placedIn(place: Place, path: unknown): PlacedPath | undefined {
  const relative = insideOf(place, path);
  return relative === undefined ? undefined : { place, relative };
}

/** Splits a path into names and resolves `.` and `..`. Returns undefined if `..` leads above the start. */
function namesIn(path: string, isWindows: boolean): readonly string[] | undefined {
  const names: string[] = [];
  for (const name of path.split(isWindows ? /[\\/]/ : "/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    else if (names.pop() === undefined) return undefined;
  }
  return names;
}

function isAbsolute(path: string, isWindows: boolean): boolean {
  return isWindows ? DRIVE.test(path) || SHARE.test(path) : path.startsWith("/");
}

function named(names: readonly string[], isWindows: boolean): string | undefined {
  if (names.length === 0 || (isWindows && names.some(isDevice))) return undefined;
  return names.join("/");
}

/** Returns true for a device name, and for a stream within a file, which starts with a colon. */
const isDevice = (name: string): boolean => name.includes(":") || DEVICE.test(name.replace(/[. ]+$/, ""));

export function absolutePath({ place, relative }: PlacedPath): string {
  return `${place.root}${place.separator}${relative.replaceAll("/", place.separator)}`;
}

/** Returns the same key for all spellings of one file. */
export function keyOf(path: PlacedPath): string {
  const absolute = absolutePath(path);
  return path.place.isWindows ? absolute.toLowerCase() : absolute;
}

/** Returns the folder of a file within its place. Empty for the place itself. */
export function folderOf(relative: string): string {
  return relative.slice(0, Math.max(0, relative.lastIndexOf("/")));
}

/** Lists the folders from the place down to the one that contains the file. The place itself is "". */
export function foldersTo(relative: string): readonly string[] {
  const folders = [""];
  for (let at = relative.indexOf("/"); at >= 0; at = relative.indexOf("/", at + 1)) {
    folders.push(relative.slice(0, at));
  }
  return folders;
}

/** Returns true if the path is below the folder. Every path is below the place itself, which is "". */
export function isBelow({ place, relative }: PlacedPath, folder: string): boolean {
  if (folder === "") return true;
  const start = relative.slice(0, folder.length + 1);
  return place.isWindows ? start.toLowerCase() === `${folder.toLowerCase()}/` : start === `${folder}/`;
}
