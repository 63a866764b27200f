import type { MemoryFilesPort } from "@longhaul/core/memory-files";
import type { FileAnswer } from "@longhaul/core/restore";

export interface TestPort extends MemoryFilesPort {
  /** Paths that were asked for, in order. */
  readonly asked: string[];
  /** By absolute path. */
  readonly files: Map<string, string>;
}

export interface TestPortOptions {
  readonly cwd?: string;
  readonly home?: string;
  /** Names that lead to another file, both absolute. */
  readonly links?: Readonly<Record<string, string>>;
}

/** Memory files that are nowhere but in memory, named as on a POSIX system. */
export function testPort(
  contents: Readonly<Record<string, string>>,
  { cwd = "/p", home, links = {} }: TestPortOptions = {},
): TestPort {
  const files = new Map(Object.entries(contents));
  const asked: string[] = [];
  const read = (path: string): FileAnswer => {
    asked.push(path);
    const real = links[path] ?? path;
    const text = files.get(real);
    if (text === undefined) return { state: "unavailable", reason: "gone" };
    if (real.startsWith(`${cwd}/`)) return { state: "read", text, displayPath: real.slice(cwd.length + 1) };
    const isOwn = home !== undefined && real.startsWith(`${home}/`);
    return { state: "read", text, displayPath: isOwn ? `~${real.slice(home.length)}` : real };
  };
  return {
    asked,
    files,
    home,
    read: async (path) => read(path),
    list: async (folder) =>
      [...files.keys(), ...Object.keys(links)].filter((path) => path.startsWith(`${folder}/`)),
  };
}
