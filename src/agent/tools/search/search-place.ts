import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { isDynamicPattern } from "tinyglobby";
import type { PermissionNeed } from "../../permission.ts";
import { shortPath } from "../../workplace/paths.ts";
import type { ResolvedPath } from "../../workplace.ts";
import { type FilePlace, needsForReading } from "../files/file-place.ts";
import { alternativesOf } from "./glob-pattern.ts";

export type SearchPlace = FilePlace;

export interface Target {
  /** A folder, or for Grep a single file, as the model says it. */
  readonly path: string;
  /** Relative to it. */
  readonly pattern: string;
}

/** What is fixed at the beginning of a pattern belongs to the folder: `/data/logs/*.txt` is `*.txt` in `/data/logs`. */
export function targetOf(path: string | undefined, pattern: string): Target {
  const parts = pattern.replaceAll("\\", "/").split("/");
  const firstDynamic = parts.findIndex((part) => isDynamicPattern(part));
  const fixed = parts.slice(0, firstDynamic < 0 ? parts.length - 1 : firstDynamic);
  const rest = parts.slice(fixed.length).join("/");
  const base = fixed.length === 1 && fixed[0] === "" ? sep : fixed.join("/");
  if (base === "") return { path: path ?? ".", pattern: rest };
  return { path: isAbsolute(base) || base.startsWith("~") ? base : join(path ?? ".", base), pattern: rest };
}

/** Beyond these nobody has written it. */
const LONGEST_PATTERN_CHARS = 1_000;
const MOST_STARS = 20;

/** Why a pattern cannot be searched with, in words. */
export function problemWithPattern(pattern: string): string | undefined {
  if (pattern.length > LONGEST_PATTERN_CHARS)
    return `The pattern is longer than ${LONGEST_PATTERN_CHARS} characters.`;
  if ((pattern.match(/\*+/g) ?? []).length > MOST_STARS)
    return `The pattern has more than ${MOST_STARS} stars.`;
  if (alternativesOf(pattern) === undefined) return "The pattern has braces with too many alternatives.";
  const isUpwards = pattern.split(/[\\/]/).includes("..");
  return isUpwards ? "A pattern cannot lead out of its folder by `..`: say the folder in `path`." : undefined;
}

export const needsForSearch = (place: SearchPlace, path: string): Promise<readonly PermissionNeed[]> =>
  needsForReading(place, path);

/** Found below the real path, shown below the path that was meant: relative where it is in the working directory. */
export const shownBelow = ({ cwd }: SearchPlace, root: ResolvedPath, absolute: string): string =>
  shortPath(resolve(root.path, relative(root.realPath, absolute)), [cwd]);
