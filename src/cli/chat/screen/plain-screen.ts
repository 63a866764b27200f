import { createInterface, type Interface } from "node:readline";
import { createColors } from "picocolors";
import type { Colours } from "../../terminal.ts";
import { EARLY_MS, ignoresEarlyKeys } from "./choice.ts";
import type { ScreenOptions } from "./open-screen.ts";
import { answerOf, type PlainAnswer, questionLines } from "./plain-choice.ts";
import type { Choice, Chosen, Screen } from "./screen.ts";
import { createStreamText, type StreamText } from "./stream-text.ts";
import { safeLines } from "./styled-text.ts";
import { watchProcess } from "./terminal-mode.ts";

const USUAL_COLUMNS = 80;

interface Asked {
  readonly choice: Choice;
  /** The option for words was taken, beside these: the next line is the words. */
  picked: readonly number[] | undefined;
  /** The person was last told how to answer then. */
  since: number;
  hasSaidTooEarly: boolean;
  /** An answer that counts if no other line follows at once, as in a paste. */
  alone?: NodeJS.Timeout | undefined;
  answer(chosen: Chosen | undefined): void;
}

/** The lines of a paste come within less; people type no line so fast. */
const ALONE_MS = 150;
const SEVERAL_LINES = "Several lines came at once, so none of them counts. Answer with one number.";

export const openPlainScreen = (options: ScreenOptions): Screen => new PlainScreen(options);

/** Lines in, lines out: nothing that was written is ever touched again. What runs now is not shown. */
class PlainScreen implements Screen {
  readonly colours: Colours;
  readonly #options: ScreenOptions;
  readonly #lines: Interface;
  readonly #stream: StreamText;
  readonly #release: () => void;
  readonly #asked: Asked[] = [];
  #isBusy = false;
  #status: (width: number) => string = () => "";
  #shownStatus = "";
  #suggested = "";
  /** The cursor stands behind a prompt. */
  #isAtPrompt = false;
  #isPromptDue = false;
  #isClosed = false;

