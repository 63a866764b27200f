import type { Fact } from "../../messages/fact-ledger.ts";
import { headOf } from "../../messages/text.ts";
import { clip, inlineCode, oneLine } from "../summary/clip.ts";
import {
  AFTER_BYPASS,
  BYPASSED,
  type CommandRun,
  commandsIn,
  type ErrorRecord,
  type FileRecord,
  failedElsewhere,
  fileName,
  isLaterSuccess,
  isScratch,
  isSeenFixed,
  languageOf,
  laterSuccess,
  outcomeText,
  programKey,
  readCommand,
  type SessionDigest,
  shortPath,
  successOf,
  withoutShortening,
} from "../summary/readers/readers.ts";
import type { DraftFact, ReadEntries } from "./fact-source.ts";
import { slashed } from "./find-facts.ts";

const SOURCE_CHARS = 70;
const LINE_CHARS = 120;
const COMMAND_CHARS = 90;
const OUTCOME_CHARS = 90;
const STILL_OPEN = " → not seen to pass";
const HOOKS_PASSED = `${STILL_OPEN} (a later commit with its hooks succeeded)`;
/** Endings of the text of an open error. Earlier versions wrote the other endings. */
const OPEN_ENDING = / → (?:not seen to pass|no fix seen|not seen fixed)$/;

/** Maximum number of small command-line mistakes to list. Only the newest mistakes are worth a line. */
const MAX_SLIPS = 8;

/** Extracts errors with their fixes. */
export function errorFacts({ digest, has, outcomeIds }: ReadEntries): readonly DraftFact[] {
  const errors = digest.errors.filter(({ at }) => has(at));
  const slips = new Set(errors.filter(({ weight }) => weight === 1).slice(0, -MAX_SLIPS));
  return errors
    .filter((error) => !slips.has(error))
    .map((error): DraftFact => {
      const line = headOf(oneLine(error.text.split("\n")[0] ?? ""), LINE_CHARS).trim();
      return {
        kind: "error",
        text: `${inlineCode(oneLine(clip(error.source, SOURCE_CHARS)))}: ${line}${resolutionOf(error)}`,
        needles: [line],
        entryIds: outcomeIds(error.at),
      };
    })
    .filter(({ needles }) => needles?.[0] !== "");
}

/**
 * Describes the resolution of an error. If there is no resolution, only an error of a test, build, check or
 * commit counts as open. These commands usually run again after a fix.
 */
function resolutionOf({ resolution, weight }: ErrorRecord): string {
  if (resolution === undefined) return weight === 3 ? STILL_OPEN : "";
  const { how } = resolution;
  if (how === "commit" || how === "push" || how === "attempt") return laterSuccess(how);
  if (how === "bypassed") return BYPASSED;
  if (how === "after-bypass") return AFTER_BYPASS;
  if (how === "commit-since") return HOOKS_PASSED;
  const files = [...new Set(resolution.editedFiles.map(fileName))];
  const by = files.length === 0 ? "" : ` after changing ${files.join(", ")}`;
  return how === "passed" ? ` → fixed${by}` : ` → not in the next run${by}, which failed too`;
}

export const isOpenError = ({ kind, text }: DraftFact): boolean => kind === "error" && OPEN_ENDING.test(text);

/** Updates errors of earlier compactions. An error is fixed if a later run was seen to pass the same tests. */
export function withErrorsResolved(carried: readonly Fact[], digest: SessionDigest): readonly Fact[] {
  const isUnproven = (fact: Fact): boolean =>
    isOpenError(fact) ||
    (fact.kind === "error" && (fact.text.endsWith(BYPASSED) || fact.text.endsWith(HOOKS_PASSED)));
  if (!carried.some(isUnproven)) return carried;
  const runs = runsIn(digest);
  return carried.map((fact) => {
    const source = isUnproven(fact) ? commandIn(fact) : undefined;
    if (source === undefined) return fact;
    const failed = readCommand(0, source, undefined, undefined, false, digest.cwd);
    const isFixed = runs.some((run) => isSeenFixed(run, failed));
    if (!isFixed && !runs.some((run) => isLaterSuccess(run, failed))) return fact;
    const later = fact.text.endsWith(BYPASSED) ? AFTER_BYPASS : laterSuccess(successOf(failed));
    const text = fact.text.replace(OPEN_ENDING, "").replace(BYPASSED, "").replace(HOOKS_PASSED, "");
    return { ...fact, text: text + (isFixed ? " → fixed" : later) };
  });
}

const runsIn = ({ exchanges }: SessionDigest): readonly CommandRun[] => exchanges.flatMap(commandsIn);

/**
 * Extracts the last run of each program that tests, builds, checks or publishes. Other runs have no outcome
 * to report. A run that the kept messages contradict is outdated and no fact.
 */
