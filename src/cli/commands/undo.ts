import { LonghaulError } from "../../errors.ts";
import { undoableSteps, undoSession, writeUndo } from "../../host/undo-session.ts";
import type { Session } from "../../transcript/session.ts";
import type { Composition, WindowChoice } from "../composition.ts";
import { stepsReport, undoReport } from "../undo-report.ts";
import { stepsView, undoView } from "../view/undo-view.ts";
import { type TargetChoice, targetOf } from "../write-target.ts";

export interface UndoCommandOptions extends WindowChoice, TargetChoice {
  readonly json?: boolean;
  readonly redo?: boolean;
  readonly list?: boolean;
  /** A step's uuid, or its beginning. */
  readonly to?: string;
}

/** Takes back what was done to a session as a whole. */
export async function undo(
  query: string,
  options: UndoCommandOptions,
  composition: Composition,
): Promise<void> {
  const { terminal } = composition;
  const target = options.list ? undefined : await targetOf(options);
  const session = await composition.load(query, target && options);
  const print = <T>(report: T, view: (report: T) => string): void =>
    terminal.print(options.json ? JSON.stringify(report, null, 2) : view(report));
  if (options.list) return print(stepsReport(session), (report) => stepsView(report, terminal));
  const to = options.to === undefined ? undefined : chooseStep(session, options.to);
  const result = undoSession(session, { redo: options.redo, to });
  const written = target && (await writeUndo(result, target, composition));
  const report = undoReport(result, composition.thresholdsOf(session, options), written);
  print(report, () => undoView(report, terminal));
}

/** The step that a person means by its uuid or the beginning of that. */
function chooseStep(session: Session, wanted: string): string {
  const uuids = undoableSteps(session).flatMap(({ line, undo }) =>
    undo === undefined && line.uuid?.startsWith(wanted) ? [line.uuid] : [],
  );
  const [only, ...others] = uuids;
  if (only !== undefined && others.length === 0) return only;
  const message =
    only === undefined
      ? `No step that led to the conversation begins like ${wanted}.`
      : `${uuids.length} steps begin like ${wanted}.`;
  throw new LonghaulError("nothing-to-undo", message, {
    remedy: "`longhaul undo SESSION --list` shows the steps there are.",
    facts: { step: wanted },
  });
}
