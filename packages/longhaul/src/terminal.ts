import { createColors } from "picocolors";
import { fitText, foldText, withOnlyColors } from "./view/text-width.ts";

/** Output of a command. Injected, so that a test can check what people see. */
export interface Terminal {
  /** Prints results to standard output. */
  print(text: string): void;
  /** Prints messages about the work to standard error. */
  note(text: string): void;
  /** Shows a line that the next progress line overwrites. Does nothing if no person sees the output. */
  progress(text: string): void;
  /** Asks yes or no. False unless the answer is yes. Undefined if nobody can answer. */
  confirm(question: string): Promise<boolean | undefined>;
  readonly width: number;
  readonly colors: Colors;
}

export function noteWarnings(warnings: readonly string[], { note }: Pick<Terminal, "note">): void {
  for (const warning of warnings) note(`longhaul: ${warning}`);
}

export type Colors = ReturnType<typeof createColors>;

/**
 * Minimum width of a view. Every view fits into it. The maximum width is 100 columns, because longer lines
 * are hard to read.
 */
export const NARROWEST_VIEW = 40;

export const viewWidth = (columns: number): number => Math.min(100, Math.max(NARROWEST_VIEW, columns));

/**
 * Creates the terminal of a process. Shows progress only in a terminal. Shows colors in a terminal or with
 * FORCE_COLOR, but never with NO_COLOR.
 */
export function nodeTerminal(process: NodeJS.Process): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const isWatched = stdout.isTTY === true && env.TERM !== "dumb";
  const wantsColor = !env.NO_COLOR && (isWatched || Boolean(env.FORCE_COLOR));
  const clearLine = "\r\u001b[K";
  let hasProgress = false;
  const endProgress = (): void => {
    if (hasProgress) stderr.write(clearLine);
    hasProgress = false;
  };
  const lineTo = (stream: NodeJS.WriteStream) => (text: string) => {
    endProgress();
    stream.write(`${withOnlyColors(text, wantsColor)}\n`);
  };
  const width = viewWidth(stdout.columns ?? 80);
  const note = lineTo(stderr);
  return {
    print: lineTo(stdout),
    // Wraps only for a person. A program that reads standard error expects one sentence per line.
    note: (text) => note(stderr.isTTY === true ? foldLines(text, width) : text),
    progress: (text) => {
      if (stderr.isTTY !== true || env.TERM === "dumb") return;
      // The line is cut to the width, because a wrapped line could not be cleared.
      stderr.write(`${clearLine}${withOnlyColors(fitText(text, (stderr.columns ?? 80) - 1), wantsColor)}`);
      hasProgress = true;
    },
    confirm: async (question) => {
      if (stdin.isTTY !== true || stderr.isTTY !== true) return undefined;
      endProgress();
      return await askYesOrNo(withOnlyColors(question, wantsColor), stdin, stderr);
    },
    width,
    colors: createColors(wantsColor),
  };
}

export const foldLines = (text: string, width: number): string =>
  text
    .split("\n")
    .map((line) => foldText(line, width))
    .join("\n");

/** Asks yes or no. Ctrl-C and Ctrl-D mean no. */
async function askYesOrNo(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<boolean> {
  const { createInterface } = await import("node:readline");
  const lines = createInterface({ input, output });
  const answer = await new Promise<string>((resolve) => {
    lines.once("close", () => resolve(""));
    lines.question(`${question} [y/N] `, resolve);
  });
  lines.close();
  return /^y(?:es)?$/i.test(answer.trim());
}
