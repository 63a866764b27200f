import { createColors } from "picocolors";
import type { Colours } from "../../terminal.ts";
import { liveFrame } from "./frame.ts";
import { createInputLine, type InputLine } from "./input-line.ts";
import { type KeyPress, listenToKeys } from "./keys.ts";
import { createLiveRegion, type LiveRegion } from "./live-region.ts";
import type { ScreenOptions } from "./open-screen.ts";
import { createQuestions, type Questions } from "./questions.ts";
import { reflowOf } from "./reflow.ts";
import type { Choice, Chosen, Screen } from "./screen.ts";
import { createStreamText, type StreamText } from "./stream-text.ts";
import { safeLines } from "./styled-text.ts";
import { createTerminalMode, stopProcess, type TerminalMode, watchProcess } from "./terminal-mode.ts";

/** Of terminals that do not say. */
const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;

/**
 * Whoever is in the middle of writing when a question appears does not mean it with the next letters: until they
 * pause for so long, these go on into what they write.
 */
const PAUSE_MS = 700;

/** The screen of a terminal that can move its cursor and tells each key. */
export class TerminalScreen implements Screen {
  readonly colours: Colours;
  readonly #options: ScreenOptions;
  readonly #mode: TerminalMode;
  readonly #region: LiveRegion;
  readonly #stream: StreamText;
  readonly #input: InputLine;
  readonly #questions: Questions;
  readonly #release: readonly (() => void)[];
  #activity: (width: number) => readonly string[] = () => [];
  #status: (width: number) => string = () => "";
  /** Lines that are over, and wait for the next drawing. */
  #over: string[] = [];
  /** What the last drawing showed, to draw nothing where nothing changed. */
  #drawn = "";
  #isQuestionCut = false;
  #isDue = false;
  #isClosed = false;
  #hasEnded = false;
  #isStillTyping = false;
  #pressedAt = 0;

  constructor(options: ScreenOptions) {
    const { input, output, environment } = options;
    this.#options = options;
    this.colours = createColors(!environment.NO_COLOR);
    this.#mode = createTerminalMode(input, output);
    this.#region = createLiveRegion({
      write: (text) => void output.write(text),
      columns: () => this.width,
      reflow: reflowOf(environment),
    });
    this.#stream = createStreamText(this.colours.isColorSupported);
    this.#input = createInputLine({ ...options.handlers, ended: () => this.#end() });
    this.#questions = createQuestions({ changed: () => this.#drawSoon(), now: options.now });
    this.#release = this.#listen();
    this.#mode.enter();
    input.resume();
    this.#drawSoon();
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
    this.#drawSoon();
  }

  setActivity(lines: (width: number) => readonly string[]): void {
    this.#activity = lines;
    this.#drawSoon();
  }

  setStatus(line: (width: number) => string): void {
    this.#status = line;
    this.#drawSoon();
  }

  suggest(text: string): void {
    this.#input.suggest(text);
    this.#drawSoon();
  }

  async choose(choice: Choice): Promise<Chosen | undefined> {
    if (this.#isClosed) return undefined;
    if (this.#questions.current() === undefined) this.#isStillTyping = !this.#input.isEmpty();
    return await this.#questions.ask(choice);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#printLines(this.#stream.end());
    this.#isClosed = true;
    this.#questions.declineAll();
    this.#region.erase(this.#over);
    this.#over = [];
    this.#mode.leave();
    for (const release of this.#release) release();
    this.#options.input.pause();
  }

  #printLines(lines: readonly string[]): void {
    if (this.#isClosed) {
      for (const line of lines) this.#options.output.write(`${line}\n`);
      return;
    }
    for (const line of lines) this.#over.push(line);
    this.#drawSoon();
  }

  /** Once for all that happens in one go. */
  #drawSoon(): void {
    if (this.#isDue || this.#isClosed) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      if (!this.#isClosed) this.#draw();
    });
  }

  #draw(): void {
    const { input, stream, questions } = {
      input: this.#input,
      stream: this.#stream,
      questions: this.#questions,
    };
    const look = {
      width: this.width,
      height: this.#options.output.rows || USUAL_ROWS,
      colours: this.colours,
    };
    const parts = { stream, input, questions, activity: this.#activity, status: this.#status };
    const { isQuestionCut, ...frame } = liveFrame(parts, look);
    this.#isQuestionCut = isQuestionCut;
    const drawn = JSON.stringify([frame, look.width, look.height]);
    if (this.#over.length > 0 || drawn !== this.#drawn) {
      this.#region.draw(this.#over, frame);
      this.#over = [];
      this.#drawn = drawn;
    }
    this.#questions.drawn();
  }

  #drawAnew(): void {
    this.#drawn = "";
    this.#drawSoon();
  }

  #listen(): readonly (() => void)[] {
    const { input, output, handlers } = this.#options;
    const redraw = (): void => this.#drawSoon();
    const end = (): void => this.#end();
    const gone = ["end", "close", "error"];
    output.on("resize", redraw);
    output.on("error", end);
    for (const name of gone) input.on(name, end);
    return [
      listenToKeys(input, (press) => this.#press(press)),
      watchProcess({
        continued: () => this.#goOn(),
        ended: end,
        interrupted: () => handlers.interrupted(),
        exiting: () => this.close(),
      }),
      () => {
        output.removeListener("resize", redraw);
        output.removeListener("error", end);
        for (const name of gone) input.removeListener(name, end);
      },
    ];
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#options.handlers.ended();
  }

  #press(press: KeyPress): void {
    const now = this.#options.now();
    const isQuick = now - this.#pressedAt < PAUSE_MS;
    this.#pressedAt = now;
    const name = press.type === "key" ? press.name : undefined;
    const question = this.#questions.current();
    this.#isStillTyping &&= isQuick && question !== undefined && name !== "esc" && name !== "ctrl-c";
    if (name === "ctrl-l") this.#drawAnew();
    else if (name === "ctrl-z") this.#stop();
    else if (name === "ctrl-o") this.#showAll(question?.choice);
    else if (question === undefined || this.#isStillTyping) this.#input.press(press);
    else this.#questions.press(press);
    this.#drawSoon();
  }

  /** The open question, or the last call where the question is on the screen as a whole. */
  #showAll(choice: Choice | undefined): void {
    if (choice === undefined || (choice.detail === undefined && !this.#isQuestionCut)) {
      this.#options.handlers.unfold();
      return;
    }
    const { title, detail, options, grants } = choice;
    const labels = grants ? options.map(({ label }) => `- ${label}`) : [];
    this.print(`${[title, ...(detail === undefined ? [] : [detail]), ...labels].join("\n")}\n`);
  }

  #stop(): void {
    if (process.platform === "win32") return;
    this.#region.erase(this.#over);
    this.#over = [];
    this.#mode.leave();
    stopProcess();
    // Here again when it goes on, or at once where the system did not stop it.
    setImmediate(() => this.#goOn());
  }

  #goOn(): void {
    if (this.#isClosed) return;
    this.#mode.enter();
    this.#questions.wasAway();
    this.#drawAnew();
  }
}
