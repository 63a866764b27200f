import { createInterface, type Interface } from "node:readline";
import type { Colors } from "../../terminal.ts";
import { EARLY_MS, ignoresEarlyKeys } from "./choice.ts";
import { PrintingScreen, type ScreenOptions } from "./printing-screen.ts";
import type { Choice, Chosen, Screen } from "./screen.ts";
import { safeLines } from "./styled-text.ts";
import { watchProcess } from "./terminal-mode.ts";

interface Asked {
  readonly choice: Choice;
  /**
   * Options that the person selected together with the text option. The next line that the person enters is
   * the text.
   */
  picked: readonly number[] | undefined;
  /** Time when the question or the last hint on how to answer was shown. */
  since: number;
  hasWarnedTooEarly: boolean;
  /**
   * Timer of an answer to a permission question. If another line follows at once, the answer does not count,
   * because several lines at once are a paste.
   */
  alone?: NodeJS.Timeout | undefined;
  answer(chosen: Chosen | undefined): void;
}

/**
 * Time in which no other line may follow an answer. Nobody types a line in this time, but lines of a paste
 * arrive faster.
 */
const ALONE_MS = 150;
const SEVERAL_LINES = "longhaul ignored several lines that came at once. Answer with one number.";

/** Reads and prints lines, and never changes a printed line. It shows no live activity. */
export class PlainScreen extends PrintingScreen implements Screen {
  readonly #lines: Interface;
  readonly #release: () => void;
  readonly #asked: Asked[] = [];
  #isBusy = false;
  #status: (width: number) => string = () => "";
  #shownStatus = "";
  #suggested = "";
  /** True if the cursor is after a prompt. */
  #isAtPrompt = false;
  #isPromptDue = false;

