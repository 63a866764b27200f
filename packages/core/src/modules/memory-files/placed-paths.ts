/** A folder whose files may be named, and those of the folders below it. Nothing else can be said with its paths. */
export interface Place {
  /** Absolute, as it was given, without a separator at its end. */
  readonly root: string;
  readonly separator: "/" | "\\";
  /** Drive letters or shares, both kinds of separator, and names that do not differ by case. */
  readonly isWindows: boolean;
}

/** One file or folder of a place: names with `/` between them, whatever the system. */
export interface PlacedPath {
  readonly place: Place;
  readonly relative: string;
}

/** Longer than any system allows, and long enough to make work. */
const LONGEST_PATH = 4_096;
const DRIVE = /^[A-Za-z]:[\\/]/;
/** `\\server\share`; not `\\?\` and `\\.\`, which name devices. */
const SHARE = /^[\\/]{2}[^\\/?.][^\\/]*[\\/][^\\/]/;
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\..*)?$/i;

/** Undefined for what is not absolute, and for a whole disk: everything would be inside. */
export function placeOf(folder: unknown): Place | undefined {
  if (typeof folder !== "string" || folder.length > LONGEST_PATH || folder.includes("\0")) return undefined;
  const isWindows = DRIVE.test(folder) || (folder.startsWith("\\") && SHARE.test(folder));
  if (!isWindows && !folder.startsWith("/")) return undefined;
  const names = namesIn(folder, isWindows);
  // A drive's name is a name here, and so are the two of a share.
  const namesOfRoot = isWindows ? (DRIVE.test(folder) ? 1 : 2) : 0;
  if (names === undefined || names.length <= namesOfRoot) return undefined;
  const separator = isWindows && folder.includes("\\") ? "\\" : "/";
  const start = isWindows && !DRIVE.test(folder) ? separator.repeat(2) : isWindows ? "" : "/";
  return { root: start + names.join(separator), separator, isWindows };
}

/**
 * The path within the place, relative ones counted from its root. Undefined for what leads out of it and for what
 * cannot be a file's name: paths come from models and from files, and are never trusted.
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

/** {@link insideOf} as a path of the place. */
export function placedIn(place: Place, path: unknown): PlacedPath | undefined {
  const relative = insideOf(place, path);
  return relative === undefined ? undefined : { place, relative };
}

/** The names on the way, `.` and `..` gone; undefined where `..` leads above the start. */
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

/** Also of a stream within a file, which a colon begins. */
const isDevice = (name: string): boolean => name.includes(":") || DEVICE.test(name.replace(/[. ]+$/, ""));

export function absolutePath({ place, relative }: PlacedPath): string {
  return `${place.root}${place.separator}${relative.replaceAll("/", place.separator)}`;
}

/** The same for all ways of naming one file. */
export function keyOf(path: PlacedPath): string {
  const absolute = absolutePath(path);
  return path.place.isWindows ? absolute.toLowerCase() : absolute;
}

/** The folder of a file within its place; empty for the place itself. */
export function folderOf(relative: string): string {
  return relative.slice(0, Math.max(0, relative.lastIndexOf("/")));
}

/** The folders from the place itself down to the one that holds the file; the place is the empty one. */
export function foldersTo(relative: string): readonly string[] {
  const folders = [""];
  for (let at = relative.indexOf("/"); at >= 0; at = relative.indexOf("/", at + 1)) {
    folders.push(relative.slice(0, at));
  }
  return folders;
}

/** True if the path lies below the folder; all paths lie below the place itself, which is the empty one. */
export function isBelow({ place, relative }: PlacedPath, folder: string): boolean {
  if (folder === "") return true;
  const start = relative.slice(0, folder.length + 1);
  return place.isWindows ? start.toLowerCase() === `${folder.toLowerCase()}/` : start === `${folder}/`;
}
