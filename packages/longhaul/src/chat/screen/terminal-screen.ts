import type { Colors } from "../../terminal.ts";
import { createQuestions, type Questions } from "./choice.ts";
import { choiceRows } from "./choice-rows.ts";
import { createInputLine, type InputLine } from "./input-line.ts";
import { type KeyPress, listenToKeys } from "./keys.ts";
import { createLiveRegion, type Frame, type LiveRegion, reflowOf } from "./live-region.ts";
import { PrintingScreen, type ScreenOptions } from "./printing-screen.ts";
import type { Choice, Chosen, Look, Screen } from "./screen.ts";
import { cutLine, safeLines } from "./styled-text.ts";
import { createTerminalMode, stopProcess, type TerminalMode, watchProcess } from "./terminal-mode.ts";

/** Default height for terminals that do not report their height. */
const USUAL_ROWS = 24;
/** Maximum share of the terminal for the input. A longer input shows the rows around the cursor. */
const INPUT_SHARE = 1 / 2;
/** A terminal with fewer rows has room only for the input. */
const MIN_HEIGHT_FOR_STATUS = 3;

/**
 * Pause after which a new question accepts keys. If a question appears while a person types, the next letters
 * are not an answer. Until the person pauses for this time, the keys are added to the input line.
 */
const PAUSE_MS = 700;

/** The screen of a terminal that can move its cursor and reports each key. */
export class TerminalScreen extends PrintingScreen implements Screen {
  readonly #mode: TerminalMode;
  readonly #region: LiveRegion;
  readonly #input: InputLine;
  readonly #questions: Questions;
  readonly #release: readonly (() => void)[];
  #activity: (width: number) => readonly string[] = () => [];
  #status: (width: number) => string = () => "";
  /** Finished lines that wait for the next drawing. */
  #over: string[] = [];
  /** Content of the last drawing, to skip a redraw without changes. */
  #drawn = "";
  /** True if the frame omits a part of the question. Ctrl-O shows the whole question. */
  #isQuestionCut = false;
  #isDue = false;
  #hasEnded = false;
  #isStillTyping = false;
  #pressedAt = 0;

  constructor(options: ScreenOptions) {
    super(options, true);
    const { input, output, environment } = options;
    this.#mode = createTerminalMode(input, output);
    this.#region = createLiveRegion({
      write: (text) => void output.write(text),
      columns: () => this.width,
      reflow: reflowOf(environment),
    });
    this.#input = createInputLine({ ...options.handlers, ended: () => this.#end() });
    this.#questions = createQuestions({ changed: () => this.#drawSoon(), now: options.now });
    this.#release = this.#listen();
    this.#mode.enter();
    input.resume();
    this.#drawSoon();
  }

  override dropStream(): void {
    super.dropStream();
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
    if (this.isClosed) return undefined;
    if (this.#questions.current() === undefined) this.#isStillTyping = !this.#input.isEmpty();
    return await this.#questions.ask(choice);
  }

  close(): void {
    if (this.isClosed) return;
    this.printLines(this.streamed.end());
    this.isClosed = true;
    this.#questions.declineAll();
    this.#region.erase(this.#over);
    this.#over = [];
    this.#mode.leave();
    for (const release of this.#release) release();
    this.options.input.pause();
  }

  protected printLines(lines: readonly string[]): void {
    if (this.isClosed) {
      for (const line of lines) this.options.output.write(`${line}\n`);
      return;
    }
    for (const line of lines) this.#over.push(line);
    this.#drawSoon();
  }

  /** Draws once for all changes of the current tick. */
  #drawSoon(): void {
    if (this.#isDue || this.isClosed) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      if (!this.isClosed) this.#draw();
    });
  }

  #draw(): void {
    const { width, colors } = this;
    const height = this.options.output.rows || USUAL_ROWS;
    const frame = this.#frame({ width, height, colors });
    const drawn = JSON.stringify([frame, width, height]);
    if (this.#over.length > 0 || drawn !== this.#drawn) {
      this.#region.draw(this.#over, frame);
      this.#over = [];
      this.#drawn = drawn;
    }
    this.#questions.drawn();
  }

  /**
   * Lays out the live rows from top to bottom: the streamed line, the activity, the input or a question, the
   * status. If they do not fit, the top is cut, because the person must see the input.
   */
  #frame({ width, height, colors }: Look): Frame {
    const one = (line: string): string =>
      cutLine(safeLines(line, colors.isColorSupported).lines.join(" "), width);
    const statusLine = height < MIN_HEIGHT_FOR_STATUS ? "" : one(this.#status(width));
    const status = statusLine === "" ? [] : [statusLine];
    const room = height - status.length;
    const question = this.#questions.current();
    const inputHeight = Math.max(1, Math.floor(room * INPUT_SHARE));
    const asked =
      question === undefined
        ? { ...this.#input.rows({ width, height: inputHeight, colors }), isCut: false }
        : choiceRows(question, { width, height: room, colors });
    this.#isQuestionCut = asked.isCut;
    const forActivity = room - asked.rows.length;
    const activity = lastOf(this.#activity(width).map(one), forActivity, colors);
    const above = [...this.streamed.rows(width, forActivity - activity.length), ...activity];
    return {
      rows: [...above, ...asked.rows.map((row) => cutLine(row, width)), ...status],
      cursor: { row: above.length + asked.cursor.row, before: cutLine(asked.cursor.before, width) },
    };
  }

  #redrawAll(): void {
    this.#drawn = "";
    this.#drawSoon();
  }

  #listen(): readonly (() => void)[] {
    const { input, output, handlers } = this.options;
    const redraw = (): void => this.#drawSoon();
    const end = (): void => this.#end();
    const gone = ["end", "close", "error"];
    output.on("resize", redraw);
    output.on("error", end);
    for (const name of gone) input.on(name, end);
    return [
      listenToKeys(input, (press) => this.#press(press)),
      watchProcess({
        continued: () => this.#resumeScreen(),
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
    this.options.handlers.ended();
  }

  #press(press: KeyPress): void {
    const now = this.options.now();
    const isQuick = now - this.#pressedAt < PAUSE_MS;
    this.#pressedAt = now;
    const name = press.type === "key" ? press.name : undefined;
    const question = this.#questions.current();
    this.#isStillTyping &&= isQuick && question !== undefined && name !== "esc" && name !== "ctrl-c";
    if (name === "ctrl-l") this.#redrawAll();
    else if (name === "ctrl-z") this.#stop();
    else if (name === "ctrl-o") this.#showAll(question?.choice);
    else if (question === undefined || this.#isStillTyping) this.#input.press(press);
    else this.#questions.press(press);
    this.#drawSoon();
  }

  /**
   * Shows the open question in full. If no question is open, shows the last call. Also shows the last call if
   * the open question has no detail and is completely visible.
   */
  #showAll(choice: Choice | undefined): void {
    if (choice === undefined || (choice.detail === undefined && !this.#isQuestionCut)) {
      this.options.handlers.unfold();
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
    // Runs when the process continues, or immediately if the system did not stop the process.
    setImmediate(() => this.#resumeScreen());
  }

  #resumeScreen(): void {
    if (this.isClosed) return;
    this.#mode.enter();
    this.#questions.wasAway();
    this.#redrawAll();
  }
}

function lastOf(lines: readonly string[], room: number, colors: Colors): readonly string[] {
  if (lines.length <= room) return lines;
  if (room < 1) return [];
  const hidden = lines.length - room + 1;
  return [colors.dim(`… ${hidden} more`), ...lines.slice(hidden)];
}
