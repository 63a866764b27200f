import { createColors } from "picocolors";

/** Where a command writes. Passed in, so that a test can look at what people see. */
export interface Terminal {
  /** Results: standard output. */
  print(text: string): void;
  /** Everything about the work itself: standard error. */
  note(text: string): void;
  /** A line that is written over by the next one; nothing where nobody is watching. */
  progress(text: string): void;
  readonly width: number;
  readonly colours: Colours;
}

export type Colours = ReturnType<typeof createColors>;

const NARROWEST = 60;
const WIDEST = 100;

/** Colours and progress only where a person is looking and has not switched them off. */
export function nodeTerminal(process: NodeJS.Process): Terminal {
  const { stdout, stderr, env } = process;
  const isWatched = stdout.isTTY === true && env.TERM !== "dumb";
  const wantsColour = !env.NO_COLOR && (isWatched || Boolean(env.FORCE_COLOR));
  const clearLine = "\r\u001b[K";
  let hasProgress = false;
  const endProgress = (): void => {
    if (hasProgress) stderr.write(clearLine);
    hasProgress = false;
  };
  return {
    print: (text) => {
      endProgress();
      stdout.write(`${text}\n`);
    },
    note: (text) => {
      endProgress();
      stderr.write(`${text}\n`);
    },
    progress: (text) => {
      if (stderr.isTTY !== true || env.TERM === "dumb") return;
      stderr.write(`${clearLine}${text}`);
      hasProgress = true;
    },
    width: Math.min(WIDEST, Math.max(NARROWEST, stdout.columns ?? 80)),
    colours: createColors(wantsColour),
  };
}
