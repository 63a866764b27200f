import { LonghaulError } from "../messages/errors.ts";
import { abortedError, TimeLimitError, waitWithTimeLimit } from "./abortable.ts";
import { loadingProblem } from "./missing-package.ts";

/** Parts of core that load on first use, named by their task. */
export type LazyPart = "compaction" | "recovery" | "undo" | "built-in summarizer" | "summaries of spans";

/** A connection may hang, and no call of the engine waits forever. */
const LOADING_TIMEOUT_MS = 60_000;

/**
 * Loads a part of core on first use, so that a page starts with what a turn without compaction needs. Throws
 * `part-not-loaded` if the file cannot be loaded in time: it is not served, the connection is down, or an
 * update of the package replaced it while the program ran. The next call tries again, but some browsers
 * answer with the remembered failure until the page is loaded again (whatwg/html issue 6768).
 *
 * @param load an `import()` with a literal path. Bundlers split at such imports only.
 * @param signal ends the wait. An abort throws `model-aborted`, as everywhere.
 */
export async function loadPart<T>(
  part: LazyPart,
  load: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  try {
    return await waitWithTimeLimit(signal, LOADING_TIMEOUT_MS, load, () => {
      return new TimeLimitError(LOADING_TIMEOUT_MS);
    });
  } catch (cause) {
    if (signal?.aborted) throw abortedError();
    throw new LonghaulError(
      "part-not-loaded",
      `Cannot load a part of longhaul (${part}): ${loadingProblem(cause)}`,
      {
        remedy:
          "Restart the program if longhaul was updated while it ran. In a web page, check the connection and that the server has every file of the bundle, and then load the page again.",
        facts: { part },
        cause,
      },
    );
  }
}
