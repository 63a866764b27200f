import { posix } from "node:path";
import { contentBlocks, contentText } from "@longhaul/core/internal/messages";
import type { ApiMessage } from "@longhaul/core/messages";
import type { SeenRequest } from "../../exchange.ts";

/**
 * Matches lines in which clients name their working folder. The path ends at the end of the line, because a
 * part of the path would name a different folder.
 */
const NAMED_FOLDER =
  /^[ \t>*-]*(?:\d+[.)][ \t]*)?(?:(?:primary|current) )?(?:working directory|cwd|workspace(?: folder| root)?|project root)[ \t]*[:=][ \t]*(\/[^\r\n]*)$/im;
const TAGGED_FOLDER = /<cwd>\s*(\/[^\r\n<]*?)\s*<\/cwd>/i;
/** Matches the sentence in which qwen-code and gemini-cli name their working folder. */
const TOLD_FOLDER = /^I'm currently working in the directory: (\/[^\r\n]*)$/m;
/** Text that longhaul's own agent writes after the path of its working folder. */
const GIT_REMARK = " (in a git repository)";

/** Number of first messages in which a client may describe its environment. */
export const OPENING_MESSAGES = 4;

/**
 * Finds the client's working folder as an absolute path without a trailing slash. Looks in the system prompt,
 * in system messages at the beginning, and in the client's additions to the first user message. Ignores a
 * person's text. Rejects the root of the file system, and control characters.
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
            role === "user" && block.type === "text" && isByClient(block.text) ? [block.text] : [],
          );
    const folder = texts.map(folderIn).find((found) => found !== undefined);
    if (folder !== undefined) return folder;
  }
  return undefined;
}

/**
 * True for text that a client adds to a user message: text in tags, or a description that lists the files of
 * the working folder.
 */
function isByClient(text: string): boolean {
  if (/^\s*</.test(text)) return true;
  const told = TOLD_FOLDER.exec(text)?.[1]?.trim();
  return told !== undefined && text.split(/\r?\n/).includes(`${told}/`);
}

function folderIn(text: string): string | undefined {
  const found = NAMED_FOLDER.exec(text) ?? TAGGED_FOLDER.exec(text) ?? TOLD_FOLDER.exec(text);
  const named = found?.[1]?.trim();
  if (named === undefined) return undefined;
  const bare = named.endsWith(GIT_REMARK) ? named.slice(0, -GIT_REMARK.length) : named;
  const folder = posix.resolve(bare);
  return folder === "/" || /\p{Cc}/u.test(folder) ? undefined : folder;
}

/** Characters with a special meaning in a shell or in home folder paths. */
const UNSAFE = /[\p{Cc}`$"'\\*?[\]{}!]|^[~-]/u;

/**
 * Returns the absolute path if it is inside the folder, else undefined. Rejects paths with `..`, because a
 * link could lead elsewhere.
 */
export function pathInside(folder: string, path: string): string | undefined {
  if (UNSAFE.test(path.startsWith(folder) ? path.slice(folder.length) : path)) return undefined;
  if (path.split("/").includes("..")) return undefined;
  const absolute = posix.resolve(folder, path);
  return absolute.startsWith(`${folder}/`) ? absolute : undefined;
}

/** Checks if a path is usable as shown, when no working folder is known. */
export const isPlainPath = (path: string): boolean => !UNSAFE.test(path) && !path.split("/").includes("..");

/** Quotes a path as one word of a shell command. */
export const shellWord = (path: string): string => `'${path.replaceAll("'", "'\\''")}'`;
