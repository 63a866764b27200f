import { createColors } from "picocolors";
import type { Colors } from "../../terminal.ts";
import type { ScreenHandlers } from "./screen.ts";
import { foldLine, PLAIN, safeLines } from "./styled-text.ts";
import type { ScreenInput, ScreenOutput } from "./terminal-mode.ts";

/** Default width for terminals that do not report their width. */
const USUAL_COLUMNS = 80;

export interface ScreenOptions {
  readonly input: ScreenInput;
  readonly output: ScreenOutput;
  readonly environment: NodeJS.ProcessEnv;
  readonly handlers: ScreenHandlers;
  /** Returns the time of a monotonic clock in milliseconds. */
  now(): number;
}

/**
 * Common part of all screens. It prints lines that cannot control the terminal, including the lines of a
 * streamed text.
 */
export abstract class PrintingScreen {
  readonly colors: Colors;
  protected readonly options: ScreenOptions;
  protected readonly streamed: StreamText;
  protected isClosed = false;

  constructor(options: ScreenOptions, hasColors: boolean) {
    this.options = options;
    this.colors = createColors(hasColors && !options.environment.NO_COLOR);
    this.streamed = createStreamText(this.colors.isColorSupported);
  }

  protected abstract printLines(lines: readonly string[]): void;

  get width(): number {
    return this.options.output.columns || USUAL_COLUMNS;
  }

  print(text: string): void {
    this.printLines(safeLines(text, this.colors.isColorSupported).lines);
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

/** A streamed text. Complete lines are final, and the last line can still change. */
interface StreamText {
  /** Adds a piece and returns the lines that it completed. */
  add(piece: string): readonly string[];
  /** Ends the text and returns its incomplete last line. */
  end(): readonly string[];
  drop(): void;
  /** Returns the rows of the incomplete line. Returns only the last rows if there are more than `height`. */
  rows(width: number, height: number): readonly string[];
}

/** Maximum UTF-16 units per column. Limits how much of an endless line is measured. */
const UNITS_PER_COLUMN = 8;

export function createStreamText(hasColors: boolean): StreamText {
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
      // Replaces CRLF first, because otherwise its two characters would each start a new line.
      const whole = rest.slice(0, end + 1).replaceAll("\r\n", "\n");
      rest = rest.slice(end + 1);
      const safe = safeLines(whole.slice(0, -1), hasColors, style);
      style = safe.style;
      return safe.lines;
    },
    end: () => {
      const { lines } = safeLines(rest.trimEnd(), hasColors, style);
      const hasText = rest.trim() !== "";
      drop();
      return hasText ? lines : [];
    },
    drop,
    rows: (width, height) => {
      if (rest === "" || height < 1) return [];
      const last = rest.slice(-width * height * UNITS_PER_COLUMN).replace(/\r$/, "");
      const rows = safeLines(last, hasColors, style).lines.flatMap((line) => foldLine(line, width));
      return rows.slice(-height);
    },
  };
}
