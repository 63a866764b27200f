import type { MemoryFilesPort } from "@longhaul/core/memory-files";
import type { FileAnswer } from "@longhaul/core/restore";

export interface TestPort extends MemoryFilesPort {
  /** Requested paths, in order. */
  readonly asked: string[];
  /** Files by absolute path. */
  readonly files: Map<string, string>;
}

export interface TestPortOptions {
  readonly cwd?: string;
  readonly home?: string;
  /** Links to other files, both as absolute paths. */
  readonly links?: Readonly<Record<string, string>>;
}

/** Creates memory files that exist only in memory, with POSIX paths. */
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
