import { clip, oneLine } from "../../summary/clip.ts";
import { type CommandRun, programOf, readCommand } from "../../summary/readers/readers.ts";

const MAX_COMMAND_CHARS = 100;

/** Looking around, moving files about, the daily use of git: known to everybody, and telling nothing about the project. */
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

/** A command with what came of it, as far as its output proves it. */
export function commandText(run: CommandRun): string {
  return `${inCode(clip(run.command, MAX_COMMAND_CHARS))}${outcomeOf(run)}`;
}

export function inCode(text: string): string {
  return `\`${oneLine(text).replace(/`/g, "'")}\``;
}

/** What a linter counted in the same command line says nothing about the tests. */
export function outcomeOf({ failed, outcome, kind }: CommandRun): string {
  const isAnothers = kind === "test" && /^\d+ (?:issues?|problems?|errors?|warnings?)\b/.test(outcome ?? "");
  if (isAnothers && !failed) return " → ok";
  if (failed) return ` → FAILED${outcome === undefined ? "" : ` (${outcome})`}`;
  if (outcome !== undefined) return ` → ${outcome}`;
  return kind === "other" ? "" : " → ok";
}

/** Of a longer command line the part that makes it a test, a build or a check. */
export function mainPart({ command, kind }: CommandRun): string | undefined {
  return segmentsOf(command).find((segment) => {
    const isOfKind = readCommand(0, segment, undefined, "", false).kind === kind;
    return isOfKind && !isPassing(programOf(segment) ?? "echo") && !segment.endsWith("…");
  });
}

/** The parts of a command line between its operators; what stands in quotes is no operator. */
export function segmentsOf(command: string): readonly string[] {
  const parts: string[] = [""];
  for (const [piece = ""] of command.matchAll(/"(?:\\.|[^"\\])*"?|'[^']*'?|&&|\|\|?|;|[^"'&|;]+|&/g)) {
    if (/^(?:&&|\|\|?|;)$/.test(piece)) parts.push("");
    else parts.push(`${parts.pop()}${piece}`);
  }
  return parts
    .map((part) => part.replace(/\s*\d?>{1,2}\s*\/dev\/null/g, "").trim())
    .filter((part) => part !== "");
}
