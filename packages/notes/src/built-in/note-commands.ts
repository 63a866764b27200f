import {
  type CommandRun,
  clip,
  commandsIn,
  inlineCode,
  oneLine,
  outcomeText,
  programOf,
  readCommand,
  type SessionDigest,
} from "@longhaul/core/internal/summary";
import { foreignItem, type NoteItem, ownItem, putLast } from "./note-items.ts";

/**
 * This file writes the section "Workflow" of the built-in notes. Other sections use the function
 * `commandText` of this file.
 */

const MAX_ROUTINE_CHARS = 140;
/**
 * Maximum length of a command that is not a test, a build or a check. A longer command was written for one
 * occasion.
 */
const MAX_OTHER_CHARS = 70;
const MAX_PURPOSE_CHARS = 80;
const MAX_ROUTINES_OF_A_PROGRAM = 6;
const MAX_OTHERS_OF_A_PROGRAM = 3;
/** Tests, builds and checks are likely to run again. */
const ROUTINE_WORTH = 12;
const OURS = /^- (?:([^`\n]*?): )?`([^`\n]+)`( → [^\n]*?)?(?: \((\d+) runs\))?$/;
/** A command with literal text, variables or long numbers was written for one occasion. */
const FOR_THE_MOMENT = /["'$<>{}…]|\d{5}|\b[0-9a-f]{7,40}\b/i;
const SCRATCH = /(?:^|[\s/\\=])(?:tmp|temp|scratch\w*)[/\\-]/i;

interface Routine {
  readonly purpose: string | undefined;
  readonly command: string;
  /** Outcome, starting with an arrow. Empty if it is unknown. */
  readonly outcome: string;
  readonly runs: number;
}

/** Lists each reusable command once, with its latest outcome. The command that ran last comes last. */
export function workflow(before: readonly string[], digest: SessionDigest): readonly NoteItem[] {
  const slots = new Map<string, Routine | string>();
  for (const item of before) {
    const routine = readRoutine(item);
    slots.set(routine === undefined ? item : keyOf(routine.command), routine ?? item);
  }
  for (const routine of digest.exchanges.flatMap(commandsIn).flatMap((run) => routineOf(run) ?? [])) {
    const known = slots.get(keyOf(routine.command));
    putLast(slots, keyOf(routine.command), typeof known === "object" ? runAgain(known, routine) : routine);
  }
  return newestOfEach([...slots.values()]).map((slot) => {
    return typeof slot === "string" ? foreignItem(slot) : routineItem(slot);
  });
}

/** Keeps only the newest few commands of each program. They are enough to show how the program is used. */
function newestOfEach(slots: readonly (Routine | string)[]): readonly (Routine | string)[] {
  const seen = new Map<string, number>();
  const kept = slots.toReversed().filter((slot) => {
    if (typeof slot === "string") return true;
    const program = programOf(slot.command) ?? slot.command;
    const count = (seen.get(program) ?? 0) + 1;
    seen.set(program, count);
    return count <= (slot.outcome === "" ? MAX_OTHERS_OF_A_PROGRAM : MAX_ROUTINES_OF_A_PROGRAM);
  });
  return kept.reverse();
}

const keyOf = (command: string): string => command.toLowerCase();

function runAgain(known: Routine, { purpose, command, outcome }: Routine): Routine {
  return {
    purpose: known.purpose ?? purpose,
    command,
    outcome: outcome === "" ? known.outcome : outcome,
    runs: known.runs + 1,
  };
}

/**
 * Returns the test, build or check within a command line. If there is none, returns the command only if it is
 * the whole command line.
 */
function routineOf(run: CommandRun): Routine | undefined {
  const { kind, command, failed, description } = run;
  const segments = segmentsOf(command);
  const isAlone = segments.slice(1).every((segment) => isPassing(programOf(segment) ?? ""));
  const purpose = description && isAlone ? clip(oneLine(description), MAX_PURPOSE_CHARS) : undefined;
  if (kind === "test" || kind === "build" || kind === "check") {
    const part = mainPart(run);
    if (part === undefined || SCRATCH.test(part) || part.length > MAX_ROUTINE_CHARS) return undefined;
    return { purpose, command: part, outcome: outcomeOf(run), runs: 1 };
  }
  const [only = ""] = segments;
  if (kind !== "other" || failed || segments.length !== 1 || only.length > MAX_OTHER_CHARS) return undefined;
  const program = programOf(only);
  if (program === undefined || isPassing(program) || FOR_THE_MOMENT.test(only) || SCRATCH.test(only))
    return undefined;
  return { purpose, command: only, outcome: "", runs: 1 };
}

function routineItem({ purpose, command, outcome, runs }: Routine): NoteItem {
  const told = `${inCode(command)}${outcome}${runs > 1 ? ` (${runs} runs)` : ""}`;
  const worth = outcome === "" ? 0 : ROUTINE_WORTH;
  return ownItem([purpose ? `- ${purpose.replace(/`/g, "'")}: ${told}` : `- ${told}`, `- ${told}`], worth);
}

function readRoutine(item: string): Routine | undefined {
  const [, purpose, command, outcome = "", runs = "1"] = OURS.exec(item) ?? [];
  return command === undefined ? undefined : { purpose, command, outcome, runs: Number(runs) };
}

const MAX_COMMAND_CHARS = 100;

/**
 * Commands for looking around, moving files and everyday git. Everybody knows them, and they say nothing
 * about the project.
 */
const PASSING: ReadonlySet<string> = new Set(
  (
    "awk basename cat cd chmod cp curl cut date diff dirname du echo env export file find for gh grep head if jq kill " +
    "ln ls mkdir mv printf ps pwd read rg rm sed sleep sort stat tail tee test timeout touch tr tree true type uniq wc " +
    "which while xargs"
  ).split(" "),
);

export function isPassing(program: string): boolean {
  const [name = ""] = program.split(" ");
  return PASSING.has(name) || name === "git";
}

/** Renders a command with the outcome that its output proves. */
export function commandText(run: CommandRun): string {
  return `${inCode(clip(run.command, MAX_COMMAND_CHARS))}${outcomeOf(run)}`;
}

export const inCode = (text: string): string => inlineCode(oneLine(text));

/**
 * Returns the text about the outcome of a run. If a test run passed, ignores the figures of a linter in the
 * same command line.
 */
function outcomeOf(run: CommandRun): string {
  const counts = /^\d+ (?:issues?|problems?|errors?|warnings?)\b/;
  const isAnothers = run.kind === "test" && !run.failed && counts.test(run.outcome ?? "");
  return outcomeText(isAnothers ? { ...run, outcome: undefined } : run);
}

/** Finds the part of a command line that makes it a test, a build or a check. */
export function mainPart({ command, kind }: CommandRun): string | undefined {
  return segmentsOf(command).find((segment) => {
    const isOfKind = readCommand(0, segment).kind === kind;
    return isOfKind && !isPassing(programOf(segment) ?? "echo") && !segment.endsWith("…");
  });
}

/** Splits a command line at its operators, except inside quotes. */
function segmentsOf(command: string): readonly string[] {
  const parts: string[] = [""];
  for (const [piece = ""] of command.matchAll(/"(?:\\.|[^"\\])*"?|'[^']*'?|&&|\|\|?|;|[^"'&|;]+|&/g)) {
    if (/^(?:&&|\|\|?|;)$/.test(piece)) parts.push("");
    else parts.push(`${parts.pop()}${piece}`);
  }
  return parts
    .map((part) => part.replace(/\s*\d?>{1,2}\s*\/dev\/null/g, "").trim())
    .filter((part) => part !== "");
}
