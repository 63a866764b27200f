/**
 * The names in a path, as they are compared with lists of well-known files: in lower case, because some disks do not
 * tell `.GIT` from `.git`, and without the characters and endings that some disks ignore.
 */
export function pathNames(path: string): readonly string[] {
  return path
    .split(/[\\/]/)
    .map((name) =>
      name
        .normalize("NFKC")
        .replace(/\p{Cf}/gu, "")
        .replace(/::\$.*$/, "")
        .replace(/(?<=[^.])[. ]+$/, "")
        .toLowerCase(),
    )
    .filter((name) => name !== "");
}
