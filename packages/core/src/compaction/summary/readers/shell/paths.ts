/** Resolves paths by their text alone. */

export const slashed = (path: string): string => path.replace(/\\/g, "/");

export const fileName = (path: string): string => path.split(/[\\/]/).at(-1) ?? path;

/** True for a word that the shell replaces, so that it does not show a path. */
export const isUnclear = (word: string): boolean => /[$`*?~]/.test(word);

/** Part of a path whose text does not show the folder. The tilde of a short Windows name does. */
const UNCLEAR_PART = /^~|[$`*?]/;

/**
 * Resolves a path against a folder, without the parts "." and "..". The folder "" has no known name. A part
 * that the shell replaces stays as it is written.
 */
export function resolvedPath(path: string, folder: string): string {
  const plain = withDrive(slashed(path), folder);
  return normalized(/^(?:\/|~|[A-Za-z]:\/)/.test(plain) || folder === "" ? plain : `${folder}/${plain}`);
}

/** Returns `D:/x` for the path `/d/x` of a Unix shell on Windows. */
const withDrive = (path: string, folder: string): string =>
  /^[A-Za-z]:/.test(folder) && /^\/[A-Za-z](?:\/|$)/.test(path)
    ? `${path.charAt(1).toUpperCase()}:${path.slice(2) || "/"}`
    : path;

/** Returns `/d/x` for the path `D:/x`, so that both spellings of a folder are equal. */
export const unixPath = (path: string): string =>
  path.replace(/^([A-Za-z]):\//, (_, drive: string) => `/${drive.toLowerCase()}/`);

function normalized(path: string): string {
  const root = /^(?:[A-Za-z]:)?\//.exec(path)?.[0] ?? "";
  const parts: string[] = [];
  for (const part of path.slice(root.length).split("/")) {
    if (part === "" || part === ".") continue;
    const last = parts.at(-1);
    if (part === ".." && last !== undefined && last !== ".." && !UNCLEAR_PART.test(last)) parts.pop();
    else if (part !== ".." || root === "" || last !== undefined) parts.push(part);
  }
  return `${root}${parts.join("/")}`;
}

/** Returns the end of a folder path that follows its last unclear part, or the whole path if it is clear. */
export function clearPart(folder: string): string {
  const parts = folder.split("/");
  return parts.slice(parts.findLastIndex((part) => UNCLEAR_PART.test(part)) + 1).join("/");
}
