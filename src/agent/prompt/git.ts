import { access } from "node:fs/promises";
import { dirname, join } from "node:path";

/** By the folder alone, without running anything: `.git` is a folder, or a file in worktrees and submodules. */
export async function isInGitRepository(folder: string): Promise<boolean> {
  for (let at = folder; ; at = dirname(at)) {
    const isHere = await access(join(at, ".git")).then(
      () => true,
      () => false,
    );
    if (isHere || dirname(at) === at) return isHere;
  }
}
