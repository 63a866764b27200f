/** Paths as they are told: in full, from some folder on, or several of one folder together. */

/** With one kind of slash, however often it was escaped on its way into a text. */
export const slashed = (text: string): string => (text.includes("\\") ? text.replace(/\\+/g, "/") : text);

const PATH_CHARACTER = /[\p{L}\p{N}_.@~+$/-]/u;
/** A path may be told as relative to here, to home, or to what is known. */
const SHORTENED = /(?:^|[^\p{L}\p{N}_.@~+$/-])(?:\.|~|…)$/u;

/**
 * Whether the text names the file: by its whole path, or by its end from some folder on. A bare name is enough only
 * where the text tells its folder too, or where that is all there is of the path.
 */
export function namesPath(text: string, path: string): boolean {
  const cut = path.lastIndexOf("/");
  const name = path.slice(cut + 1);
  let hasBareName = false;
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const end = at + name.length;
    if (/^[\p{L}\p{N}_-]|^\.[\p{L}\p{N}]/u.test(text.slice(end, end + 2))) continue;
    if (isEndOf(path, text, end)) return true;
    hasBareName ||= !PATH_CHARACTER.test(text[at - 1] ?? " ");
  }
  return hasBareName && cut > 0 && namesFolder(text, path.slice(0, cut));
}

/** As itself, and not as a part of another path. */
function namesFolder(text: string, folder: string): boolean {
  for (let at = text.indexOf(folder); at !== -1; at = text.indexOf(folder, at + 1)) {
    const around = [text[at - 1], text[at + folder.length]];
    if (around.every((character) => !PATH_CHARACTER.test(character ?? " "))) return true;
  }
  return false;
}

/** Does what stands before this place in the text name the path? */
function isEndOf(path: string, text: string, end: number): boolean {
  let length = 0;
  while (length < path.length && text[end - length - 1] === path[path.length - length - 1]) length++;
  const before = text[end - length - 1] ?? " ";
  const told = path.slice(path.length - length);
  if (length === path.length)
    return !path.includes("/") ? !PATH_CHARACTER.test(before) : isApart(path, before);
  if (told.startsWith("/")) {
    return told.includes("/", 1) && SHORTENED.test(text.slice(Math.max(0, end - length - 2), end - length));
  }
  const isWholeFolder = path[path.length - length - 1] === "/";
  return isWholeFolder && told.includes("/") && !PATH_CHARACTER.test(before);
}

/** A path that begins in no folder of the root may be told with more in front. */
const isApart = (path: string, before: string): boolean =>
  path.startsWith("/") || before === "/" || !PATH_CHARACTER.test(before);

/** Names that could be taken for a group, or for the end of one, stand in full. */
const PLAIN_PATH = /^[^\s{},;"'`()]+$/;
const FOLDER_LINE = /^Files under (\S+\/): (.*)$/gm;
/** `folder/{one.ts, two.ts}` names two files. */
const GROUP = /([^\s{}"'`(),;]*\/)\{([^{}\n]{1,8000})\}/g;

/** A text with the paths that it tells together, each in full. */
export function withPathsInFull(text: string): string {
  const paths: string[] = [];
  if (text.includes("/{")) {
    for (const [, folder = "", names = ""] of text.matchAll(GROUP)) {
      for (const name of names.split(",")) paths.push(`${folder}${name.trim()}`);
    }
  }
  if (text.includes("Files under ")) {
    for (const [, folder = "", files = ""] of text.matchAll(FOLDER_LINE)) {
      for (const name of files.split(/[,.;]? /)) if (!name.includes("/")) paths.push(`${folder}${name}`);
    }
  }
  return paths.length === 0 ? text : `${text}\n${paths.join("\n")}`;
}

/** The folder that shortens the list most when it is told once: "" where none does. */
export function commonFolder(paths: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const path of paths) {
    if (!PLAIN_PATH.test(path)) continue;
    for (let cut = path.indexOf("/", 1); cut !== -1; cut = path.indexOf("/", cut + 1)) {
      const folder = path.slice(0, cut + 1);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
  }
  let best = "";
  let saved = 0;
  for (const [folder, count] of counts) {
    const saves = (count - 1) * folder.length;
    if (saves > saved) [best, saved] = [folder, saves];
  }
  return best;
}

/** `base` is told elsewhere. */
export function groupedPaths(paths: readonly string[], base: string): string {
  const folders = new Map<string, string[]>();
  for (const path of paths) {
    const isPlain = PLAIN_PATH.test(path);
    const shown = isPlain && base !== "" && path.startsWith(base) ? path.slice(base.length) : path;
    const cut = isPlain ? shown.lastIndexOf("/") + 1 : 0;
    const names = folders.get(shown.slice(0, cut));
    if (names) names.push(shown.slice(cut));
    else folders.set(shown.slice(0, cut), [shown.slice(cut)]);
  }
  return [...folders]
    .map(([folder, names]) =>
      folder === "" || names.length === 1
        ? names.map((name) => `${folder}${name}`).join(", ")
        : `${folder}{${names.join(", ")}}`,
    )
    .join(", ");
}
