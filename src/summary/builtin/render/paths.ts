/** A path as short as it can be without losing which file it is. */
export function shortPath(path: string, cwd: string | undefined): string {
  const slashed = path.replace(/\\/g, "/");
  const base = cwd?.replace(/\\/g, "/").replace(/\/+$/, "");
  if (base && slashed.startsWith(`${base}/`)) return slashed.slice(base.length + 1);
  return slashed.replace(SCRATCH_FOLDER, "…/$1");
}

/** Folders of a session's own have names that no one can remember nor needs to. */
const SCRATCH_FOLDER = /^.*\/[0-9a-f-]{30,}\/(?=[^/]+\/|[^/]+$)((?:[^/]+\/)?[^/]+)$/;

export function fileName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}

/** Does one path end with the other? Summaries name files relative to whatever they like. */
export function isSamePath(one: string, other: string): boolean {
  const a = one.replace(/\\/g, "/");
  const b = other.replace(/\\/g, "/");
  if (a === b) return true;
  const [long, short] = a.length > b.length ? [a, b] : [b, a];
  return short.includes("/") && long.endsWith(`/${short.replace(/^(?:\.\.?)?\//, "")}`);
}