  constructor(options: ScreenOptions) {
    super(options, Boolean(options.output.isTTY) && options.environment.TERM !== "dumb");
    this.#lines = createInterface({ input: options.input, terminal: false });
    this.#lines.on("line", (line) => this.#read(line));
    this.#lines.on("close", () => this.#end());
    this.#release = watchProcess({
      continued: () => undefined,
      ended: () => this.#end(),
      interrupted: () => this.#interrupt(),
      exiting: () => undefined,
    });
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
      if (this.isClosed || choice.signal?.aborted) return resolve(undefined);
      const decline = (): void => this.#answer(asked, undefined);
      const asked: Asked = {
        choice,
        picked: undefined,
        since: this.options.now(),
        hasWarnedTooEarly: false,
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
    if (this.isClosed) return;
    this.printLines(this.streamed.end());
    if (this.#isAtPrompt) this.options.output.write("\n");
    this.#isAtPrompt = false;
    this.isClosed = true;
    this.#release();
    this.#lines.close();
    for (const asked of this.#asked.splice(0)) asked.answer(undefined);
  }

  protected printLines(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const start = this.#isAtPrompt ? "\n" : "";
    this.#isAtPrompt = false;
    this.options.output.write(`${start}${lines.join("\n")}\n`);
    this.#promptSoon();
  }

  #prompt(words: string): void {
    this.options.output.write(words);
    this.#isAtPrompt = true;
  }

  /**
   * Shows a prompt soon. If there is a question, shows its prompt when all pending output is printed. If
   * there is no question, shows the input prompt when nothing runs.
   */
  #promptSoon(): void {
    if (this.#isPromptDue) return;
    this.#isPromptDue = true;
    setImmediate(() => {
      this.#isPromptDue = false;
      if (this.isClosed || this.#isAtPrompt) return;
      const [asked] = this.#asked;
      if (asked?.alone !== undefined) return;
      if (asked !== undefined) return this.#prompt(promptFor(asked));
      if (this.#isBusy) return;
      const [status = ""] = safeLines(this.#status(this.width), this.colors.isColorSupported).lines;
      if (status !== "" && status !== this.#shownStatus) this.options.output.write(`${status}\n`);
      this.#shownStatus = status;
      // Without a keyboard there is nobody to prompt.
      if (this.options.input.isTTY) this.#prompt("> ");
    });
  }

  #ask(asked: Asked): void {
    this.printLines(questionLines(asked.choice, this.colors));
    asked.since = this.options.now();
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
    if (text.trim() !== "") this.options.handlers.submitted(text);
  }

  #readAnswer(asked: Asked, line: string): void {
    const now = this.options.now();
    if (asked.alone !== undefined) {
      clearTimeout(asked.alone);
      asked.alone = undefined;
      asked.since = now;
      this.printLines([SEVERAL_LINES]);
      return;
    }
    if (ignoresEarlyKeys(asked.choice) && asked.picked === undefined && now - asked.since < EARLY_MS) {
      if (!asked.hasWarnedTooEarly) this.printLines([TOO_EARLY]);
      asked.hasWarnedTooEarly = true;
      return;
    }
    const answer: PlainAnswer = answerOf(asked.choice, line, asked.picked);
    if (answer.type === "unclear") {
      this.printLines([answer.words]);
      // Lines of a paste arrive together, so the line that follows at once is no answer either.
      asked.since = now;
      asked.hasWarnedTooEarly = false;
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
    if (this.#isAtPrompt) this.options.output.write("\n");
    this.#isAtPrompt = false;
    this.#promptSoon();
    if (asked === undefined) this.options.handlers.interrupted();
    else this.#answer(asked, undefined);
  }

  #end(): void {
    if (!this.isClosed) this.options.handlers.ended();
  }
}

const TOO_EARLY = "That answer came too fast, so longhaul ignored it. Please answer again.";

const promptFor = ({ choice, picked }: Asked): string =>
  picked !== undefined ? `${choice.otherLabel ?? "Your text"}: ` : "Your choice: ";

type PlainAnswer =
  /** No selection means that the person declined. */
  | { readonly type: "answered"; readonly chosen: Chosen | undefined }
  /**
   * The person selected these options and the text option. The next line that the person enters is the text.
   */
  | { readonly type: "words"; readonly picked: readonly number[] }
  | { readonly type: "unclear"; readonly words: string };

/** A longer detail may push the title off the screen, so the title is repeated below it. */
const SHORT_DETAIL_LINES = 12;

/** Formats a question with numbered options, for an answer by line. */
export function questionLines(choice: Choice, colors: Colors): readonly string[] {
  const { title, detail, options, otherLabel, mayChooseSeveral, grants, declining = "declines" } = choice;
  const safe = (text: string): readonly string[] => safeLines(text, colors.isColorSupported).lines;
  const named = options.map(({ label, description, key }, index) => {
    const hint = key === undefined || grants ? "" : ` (${key})`;
    const about = description === undefined ? "" : `: ${description}`;
    return `${index + 1}. ${label}${hint}${about}`;
  });
  const other = otherLabel === undefined ? [] : [`${options.length + 1}. ${otherLabel}`];
  const how = mayChooseSeveral ? "Enter numbers with spaces between them" : "Enter a number";
  const titleLines = safe(title).map((line) => colors.bold(line));
  // The bar marks each line of the detail. The detail contains text of a model or a file, which must not look
  // like an option.
  const lead = grants ? "| " : "  ";
  const detailLines = detail === undefined ? [] : safe(detail).map((line) => `${lead}${line}`);
  return [
    ...titleLines,
    ...detailLines,
    ...(grants && detailLines.length > SHORT_DETAIL_LINES ? titleLines : []),
    ...[...named, ...other].flatMap(safe),
    `${how}. An empty line ${declining}.`,
  ];
}

/**
 * Parses an answer line, which contains numbers or the letter of an option. A permission question accepts
 * only the number of an option. `pickedBefore` contains the options that the person has already selected
 * together with the text option. If it is given, the line is the text.
 */
export function answerOf(choice: Choice, line: string, pickedBefore?: readonly number[]): PlainAnswer {
  const text = line.trim();
  if (text === "") return { type: "answered", chosen: undefined };
  if (pickedBefore !== undefined) return { type: "answered", chosen: { picked: pickedBefore, words: text } };
  const { options, otherLabel, mayChooseSeveral } = choice;
  const parts = choice.grants ? [line] : text.split(/[\s,]+/);
  const picked = parts.map((part) => indexOf(choice, part));
  const count = options.length + (otherLabel === undefined ? 0 : 1);
  const areValid = picked.every((index) => index >= 0 && index < count);
  if (!areValid || (picked.length > 1 && !mayChooseSeveral)) {
    return {
      type: "unclear",
      words: `Please answer with ${mayChooseSeveral ? "numbers" : "a number"} from 1 to ${count}.`,
    };
  }
  const sorted = [...new Set(picked)].sort((a, b) => a - b).filter((index) => index < options.length);
  const wantsWords = picked.includes(options.length);
  return wantsWords ? { type: "words", picked: sorted } : { type: "answered", chosen: { picked: sorted } };
}

function indexOf({ options, grants }: Choice, part: string): number {
  if (/^[1-9]\d{0,2}$/.test(part)) return Number(part) - 1;
  if (grants) return -1;
  return options.findIndex(({ key }) => key?.toLowerCase() === part.toLowerCase());
}