  constructor(options: ScreenOptions) {
    const { input, output, environment } = options;
    this.#options = options;
    this.colours = createColors(
      Boolean(output.isTTY) && environment.TERM !== "dumb" && !environment.NO_COLOR,
    );
    this.#stream = createStreamText(this.colours.isColorSupported);
    this.#lines = createInterface({ input, terminal: false });
    this.#lines.on("line", (line) => this.#read(line));
    this.#lines.on("close", () => this.#end());
    this.#release = watchProcess({
      continued: () => undefined,
      ended: () => this.#end(),
      interrupted: () => this.#interrupt(),
      exiting: () => undefined,
    });
  }

  get width(): number {
    return this.#options.output.columns || USUAL_COLUMNS;
  }

  print(text: string): void {
    this.#printLines(safeLines(text, this.colours.isColorSupported).lines);
  }

  stream(text: string): void {
    this.#printLines(this.#stream.add(text));
  }

  endStream(): void {
    this.#printLines(this.#stream.end());
  }

  dropStream(): void {
    this.#stream.drop();
  }

  setActivity(lines: (width: number) => readonly string[]): void {
    this.#isBusy = lines(this.width).length > 0;
    this.#promptSoon();
  }

  setStatus(line: (width: number) => string): void {
    this.#status = line;
  }

  suggest(text: string): void {
    this.#suggested = text;
    this.print(`Enter sends: ${text}`);
  }

  choose(choice: Choice): Promise<Chosen | undefined> {
    return new Promise((resolve) => {
      if (this.#isClosed || choice.signal?.aborted) return resolve(undefined);
      const decline = (): void => this.#answer(asked, undefined);
      const asked: Asked = {
        choice,
        picked: undefined,
        since: this.#options.now(),
        hasSaidTooEarly: false,
        answer: (chosen) => {
          choice.signal?.removeEventListener("abort", decline);
          resolve(chosen);
        },
      };
      choice.signal?.addEventListener("abort", decline);
      this.#asked.push(asked);
      if (this.#asked.length === 1) this.#ask(asked);
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#printLines(this.#stream.end());
    if (this.#isAtPrompt) this.#options.output.write("\n");
    this.#isAtPrompt = false;
    this.#isClosed = true;
    this.#release();
    this.#lines.close();
    for (const asked of this.#asked.splice(0)) asked.answer(undefined);
  }

  #printLines(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const start = this.#isAtPrompt ? "\n" : "";
    this.#isAtPrompt = false;
    this.#options.output.write(`${start}${lines.join("\n")}\n`);
    this.#promptSoon();
  }

  #prompt(words: string): void {
    this.#options.output.write(words);
    this.#isAtPrompt = true;
  }

  /** When all that happens in one go is printed, and nothing runs. */
  #promptSoon(): void {
    if (this.#isPromptDue) return;
    this.#isPromptDue = true;
    setImmediate(() => {
      this.#isPromptDue = false;
      if (this.#isClosed || this.#isAtPrompt) return;
      const [asked] = this.#asked;
      if (asked?.alone !== undefined) return;
      if (asked !== undefined) return this.#prompt(promptFor(asked));
      if (this.#isBusy) return;
      const [status = ""] = safeLines(this.#status(this.width), this.colours.isColorSupported).lines;
      if (status !== "" && status !== this.#shownStatus) this.#options.output.write(`${status}\n`);
      this.#shownStatus = status;
      // Where nobody types, nobody is to be asked.
      if (this.#options.input.isTTY) this.#prompt("> ");
    });
  }

  #ask(asked: Asked): void {
    this.#printLines(questionLines(asked.choice, this.colours));
    asked.since = this.#options.now();
  }

  #read(line: string): void {
    this.#isAtPrompt = false;
    this.#promptSoon();
    const [asked] = this.#asked;
    if (asked !== undefined) this.#readAnswer(asked, line);
    else this.#readPrompt(line);
  }

  #readPrompt(line: string): void {
    const text = line.trim() === "" ? this.#suggested : line;
    this.#suggested = "";
    if (text.trim() !== "") this.#options.handlers.submitted(text);
  }

  #readAnswer(asked: Asked, line: string): void {
    const now = this.#options.now();
    if (asked.alone !== undefined) {
      clearTimeout(asked.alone);
      asked.alone = undefined;
      asked.since = now;
      this.#printLines([SEVERAL_LINES]);
      return;
    }
    if (ignoresEarlyKeys(asked.choice) && asked.picked === undefined && now - asked.since < EARLY_MS) {
      if (!asked.hasSaidTooEarly) this.#printLines([TOO_EARLY]);
      asked.hasSaidTooEarly = true;
      return;
    }
    const answer: PlainAnswer = answerOf(asked.choice, line, asked.picked);
    if (answer.type === "unclear") {
      this.#printLines([answer.words]);
      // The lines of a paste come at once: the next one is no answer either.
      asked.since = now;
      asked.hasSaidTooEarly = false;
    } else if (answer.type === "words") asked.picked = answer.picked;
    else if (asked.choice.grants && asked.picked === undefined && answer.chosen !== undefined)
      asked.alone = setTimeout(() => this.#answer(asked, answer.chosen), ALONE_MS);
    else this.#answer(asked, answer.chosen);
  }

  #answer(asked: Asked, chosen: Chosen | undefined): void {
    const at = this.#asked.indexOf(asked);
    if (at === -1) return;
    this.#asked.splice(at, 1);
    clearTimeout(asked.alone);
    asked.answer(chosen);
    const [next] = this.#asked;
    if (next !== undefined && at === 0) this.#ask(next);
  }

  #interrupt(): void {
    const [asked] = this.#asked;
    if (this.#isAtPrompt) this.#options.output.write("\n");
    this.#isAtPrompt = false;
    this.#promptSoon();
    if (asked === undefined) this.#options.handlers.interrupted();
    else this.#answer(asked, undefined);
  }

  #end(): void {
    if (!this.#isClosed) this.#options.handlers.ended();
  }
}

const TOO_EARLY = "Lines that come within half a second do not answer. Please answer again.";

const promptFor = ({ choice, picked }: Asked): string =>
  picked !== undefined ? `${choice.otherLabel ?? "Words"}: ` : "Your choice: ";
