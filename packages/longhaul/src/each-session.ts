import { LonghaulError } from "@longhaul/core/errors";
import type { Session } from "@longhaul/sessions";
import type { Composition } from "./composition.ts";
import { shownText } from "./view/text-width.ts";

/** The generated demo session, for users without sessions. */
export const GENERATED_SESSION = { id: "generated", model: "claude-sonnet-5" } as const;

/**
 * Processes each session. Skips unusable sessions with a note, so that the results of the other sessions are
 * not lost. If no session is usable, throws the first error.
 */
export async function eachSession<T>(
  queries: readonly string[],
  { load, terminal }: Pick<Composition, "load" | "terminal">,
  use: (session: Session) => Promise<T>,
): Promise<readonly T[]> {
  const results: T[] = [];
  const errors: LonghaulError[] = [];
  for (const query of queries) {
    try {
      results.push(await use(await load(query)));
    } catch (error) {
      if (!(error instanceof LonghaulError)) throw error;
      errors.push(error);
    }
  }
  const [first] = errors;
  if (first !== undefined && results.length === 0) throw first;
  for (const { message } of errors) terminal.note(`longhaul: left out: ${shownText(message)}`);
  return results;
}
