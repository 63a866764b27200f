import { createColors } from "picocolors";
import type { Colours } from "../../terminal.ts";
import type { ScreenHandlers } from "./screen.ts";
import { foldLine, PLAIN, safeLines } from "./styled-text.ts";
import type { ScreenInput, ScreenOutput } from "./terminal-mode.ts";

/** Of terminals that do not say. */
const USUAL_COLUMNS = 80;

export interface ScreenOptions {
  readonly input: ScreenInput;
  readonly output: ScreenOutput;
  readonly environment: NodeJS.ProcessEnv;
  readonly handlers: ScreenHandlers;
  /** In milliseconds, from any moment on. */
  now(): number;
}

/** The part that all screens share: they print safe lines, also those of a text that comes in pieces. */
export abstract class PrintingScreen {
  readonly colours: Colours;
  protected readonly options: ScreenOptions;
  protected readonly streamed: StreamText;
  protected isClosed = false;

  constructor(options: ScreenOptions, hasColours: boolean) {
    this.options = options;
    this.colours = createColors(hasColours && !options.environment.NO_COLOR);
    this.streamed = createStreamText(this.colours.isColorSupported);
  }

  protected abstract printLines(lines: readonly string[]): void;

  get width(): number {
    return this.options.output.columns || USUAL_COLUMNS;
  }

  print(text: string): void {
    this.printLines(safeLines(text, this.colours.isColorSupported).lines);
  }

  stream(text: string): void {
    this.printLines(this.streamed.add(text));
  }

  endStream(): void {
    this.printLines(this.streamed.end());
  }

  dropStream(): void {
    this.streamed.drop();
  }
}

/** A text that comes in pieces: its whole lines are over, the one that has only begun is still to change. */
interface StreamText {
  /** The lines that this piece has made whole. */
  add(piece: string): readonly string[];
  /** What was left, as a line. */
  end(): readonly string[];
  drop(): void;
  /** What is not yet a line, in rows; of many the last. */
  rows(width: number, height: number): readonly string[];
}

/** UTF-16 units for one column at most: what is shown of an endless line is read from no further back. */
const UNITS_PER_COLUMN = 8;

export function createStreamText(hasColours: boolean): StreamText {
  let rest = "";
  let style = PLAIN;
  const drop = (): void => {
    rest = "";
    style = PLAIN;
  };
  return {
    add: (piece) => {
      rest += piece;
      const end = rest.lastIndexOf("\n");
      if (end === -1) return [];
      // Both ends of a line in one: else the first of them would make one more line.
      const whole = rest.slice(0, end + 1).replaceAll("\r\n", "\n");
      rest = rest.slice(end + 1);
      const safe = safeLines(whole.slice(0, -1), hasColours, style);
      style = safe.style;
      return safe.lines;
    },
    end: () => {
      const { lines } = safeLines(rest.trimEnd(), hasColours, style);
      const hasText = rest.trim() !== "";
      drop();
      return hasText ? lines : [];
    },
    drop,
    rows: (width, height) => {
      if (rest === "" || height < 1) return [];
      const last = rest.slice(-width * height * UNITS_PER_COLUMN).replace(/\r$/, "");
      const rows = safeLines(last, hasColours, style).lines.flatMap((line) => foldLine(line, width));
      return rows.slice(-height);
    },
  };
}
