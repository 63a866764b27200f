import { LonghaulError } from "../messages/errors.ts";
import { loadingProblem } from "./missing-package.ts";

/** Parts of core that load on first use, named by their task. */
export type LazyPart = "compaction" | "recovery" | "undo" | "built-in summarizer" | "summaries of spans";

/**
 * Loads a part of core on first use, so that a page starts with what a turn without compaction needs. Throws
 * `part-not-loaded` if the file cannot be loaded: it is not served, the connection is down, or an update of
 * the package replaced it while the program ran. The next call tries again.
 *
 * @param load an `import()` with a literal path. Bundlers split at such imports only.
 */
export async function loadPart<T>(part: LazyPart, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new LonghaulError(
      "part-not-loaded",
      `Cannot load a part of longhaul (${part}): ${loadingProblem(cause)}`,
      {
        remedy:
          "Restart the program if longhaul was updated while it ran. In a web page, check the connection and that the server has every file of the bundle.",
        facts: { part },
        cause,
      },
    );
  }
}
