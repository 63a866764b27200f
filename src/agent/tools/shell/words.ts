import type { ShellEnd, ShellOutput } from "../../workplace.ts";

const MINUTE_MS = 60_000;

/** "3.2 s", "2 min 5 s". */
export function duration(milliseconds: number): string {
  if (milliseconds < MINUTE_MS) return `${(milliseconds / 1_000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const linesOf = ({ lines }: ShellOutput): string => (lines === 1 ? "1 line" : `${lines} lines`);

/** How it ended, in one line for people: "exit 1 · 3.2 s · 120 lines". */
export function summaryOf(how: string, runsForMs: number, output: ShellOutput): string {
  return [how, duration(runsForMs), linesOf(output)].join(" · ");
}

/** In a word or two. */
export function shortEnd(end: ShellEnd): string {
  switch (end.how) {
    case "exited":
      return `exit ${end.code}`;
    case "signalled":
      return end.signal;
    case "killed":
      return "ended";
    case "not-started":
      return "not started";
  }
}

/** For the model, as the first line of a result; empty where all is well. */
export function endLine(end: ShellEnd): string {
  switch (end.how) {
    case "exited":
      return end.code === 0 ? "" : `Exit code ${end.code}`;
    case "signalled":
      return `Ended by ${end.signal}, with no exit code.`;
    case "killed":
      return "It was ended before it was done.";
    case "not-started":
      return `Nothing was run: ${end.reason}.`;
  }
}

/** For the model, as the last line. */
export function leftBehindLine(end: ShellEnd): string {
  return end.how === "exited" && end.leftBehind
    ? "[The command had left processes running, which were ended with it. What is to go on needs run_in_background.]"
    : "";
}

/** What is there of these, each on lines of its own. */
export function paragraphs(...parts: readonly string[]): string {
  return parts
    .map((part) => part.trimEnd())
    .filter((part) => part !== "")
    .join("\n");
}
