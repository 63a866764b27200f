import { posix } from "node:path";
import { contentBlocks, contentText } from "@longhaul/core/internal/messages";
import type { ApiMessage } from "@longhaul/core/messages";
import type { SeenRequest } from "../../exchange.ts";

/**
 * Lines by which clients name the folder that they work in. The path reaches to the end of its line: a part of it
 * would be another folder.
 */
const NAMED_FOLDER =
  /^[ \t>*-]*(?:(?:primary|current) )?(?:working directory|cwd|workspace(?: folder| root)?|project root)[ \t]*[:=][ \t]*(\/[^\r\n]*)$/im;
const TAGGED_FOLDER = /<cwd>[ \t]*(\/[^\r\n<]*)<\/cwd>/i;
/** The words that longhaul's own agent puts after its folder. */
const GIT_REMARK = " (in a git repository)";

/** Messages at the beginning that a client may describe its surroundings in. */
const OPENING_MESSAGES = 4;

/**
 * The folder that the client says it works in: absolute, without a slash at its end. Looked for in the system
 * prompt, in system messages at the beginning, and in what the client adds to the first user message. A person's
 * words do not count. The root of the file system is too much to be a folder of work.
 */
export function workingFolder({ system, messages }: SeenRequest): string | undefined {
  return folderIn(system) ?? firstFolder(messages.slice(0, OPENING_MESSAGES));
}

function firstFolder(opening: readonly ApiMessage[]): string | undefined {
  for (const { role, content } of opening) {
    const texts =
      role === "system"
        ? [contentText(content)]
        : contentBlocks(content).flatMap((block) =>
            role === "user" && block.type === "text" && /^\s*</.test(block.text) ? [block.text] : [],
          );
    const folder = texts.map(folderIn).find((found) => found !== undefined);
    if (folder !== undefined) return folder;
  }
  return undefined;
}

function folderIn(text: string): string | undefined {
  const named = (NAMED_FOLDER.exec(text) ?? TAGGED_FOLDER.exec(text))?.[1]?.trim();
  if (named === undefined) return undefined;
  const bare = named.endsWith(GIT_REMARK) ? named.slice(0, -GIT_REMARK.length) : named;
  const folder = posix.resolve(bare);
  return folder === "/" ? undefined : folder;
}

/** Characters that a shell or a home folder gives another meaning to. */
const UNSAFE = /[\p{Cc}`$"'\\*?[\]{}!]|^[~-]/u;

/**
 * The path as an absolute one inside the folder; undefined for all that leads out of it. A path with `..` is not
 * resolved, since a link in it could lead elsewhere.
 */
export function pathInside(folder: string, path: string): string | undefined {
  if (UNSAFE.test(path.startsWith(folder) ? path.slice(folder.length) : path)) return undefined;
  if (path.split("/").includes("..")) return undefined;
  const absolute = posix.resolve(folder, path);
  return absolute.startsWith(`${folder}/`) ? absolute : undefined;
}

/** Usable as it was shown, where no folder is known that it could be inside of. */
export const isPlainPath = (path: string): boolean => !UNSAFE.test(path) && !path.split("/").includes("..");

/** As one word of a shell command. */
export const shellWord = (path: string): string => `'${path.replaceAll("'", "'\\''")}'`;
