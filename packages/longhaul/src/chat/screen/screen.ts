import type { Colors } from "../../terminal.ts";

/**
 * The display of a chat. Finished output goes into the terminal's scrollback and never changes. The screen
 * redraws a few live lines at the bottom: activity, the input, the status.
 */
export interface Screen {
  /** Current width of the terminal in columns. */
  readonly width: number;
  readonly colors: Colors;
  /** Prints final text above the live lines. The terminal wraps lines that are wider than the terminal. */
  print(text: string): void;
  /**
   * Adds a piece of a streamed text. Complete lines go into the scrollback, the incomplete last line is live.
   */
  stream(text: string): void;
  /** Ends the streamed text. Does nothing if there is none. */
  endStream(): void;
  /** Drops the incomplete last line of a streamed text, because the model will send the text again. */
  dropStream(): void;
  /**
   * Sets the live lines above the input that show current activity. The screen calls `lines` again when its
   * width changes.
   */
  setActivity(lines: (width: number) => readonly string[]): void;
  /** Sets the status line at the bottom. */
  setStatus(line: (width: number) => string): void;
  /** Puts a text into the input line, so that the person can edit or send the text. */
  suggest(text: string): void;
  /**
   * Shows a question instead of the input, and waits until the person selects an option. Returns undefined if
   * the person declines with Esc or Ctrl-C.
   */
  choose(choice: Choice): Promise<Chosen | undefined>;
  /** Restores the terminal. */
  close(): void;
}

/** Available space for rows, and their style. */
export interface Look {
  readonly width: number;
  readonly height: number;
  readonly colors: Colors;
}

export interface Choice {
  readonly title: string;
  /** Shown above the options, such as a command or a diff. */
  readonly detail?: string;
  readonly options: readonly ChoiceOption[];
  readonly mayChooseSeveral?: boolean;
  /** Label of an additional option that accepts the person's own text. */
  readonly otherLabel?: string;
  /** Effect of not answering, for the hint. Default: `declines`. */
  readonly declining?: string;
  /**
   * True if the answer may grant a permission. Typed text never grants the permission. Only a selected option
   * and Enter grant it.
   */
  readonly grants?: boolean;
  /**
   * True if the question appears without a command of the person. Such a question ignores keys in its first
   * half second.
   */
  readonly appearsUnasked?: boolean;
  readonly signal?: AbortSignal;
}

export interface ChoiceOption {
  readonly label: string;
  readonly description?: string;
  /** Key that selects the option directly, such as `y`. */
  readonly key?: string;
}

export interface Chosen {
  /** Indexes into the options. */
  readonly picked: readonly number[];
  /** Text that the person entered in the additional option for text. */
  readonly words?: string;
}

/** Functions that the screen calls for actions of the person. */
export interface ScreenHandlers {
  /**
   * The person sent a prompt or a command with Enter. The text is never empty, and the agent may still work.
   */
  submitted(text: string): void;
  /** The person pressed Ctrl-C, and neither the input line nor a question handled the key. */
  interrupted(): void;
  /** The person pressed Esc, and no question handled the key. The text in the input line stays. */
  escaped(): void;
  /** The person pressed Ctrl-D on an empty line, or the terminal was closed. */
  ended(): void;
  /** The person pressed Ctrl-O. */
  unfold(): void;
  /** Returns the completions of a partly typed command, such as `/comp`. */
  complete(text: string): readonly string[];
}
