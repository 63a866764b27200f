import type { Colours } from "../../terminal.ts";

/**
 * Where a chat is shown. What is over goes into the terminal's own scrollback and is never touched again; a few lines at
 * the bottom are live and drawn anew: activity, the input, the status.
 */
export interface Screen {
  /** In columns, as the terminal is now. */
  readonly width: number;
  readonly colours: Colours;
  /** For good, above the live lines; longer lines are folded by the terminal itself. */
  print(text: string): void;
  /** The next piece of a text that is still coming: whole lines go into the scrollback, the rest is live. */
  stream(text: string): void;
  /** The text is complete; nothing where none was begun. */
  endStream(): void;
  /** Drops the live rest of a text: it comes anew. */
  dropStream(): void;
  /** Live lines above the input: what runs now. Drawn again as the width changes. */
  setActivity(lines: (width: number) => readonly string[]): void;
  /** The bottom line. */
  setStatus(line: (width: number) => string): void;
  /** Puts a text into the input line, for the person to send or to change. */
  suggest(text: string): void;
  /** Asks for one of several, in place of the input; undefined where the person declines (Esc, Ctrl-C). */
  choose(choice: Choice): Promise<Chosen | undefined>;
  /** Gives the terminal back as it was. */
  close(): void;
}

/** The room for some rows, and how they may look. */
export interface Look {
  readonly width: number;
  readonly height: number;
  readonly colours: Colours;
}

export interface Choice {
  readonly title: string;
  /** Shown above the options: a command, a diff. */
  readonly detail?: string;
  readonly options: readonly ChoiceOption[];
  readonly mayChooseSeveral?: boolean;
  /** Label of one more option, which takes words of the person's own. */
  readonly otherLabel?: string;
  /** What it means not to answer, for the hint: `declines` unless given. */
  readonly declining?: string;
  /** The answer may allow something: only a selection and Enter give it, never typed text. */
  readonly grants?: boolean;
  /** The question appears by itself, not after a command of the person. It ignores the keys of its first moment. */
  readonly appearsUnasked?: boolean;
  readonly signal?: AbortSignal;
}

export interface ChoiceOption {
  readonly label: string;
  readonly description?: string;
  /** Chooses it at once, such as `y`. */
  readonly key?: string;
}

export interface Chosen {
  /** Indexes into the options. */
  readonly picked: readonly number[];
  /** What they wrote for the other option. */
  readonly words?: string;
}

/** What the person does. */
export interface ScreenHandlers {
  /** Enter: a prompt or a command, never empty. Also while the agent works. */
  submitted(text: string): void;
  /** Ctrl-C, where it does not mean the input line or a choice. */
  interrupted(): void;
  /** Esc, where it does not mean a choice; what is written stays. */
  escaped(): void;
  /** Ctrl-D on an empty line, or the terminal is gone. */
  ended(): void;
  /** Ctrl-O. */
  unfold(): void;
  /** What may stand in place of a command that was begun, such as `/comp`. */
  complete(text: string): readonly string[];
}
