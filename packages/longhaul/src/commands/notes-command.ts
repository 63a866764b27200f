import { LonghaulError } from "@longhaul/core/errors";
import { notesLimitsFor } from "@longhaul/notes/internal/keeper";
import type { NotesProgress, Session } from "@longhaul/sessions";
import {
  type BuildNotesOptions,
  type BuiltNotes,
  buildNotes,
  findSession,
  notesPath,
  readNotes,
} from "@longhaul/sessions";
import { hasNotes, readTextFile, withSessionFile } from "@longhaul/sessions/internal";
import { readNotesSettings, timeLimitsIn } from "../command-settings.ts";
import type { Composition, SessionCommand } from "../composition.ts";
import { untilInterrupted } from "../interrupts.ts";
import { chooseModel, type ModelChoice, requireModelName, withBuiltInOffer } from "../model-choice.ts";
import { notesReport, notesView } from "../notes-report.ts";
import { noteWarnings } from "../terminal.ts";
import { plural } from "../view/numbers.ts";

export interface NotesCommandOptions extends ModelChoice {
  readonly json?: boolean;
  readonly update?: boolean;
  readonly rebuild?: boolean;
  readonly dryRun?: boolean;
  /** True to print only the path of the notes. */
  readonly path?: boolean;
}

const KEPT_SO_FAR =
  "longhaul keeps the notes that are complete. Run the command again with --update to continue.";

/** Shows the notes of a session, or builds them if there are none. Never changes the session. */
export const notes: SessionCommand<NotesCommandOptions> = async (query, options, composition) => {
  const { terminal } = composition;
  if (options.path) {
    const found = await findSession(query, composition.places);
    // The query may be a path, which is not checked until the file is opened.
    const path = await withSessionFile(found, async () => notesPath(found));
    terminal.print(options.json ? JSON.stringify({ path }, null, 2) : path);
    return;
  }
  const { settings, warnings } = readNotesSettings(composition.settingsFile);
  noteWarnings(warnings, terminal);
  const template = settings.template === undefined ? undefined : await readTemplate(settings.template);
  const session = await composition.load(
    query,
    (await writes(query, options, composition)) ? options : undefined,
  );
  const limits = notesLimitsFor(composition.thresholdsOf(session, {}));
  const present = await readNotes(session, { template });
  const isShown = present !== undefined && !options.update && !options.rebuild;
  const result = isShown
    ? present
    : await build(session, { template, limits, timeLimits: timeLimitsIn(settings) }, options, composition);
  // A dry run calls no model, and showing notes needs no model.
  const [asked, notAsked] = options.dryRun || isShown ? [undefined, options.model] : [options.model];
  const report = notesReport(session, result, limits, asked);
  const view = { modelNotAsked: notAsked, isDryRun: options.dryRun === true };
  terminal.print(options.json ? JSON.stringify(report, null, 2) : notesView(report, view, terminal));
};

/** Returns true if this run writes notes. A run that only shows notes needs no confirmation. */
async function writes(
  query: string,
  { dryRun, update, rebuild }: NotesCommandOptions,
  { places }: Composition,
): Promise<boolean> {
  if (dryRun) return false;
  if (update || rebuild) return true;
  return !(await hasNotes(await findSession(query, places)));
}

async function build(
  session: Session,
  given: Pick<BuildNotesOptions, "template" | "limits" | "timeLimits">,
  options: NotesCommandOptions,
  { terminal }: Composition,
): Promise<BuiltNotes> {
  const { rebuild, dryRun } = options;
  const work = async (signal: AbortSignal): Promise<BuiltNotes> => {
    try {
      if (dryRun) requireModelName(options);
      const model = dryRun ? undefined : await chooseModel(options);
      const onProgress: BuildNotesOptions["onProgress"] = (progress) =>
        terminal.progress(notesProgressLine(progress, model?.name));
      return await buildNotes(session, { ...given, rebuild, dryRun, model, signal, onProgress });
    } catch (error) {
      throw withBuiltInOffer(error, options, OFFER);
    }
  };
  return untilInterrupted(work, options.model === undefined ? undefined : KEPT_SO_FAR);
}

const OFFER =
  "longhaul keeps the existing notes. Without --model it writes notes without a model, a key or a network.";

const TEMPLATE_PROBLEMS = {
  gone: "there is no such file",
  unreadable: "you may not read the file, or it is not a regular file",
  "not-text": "it is not a text file",
  "too-large": "it is too large",
} as const;

async function readTemplate(path: string): Promise<string> {
  const file = await readTextFile(path);
  if (file.state === "read" && !file.isHead) return file.text;
  const reason = file.state === "read" ? "too-large" : file.reason;
  const why = TEMPLATE_PROBLEMS[reason];
  throw new LonghaulError("notes-template-unreadable", `The notes template ${path} cannot be read: ${why}.`, {
    remedy: "Set notes.template in settings.json to an existing Markdown file, or remove the setting.",
    facts: { path },
  });
}

/** Progress line that replaces the previous one while notes are written. */
export function notesProgressLine(
  { step, steps, messages }: NotesProgress,
  model: string | undefined,
): string {
  const part = steps === 1 ? "" : ` (part ${step} of ${steps})`;
  return model === undefined
    ? `Writing the notes${part} …`
    : `${model} reads ${plural(messages, "message")}${part} …`;
}
