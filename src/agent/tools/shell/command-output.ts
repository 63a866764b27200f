import { StringDecoder } from "node:string_decoder";
import type { ShellOutput } from "../../workplace.ts";
import { CappedText, type LeftOut } from "./capped-text.ts";
import type { OutputFile } from "./output-file.ts";
import { TerminalText } from "./terminal-text.ts";

const PROGRESS_LINE_CHARS = 200;

export interface OutputOptions {
  /** What one look gives at most. */
  readonly shownChars: number;
  readonly file: OutputFile;
  /** It is looked at more than once: what an earlier look has shown must be in the file as well. */
  readonly isKeptFromStart: boolean;
  readonly onLine?: ((line: string) => void) | undefined;
}

/** What a command prints: a part for the model, and where that is not all, the whole in a file. */
export class CommandOutput {
  readonly #options: OutputOptions;
  readonly #decoder = new StringDecoder("utf8");
  readonly #terminal = new TerminalText();
  #shown: CappedText;
  #isInFile: boolean;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#shown = new CappedText(options.shownChars);
    this.#isInFile = options.isKeptFromStart;
  }

  /** Resolves when the next piece may come. */
  async add(bytes: Buffer): Promise<void> {
    const settled = this.#terminal.add(this.#decoder.write(bytes));
    const written = this.#keep(settled);
    this.#tellLine(settled);
    await written;
  }

  /** What was printed since the last look. */
  async look(): Promise<ShellOutput> {
    await this.#keep(this.#terminal.flush());
    await this.#options.file.settled();
    const shown = this.#shown;
    this.#shown = new CappedText(this.#options.shownChars);
    return { text: shown.render((leftOut) => this.#leftOutWords(leftOut)), lines: shown.lines };
  }

  /** When nothing more comes. */
  async finish(): Promise<void> {
    await this.#keep(this.#terminal.add(this.#decoder.end()) + this.#terminal.flush());
    await this.#options.file.close();
  }

  async #keep(text: string): Promise<void> {
    if (text === "") return;
    const before = this.#shown;
    if (this.#isInFile) {
      before.add(text);
      return this.#options.file.write(text);
    }
    if (before.length + text.length <= this.#options.shownChars) return before.add(text);
    this.#isInFile = true;
    const earlier = before.render(() => "");
    before.add(text);
    return this.#options.file.write(earlier + text);
  }

  #leftOutWords({ characters, lines }: LeftOut): string {
    return `\n[… ${characters} characters, ${lines} lines left out here; ${this.#options.file.words} …]\n`;
  }

  #tellLine(settled: string): void {
    const { onLine } = this.#options;
    if (onLine === undefined) return;
    const near = settled.slice(-2 * PROGRESS_LINE_CHARS) + this.#terminal.line.slice(0, PROGRESS_LINE_CHARS);
    const line = near.trimEnd().split("\n").at(-1)?.trim().slice(0, PROGRESS_LINE_CHARS) ?? "";
    if (line !== "") onLine(line.toWellFormed());
  }
}
