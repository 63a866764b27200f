import type { SizedConversation } from "../../compaction/plan/sized.ts";
import { SMALLEST_WORTHWHILE_SAVING } from "../../compaction/worthwhile.ts";
import { LonghaulError } from "../../errors.ts";
import { compactSession, type SessionCompaction } from "../../host/compact-session.ts";
import { sessionProject } from "../../host/session-project.ts";
import type { Session } from "../../transcript/load.ts";
import type { Thresholds } from "../../window/thresholds.ts";
import { notesPointer } from "../compaction-notes.ts";
import type { Composition, ProjectChoice, WindowChoice } from "../composition.ts";
import { costReport } from "../cost-report.ts";
import { besideSession, inspectSession, sizedSession } from "../inspect-report.ts";
import { promptsOf, promptsView } from "../prompts-report.ts";
import { spanMessages, spanView } from "../spans.ts";
import { inspectView } from "../view/inspect-view.ts";

export interface InspectOptions extends ProjectChoice, WindowChoice {
  readonly json?: boolean;
  /** List what the user wrote, with the ids that `compact --from` and `--up-to` take. */
  readonly prompts?: boolean;
  /** The id of a collapsed span, or its beginning: show what it stands for. */
  readonly span?: string;
}

/** Where the tokens of a session are, and how far it is from its window. */
export async function inspect(
  query: string,
  options: InspectOptions,
  composition: Composition,
): Promise<void> {
  const { terminal } = composition;
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
  const beside = await besideSession(session, { thresholds, project, sized });
  const inspected = inspectSession(session, thresholds, sized);
  const cost = costReport(session, {
    compaction: canPay(sized, thresholds)
      ? await preview(session, { sized, thresholds, project: options.project }, composition)
      : undefined,
    sized,
    thresholds,
    contextTokens: inspected.context.tokens,
    now: composition.now(),
    prices: composition.prices,
  });
  const report = { ...inspected, cost, ...beside };
  terminal.print(options.json ? JSON.stringify(report, null, 2) : inspectView(report, terminal));
}

/** The costs are those of the context as the provider reported it: one that is smaller can save nothing worthwhile. */
const canPay = ({ contextTokens }: SizedConversation, { headroomBy }: Thresholds): boolean =>
  headroomBy !== "nobody" && contextTokens > SMALLEST_WORTHWHILE_SAVING.tokens;

interface PreviewOptions {
  readonly sized: SizedConversation;
  readonly thresholds: Thresholds;
  readonly project: string | undefined;
}

/** The preview of `longhaul compact SESSION`, so that both commands say the same; undefined when it refuses. */
async function preview(
  session: Session,
  { sized, thresholds, project }: PreviewOptions,
  { places, ...ports }: Composition,
): Promise<SessionCompaction | undefined> {
  try {
    const targetTokens = thresholds.autoCompact;
    return await compactSession(session, {
      targetTokens,
      places,
      project,
      state: notesPointer(session, undefined),
      ports,
      sized,
    });
  } catch (error) {
    if (error instanceof LonghaulError) return undefined;
    throw error;
  }
}