export function commandFacts({ digest, has, outcomeIds }: ReadEntries): readonly DraftFact[] {
  const last = new Map<string, CommandRun>();
  for (const run of runsIn(digest).filter(hasOutcome)) {
    const key = programKey(run);
    const before = last.get(key);
    if (!has(run.at) && (before === undefined || !isOutdatedBy(run, before))) continue;
    last.delete(key);
    last.set(key, run);
  }
  const all = runsIn(digest);
  const current = [...last.values()].filter(
    (run) =>
      has(run.at) &&
      !all.some(
        (later) => later.at > run.at && (has(later.at) || repeats(later, run)) && includes(later, run),
      ),
  );
  const editedAt = lastCodeEdit(digest);
  return current.map((run) => {
    const fact = commandFact(run, outcomeIds(run.at));
    return run.at < editedAt && canBeOutdated(run, fact) ? outdated(fact) : fact;
  });
}

const scopesOf = ({ runs }: CommandRun): readonly string[] =>
  runs.map(({ scope }) => `${scope.kind} ${scope.name}`);

/** Returns true if the later line started every test, check and build of the earlier one again. */
function includes(later: CommandRun, earlier: CommandRun): boolean {
  if (earlier.runs.length === 0 || later.state === "no-result") return false;
  // In a line that failed, a run without a result may not have started.
  const runs = later.runs.filter(({ state }) => !later.failed || state !== "unknown");
  const started = new Set(scopesOf({ ...later, runs }));
  return scopesOf(earlier).every((scope) => started.has(scope));
}

/** Returns true if the later line is the earlier command, or has it as one of its steps. */
const repeats = (later: CommandRun, earlier: CommandRun): boolean =>
  `&& ${withoutShortening(later.command)} &&`.includes(`&& ${withoutShortening(earlier.command)} &&`);

/** Mark of a pass that later edits may have undone. */
const BEFORE_EDITS = " (edits since)";

const outdated = <T extends DraftFact>(fact: T): T => ({ ...fact, text: fact.text + BEFORE_EDITS });

/** Returns the position of the last change of code after the earlier summary, or -1. */
function lastCodeEdit({ exchanges, covered }: SessionDigest): number {
  const edits = exchanges.flatMap(({ actions }) =>
    actions.filter(
      (action) =>
        (action.kind === "edit" && languageOf(action.path) !== undefined) ||
        (action.kind === "command" && action.run.changesCode),
    ),
  );
  return edits.findLast(({ at }) => !covered.has(at))?.at ?? -1;
}

/** Returns true if the later run of the same program repeats the earlier run or ended differently. */
const isOutdatedBy = (later: CommandRun, earlier: CommandRun): boolean =>
  later.state !== earlier.state || withoutShortening(later.command) === withoutShortening(earlier.command);

/** True if a run has an outcome to report. Commits are separate facts with their ids. */
const hasOutcome = (run: CommandRun): boolean =>
  !failedElsewhere(run) &&
  run.kind !== "other" &&
  run.kind !== "commit" &&
  !OPENS_SCRIPT.test(run.command.replace(CHANGED_DIRECTORY, ""));

/** Change to another directory, which is a part of the shown command. */
const CHANGED_DIRECTORY = /^cd \S+ && /;
const OPENS_SCRIPT =
  /^(?:(?:awk|cat|cd|cp|cut|echo|file|find|for|git (?:add|check-ignore|diff|log|show|status)|grep|head|if|ls|node -e|printf|pwd|python3? -c?|rg|sed|sleep|sort|tail|test|tree|wc|which|while)(?![\w-])|\w+=)/;

/** Returns runs of earlier compactions that no newer run replaces. */
export function withoutRunsRepeated(carried: readonly Fact[], digest: SessionDigest): readonly Fact[] {
  const all = runsIn(digest);
  const newer = new Set(all.filter(hasOutcome).map(programKey));
  const isEdited = lastCodeEdit(digest) !== -1;
  return carried.flatMap((fact) => {
    const command = fact.kind === "command" ? commandIn(fact) : undefined;
    if (command === undefined) return [fact];
    const run = readCommand(0, command);
    if (newer.has(programKey(run)) || all.some((later) => includes(later, run))) return [];
    return isEdited && canBeOutdated(run, fact) ? [outdated(fact)] : [fact];
  });
}

