import { createColors } from "picocolors";
import { withOnlyColours } from "./view/text-width.ts";

/** Where a command writes. Passed in, so that a test can look at what people see. */
export interface Terminal {
  /** Results: standard output. */
  print(text: string): void;
  /** Everything about the work itself: standard error. */
  note(text: string): void;
  /** A line that is written over by the next one; nothing where nobody is watching. */
  progress(text: string): void;
  /** Asks a person yes or no; no unless they say yes. Undefined where nobody can answer. */
  confirm(question: string): Promise<boolean | undefined>;
  readonly width: number;
  readonly colours: Colours;
}

export function noteWarnings(warnings: readonly string[], { note }: Pick<Terminal, "note">): void {
  for (const warning of warnings) note(`longhaul: ${warning}`);
}

export type Colours = ReturnType<typeof createColors>;

/** Views are made for this much, and for no more than 100. */
export const NARROWEST_VIEW = 60;

export const viewWidth = (columns: number): number => Math.min(100, Math.max(NARROWEST_VIEW, columns));

/** Colours and progress only where a person is looking and has not switched them off. */
export function nodeTerminal(process: NodeJS.Process): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const isWatched = stdout.isTTY === true && env.TERM !== "dumb";
  const wantsColour = !env.NO_COLOR && (isWatched || Boolean(env.FORCE_COLOR));
  const clearLine = "\r\u001b[K";
  let hasProgress = false;
  const endProgress = (): void => {
    if (hasProgress) stderr.write(clearLine);
    hasProgress = false;
  };
  const lineTo = (stream: NodeJS.WriteStream) => (text: string) => {
    endProgress();
    stream.write(`${withOnlyColours(text, wantsColour)}\n`);
  };
  return {
    print: lineTo(stdout),
    note: lineTo(stderr),
    progress: (text) => {
      if (stderr.isTTY !== true || env.TERM === "dumb") return;
      stderr.write(`${clearLine}${withOnlyColours(text, wantsColour)}`);
      hasProgress = true;
    },
    confirm: async (question) => {
      if (stdin.isTTY !== true || stderr.isTTY !== true) return undefined;
      endProgress();
      return await askYesOrNo(withOnlyColours(question, wantsColour), stdin, stderr);
    },
    width: viewWidth(stdout.columns ?? 80),
    colours: createColors(wantsColour),
  };
}

/** Ctrl-C and Ctrl-D are a no. */
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
