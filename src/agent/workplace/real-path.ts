import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, parse, sep } from "node:path";

/** As many as Linux follows before it calls them a circle. */
const MOST_LINKS = 40;

/**
 * Where a path really is, links followed as far as it exists. Also the name of a file that is not there yet is right:
 * a link in its folder's name, or one that points at nothing, is where a write would go. Rejects as the system does.
 */
export async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return await asOnDisk(await followed(path));
  }
}

const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(systemCode(error));

export function systemCode(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

/** Name by name, as the system walks: `..` behind a link leads to where the link's target lies. */
async function followed(path: string): Promise<string> {
  let real = parse(path).root;
  const names = path.slice(real.length).split(sep);
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      real = dirname(real);
      continue;
    }
    const next = join(real, name);
    const target = await targetOf(next);
    if (target === undefined) {
      real = next;
      continue;
    }
    links += 1;
    if (links > MOST_LINKS) throw Object.assign(new Error("Links lead in a circle."), { code: "ELOOP" });
    if (isAbsolute(target)) real = parse(target).root;
    names.unshift(...target.split(sep));
  }
  return real;
}

/** Undefined where there is no link. */
async function targetOf(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    // EINVAL: it is there, and no link.
    if (isMissing(error) || systemCode(error) === "EINVAL") return undefined;
    throw error;
  }
}

/** Some disks know a folder by its name in any case: the part that exists is called what the disk calls it. */
async function asOnDisk(path: string): Promise<string> {
  const folder = dirname(path);
  if (folder === path) return path;
  try {
    return join(await realpath(folder), basename(path));
  } catch (error) {
    if (!isMissing(error)) throw error;
    return join(await asOnDisk(folder), basename(path));
  }
}