/** A run that failed or did not end, or that is marked as outdated already. */
const NOT_PASSED =
  /^`[^`]*` → (?:FAILED|some runs FAILED|no result|timed out|interrupted|started in the background)|\(edits since\)$/;

/** Edits do not change what was pushed. */
const canBeOutdated = ({ kind }: CommandRun, { text }: DraftFact): boolean =>
  kind !== "push" && !NOT_PASSED.test(text);

const commandIn = ({ text }: DraftFact): string | undefined => /^`([^`]*)`/.exec(text)?.[1];

function commandFact(run: CommandRun, entryIds: readonly string[]): DraftFact {
  const shown = withoutShortening(oneLine(run.command).replace(/`/g, "'"));
  const command = headOf(shown, COMMAND_CHARS).trim();
  const outcomeHead =
    run.outcome === undefined ? undefined : headOf(oneLine(run.outcome), OUTCOME_CHARS).trim();
  return {
    kind: "command",
    text: `\`${command}\`${outcomeText({ ...run, outcome: outcomeHead })}`,
    needles: outcomeHead === undefined ? [command] : [command, outcomeHead],
    entryIds,
  };
}

type FileOperation = "created" | "changed" | "moved" | "deleted" | "read";

/** Extracts files with what the agent did to them. `carried`: facts about files from earlier compactions. */
export function fileFacts(read: ReadEntries, carried: readonly Fact[]): readonly DraftFact[] {
  const before = new Map(carried.map((fact) => [pathOf(fact), fact]));
  const touched = touchedPaths(read);
  const files = read.digest.files
    .filter((file) => (read.has(file.lastAt) || touched.has(file.path)) && !isPassing(file))
    .sort((a, b) => a.lastAt - b.lastAt);
  const ends = endsOf(files);
  return files.flatMap((file): readonly DraftFact[] => {
    const path = oneLine(slashed(file.path)).replace(/\/{2,}/g, "/");
    if (path === "" || ends.has(path)) return [];
    const known = before.get(path) ?? before.get(slashed(file.movedFrom ?? ""));
    const operation =
      known === undefined ? operationOf(file) : operationSince(operationIn(known), operationOf(file));
    const entryIds = read.idsAt(file.lastAt);
    return [
      {
        kind: "file",
        text: `${operation} ${path}`,
        needles: [path],
        entryIds: entryIds.length > 0 ? entryIds : (known?.entryIds ?? []),
      },
    ];
  });
}

/** Returns the facts about files that were not moved since. The file has a fact under its new path. */
export function withoutMovedFiles(carried: readonly Fact[], { files }: SessionDigest): readonly Fact[] {
  const moved = new Set(
    files.flatMap(({ movedFrom }) => (movedFrom === undefined ? [] : [slashed(movedFrom)])),
  );
  return moved.size === 0
    ? carried
    : carried.filter((fact) => fact.kind !== "file" || !moved.has(pathOf(fact)));
}

/**
 * Returns true for a scratch file. Also returns true for a file that was only read and is in one of the
 * session's own folders.
 */
function isPassing(file: FileRecord): boolean {
  if (isScratch(file.path)) return true;
  return operationOf(file) === "read" && shortPath(file.path, undefined).startsWith("…/");
}

/** Returns every ending of the absolute paths, because a command can name a file relative to any folder. */
function endsOf(files: readonly FileRecord[]): ReadonlySet<string> {
  const ends = new Set<string>();
  for (const file of files) {
    const path = slashed(file.path);
    if (!/^(?:\/|[A-Za-z]:)/.test(path)) continue;
    for (let cut = path.indexOf("/"); cut !== -1; cut = path.indexOf("/", cut + 1))
      ends.add(path.slice(cut + 1));
  }
  return ends;
}

function touchedPaths({ digest, has }: ReadEntries): ReadonlySet<string> {
  const actions = digest.exchanges.flatMap((exchange) => exchange.actions);
  return new Set(actions.flatMap((action) => ("path" in action && has(action.at) ? [action.path] : [])));
}

function operationOf(file: FileRecord): FileOperation {
  if (file.removed) return "deleted";
  if (file.created) return "created";
  if (file.movedFrom !== undefined) return "moved";
  return file.edits > 0 || file.byShell || file.changedOutside ? "changed" : "read";
}

/**
 * Combines an earlier and a later operation on a file. If the file existed, writing it does not count as
 * creating it. A created file stays created.
 */
function operationSince(before: string, now: FileOperation): FileOperation {
  if (now === "deleted") return now;
  if (before === "created") return before;
  if (now === "moved" || (before === "moved" && now !== "read")) return "moved";
  if (now === "read") return before === "changed" || before === "moved" ? before : now;
  return before === "deleted" ? now : "changed";
}

/** Returns the first word of a file fact. A fact from another version can start with any word. */
export const operationIn = ({ text }: DraftFact): string => text.slice(0, Math.max(0, text.indexOf(" ")));

export const pathOf = ({ needles, text }: DraftFact): string => needles?.[0] ?? text;
