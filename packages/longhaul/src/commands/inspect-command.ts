import { SMALLEST_WORTHWHILE_SAVING } from "@longhaul/core/compaction";
import { LonghaulError } from "@longhaul/core/errors";
import type { SizedConversation } from "@longhaul/core/internal/compaction";
import type { Thresholds } from "@longhaul/core/measure";
import type { Session } from "@longhaul/sessions";
import {
  type CompactSessionOptions,
  compactSession,
  type SessionCompaction,
  sessionProject,
} from "@longhaul/sessions";
import { notesPointer } from "../compaction-notes.ts";
import type { Composition, ProjectChoice, WindowChoice } from "../composition.ts";
import { costReport } from "../cost-report.ts";
import { inspectSession, memoryOf, notesBeside, sizedSession } from "../inspect-report.ts";
import { promptsOf, promptsView } from "../prompts-report.ts";
import { spanMessages, spanView } from "../spans.ts";
import { inspectView } from "../view/inspect-view.ts";
import { sessionOrLatest } from "../write-target.ts";

export interface InspectOptions extends ProjectChoice, WindowChoice {
  readonly json?: boolean;
  /** Lists the user's prompts, with the ids for `compact --from` and `--up-to`. */
  readonly prompts?: boolean;
  /**
   * Id of a collapsed span, or the beginning of the id. The command shows the original messages of the span.
   */
  readonly span?: string;
}

/** Shows where the tokens of a session are, and how close it is to its window limit. */
export const inspect = async (
  given: string | undefined,
  options: InspectOptions,
  composition: Composition,
): Promise<void> => {
  const { terminal } = composition;
  const query = await sessionOrLatest(given, composition);
  const isWholeNeeded = options.prompts || options.span !== undefined;
  const session = await (isWholeNeeded ? composition.load(query) : composition.loadSparsely(query));
  if (options.prompts) {
    const prompts = promptsOf(session);
    terminal.print(options.json ? JSON.stringify(prompts, null, 2) : promptsView(prompts, session, terminal));
    return;
  }
  if (options.span !== undefined) {
    const span = spanMessages(session, options.span);
    terminal.print(options.json ? JSON.stringify(span, null, 2) : spanView(span, terminal));
    return;
  }
  const thresholds = composition.thresholdsOf(session, options);
  const sized = sizedSession(session);
  const { places } = composition;
  const project = await sessionProject(session, { project: options.project, places });
  const [notes, memory] = await Promise.all([
    notesBeside(session, thresholds),
    memoryOf(session, project, sized),
  ]);
  const inspected = inspectSession(session, thresholds, sized);
  const cost = costReport(session, {
    compaction: canPay(sized, thresholds)
      ? await preview(
          session,
          { sized, targetTokens: thresholds.autoCompact, project: options.project },
          composition,
        )
      : undefined,
    sized,
    thresholds,
    contextTokens: inspected.context.tokens,
    now: composition.now(),
    prices: composition.prices,
  });
  const report = { ...inspected, cost, notes, memory };
  terminal.print(options.json ? JSON.stringify(report, null, 2) : inspectView(report, terminal));
};

/**
 * Returns true if a compaction can be worthwhile. If the whole context is smaller than the minimum saving, no
 * compaction can save enough.
 */
const canPay = ({ contextTokens }: SizedConversation, { headroomBy }: Thresholds): boolean =>
  headroomBy !== "nobody" && contextTokens > SMALLEST_WORTHWHILE_SAVING.tokens;

/**
 * Returns the same preview as `longhaul compact SESSION`, so that both commands show the same figures.
 * Returns undefined if `compact` would refuse the session.
 */
async function preview(
  session: Session,
  given: Pick<CompactSessionOptions, "sized" | "targetTokens" | "project">,
  { places, ...ports }: Composition,
): Promise<SessionCompaction | undefined> {
  try {
    return await compactSession(session, {
      ...given,
      places,
      state: notesPointer(session, undefined),
      ports,
    });
  } catch (error) {
    if (error instanceof LonghaulError) return undefined;
    throw error;
  }
}
