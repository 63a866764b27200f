import { type EditorState, EMPTY_EDITOR, edit, insert, paste, wholeText } from "./editor.ts";
import { EDITING_KEYS, type KeyPress } from "./keys.ts";
import type { Choice, Chosen } from "./screen.ts";

/** State of an open question. */
export interface ChoiceState {
  readonly choice: Choice;
  /**
   * Index of the option that Enter accepts. The index after the last option is the text option. Undefined if
   * no option is selected.
   */
  readonly at: number | undefined;
  readonly picked: ReadonlySet<number>;
  readonly words: EditorState;
  /** True if the question ignored the last key, such as a typed letter. */
  readonly hasIgnored: boolean;
}

export type ChoiceOutcome =
  | { readonly type: "open"; readonly state: ChoiceState }
  | { readonly type: "chosen"; readonly chosen: Chosen }
  | { readonly type: "declined" };

export const openChoice = (choice: Choice): ChoiceState => ({
  choice,
  at: choice.grants ? undefined : 0,
  picked: new Set(),
  words: EMPTY_EDITOR,
  hasIgnored: false,
});

/**
 * Keys that a person presses within this time after a question appears were meant for the input line. Nobody
 * reads and answers a question in half a second.
 */
export const EARLY_MS = 500;

export const ignoresEarlyKeys = ({ grants, appearsUnasked }: Choice): boolean =>
  grants === true || appearsUnasked === true;

const open = (state: ChoiceState): ChoiceOutcome => ({ type: "open", state });

export const isAtWords = ({ choice, at }: ChoiceState): boolean =>
  choice.otherLabel !== undefined && at === choice.options.length;

const countOf = ({ options, otherLabel }: Choice): number =>
  options.length + (otherLabel === undefined ? 0 : 1);

/** Returns the question's state after a key. */
export function pressInChoice(state: ChoiceState, press: KeyPress): ChoiceOutcome {
  const name = press.type === "key" ? press.name : undefined;
  if (name === "ctrl-c" && state.words.text !== "") return open({ ...state, words: EMPTY_EDITOR });
  if (isRefusal(press)) return { type: "declined" };
  if (state.choice.grants) return pressInGrant(state, press);
  if (name === "enter") return accept(state);
  if (name === "up" || name === "ctrl-p" || name === "shift-tab") return move(state, -1);
  if (name === "down" || name === "ctrl-n" || name === "tab") return move(state, 1);
  if (isAtWords(state)) return open({ ...state, words: pressInWords(state.words, press) });
  return press.type === "text" ? pressLetter(state, press.text) : open(state);
}

/** Returns true for Esc and Ctrl-C. They never grant permission, so a question accepts them at any moment. */
const isRefusal = (press: KeyPress): boolean =>
  press.type === "key" && (press.name === "esc" || press.name === "ctrl-c");

/**
 * Returns the state after an ignored key. In a permission question, clears the selection, unless the text
 * option is selected.
 */
const ignoring = (state: ChoiceState): ChoiceState => ({
  ...state,
  at: state.choice.grants && !isAtWords(state) ? undefined : state.at,
  hasIgnored: true,
});

/**
 * Handles a key in a permission question. Enter answers only while an option is selected, and only arrow keys
 * select an option. If the text option is not selected, all other keys clear the selection, because the
 * person is typing something else. Tab clears it too, because Tab completes commands and occurs in pasted
 * code.
 */
function pressInGrant(state: ChoiceState, press: KeyPress): ChoiceOutcome {
  const name = press.type === "key" ? press.name : undefined;
  if (name === "enter" && state.at !== undefined) return accept(state);
  // Only arrow keys select. Terminals remove the escape sequences of arrow keys from a paste, but a paste can
  // contain the control characters of Ctrl-P and Ctrl-N.
  if (name === "up") return select(state, -1);
  if (name === "down") return select(state, 1);
  if (isAtWords(state)) return open({ ...state, words: pressInWords(state.words, press) });
  return open(ignoring(state));
}

/**
 * Moves the selection. Stops at both ends. Otherwise, one key press too many would lead from the text option
 * to "Yes".
 */
function select(state: ChoiceState, by: number): ChoiceOutcome {
  const last = countOf(state.choice) - 1;
  const from = state.at ?? (by > 0 ? -1 : last + 1);
  return open({ ...state, at: Math.min(last, Math.max(0, from + by)), hasIgnored: false });
}

function move(state: ChoiceState, by: number): ChoiceOutcome {
  const count = Math.max(1, countOf(state.choice));
  return open({ ...state, at: ((state.at ?? 0) + by + count) % count });
}

function pressInWords(words: EditorState, press: KeyPress): EditorState {
  if (press.type === "text") return insert(words, press.text);
  if (press.type === "paste") return paste(words, press.text);
  if (press.name === "alt-enter" || press.name === "ctrl-j") return insert(words, "\n");
  const how = EDITING_KEYS.get(press.name);
  return how === undefined ? words : edit(words, how);
}

function pressLetter(state: ChoiceState, letter: string): ChoiceOutcome {
  const { options, mayChooseSeveral } = state.choice;
  if (letter === " ") return mayChooseSeveral ? toggle(state, state.at ?? 0) : open(state);
  const byKey = options.findIndex(({ key }) => key?.toLowerCase() === letter.toLowerCase());
  const at = byKey >= 0 ? byKey : /^[1-9]$/.test(letter) ? Number(letter) - 1 : -1;
  if (at < 0 || at >= countOf(state.choice)) return open(state);
  const there = { ...state, at };
  if (isAtWords(there)) return open(there);
  return mayChooseSeveral ? toggle(there, at) : { type: "chosen", chosen: { picked: [at] } };
}

function toggle(state: ChoiceState, at: number): ChoiceOutcome {
  const picked = new Set(state.picked);
  if (!picked.delete(at)) picked.add(at);
  return open({ ...state, picked });
}

function accept(state: ChoiceState): ChoiceOutcome {
  const words = wholeText(state.words).trim();
  const { at = 0 } = state;
  if (isAtWords(state) && words === "" && state.picked.size === 0) return open(state);
  if (countOf(state.choice) === 0) return { type: "declined" };
  if (!state.choice.mayChooseSeveral) {
    return { type: "chosen", chosen: isAtWords(state) ? { picked: [], words } : { picked: [at] } };
  }
  const isNothing = state.picked.size === 0 && words === "";
  const picked = isNothing ? [at] : [...state.picked].sort((a, b) => a - b);
  return { type: "chosen", chosen: words === "" ? { picked } : { picked, words } };
}

/** Asks the person one question at a time. */
export interface Questions {
  /** Returns the open question. */
  current(): ChoiceState | undefined;
  ask(choice: Choice): Promise<Chosen | undefined>;
  press(press: KeyPress): void;
  /** Called when the screen has drawn the current question. */
  drawn(): void;
  /**
   * Called when the screen was suspended. Clears the selection of a permission question, and ignores keys for
   * another half second.
   */
  wasAway(): void;
  declineAll(): void;
}

interface QuestionsOptions {
  changed(): void;
  /** Returns the time of a monotonic clock in milliseconds. */
  now(): number;
}

interface Waiting {
  state: ChoiceState;
  /**
   * `since` is the time when the screen first showed the question. `at` is the selection that the screen
   * shows. Undefined if the question was not shown yet.
   */
  shown: { readonly since: number; readonly at: number | undefined } | undefined;
  /** Time of the newest key. */
  pressedAt: number;
  answer(chosen: Chosen | undefined): void;
}

/**
 * Minimum time between the previous key and Enter. People look before they confirm. Keys of a paste or of a
 * program that types arrive faster than this.
 */
export const QUIET_MS = 100;

export function createQuestions({ changed, now }: QuestionsOptions): Questions {
  const waiting: Waiting[] = [];
  const end = (one: Waiting, chosen: Chosen | undefined): void => {
    const at = waiting.indexOf(one);
    if (at === -1) return;
    waiting.splice(at, 1);
    one.answer(chosen);
    changed();
  };
  return {
    current: () => waiting[0]?.state,
    ask: (choice) =>
      new Promise((resolve) => {
        const { signal } = choice;
        if (signal?.aborted) return resolve(undefined);
        const decline = (): void => end(one, undefined);
        const one: Waiting = {
          state: openChoice(choice),
          shown: undefined,
          pressedAt: Number.NEGATIVE_INFINITY,
          answer: (chosen) => {
            signal?.removeEventListener("abort", decline);
            resolve(chosen);
          },
        };
        signal?.addEventListener("abort", decline);
        waiting.push(one);
        changed();
      }),
    press: (press) => {
      const [one] = waiting;
      if (one === undefined) return;
      const isEarly = isTooEarly(one, press, now());
      one.pressedAt = now();
      if (isEarly) {
        one.state = ignoring(one.state);
        return;
      }
      const outcome = pressInChoice(one.state, press);
      if (outcome.type === "open") one.state = outcome.state;
      else end(one, outcome.type === "chosen" ? outcome.chosen : undefined);
    },
    drawn: () => {
      const [one] = waiting;
      if (one !== undefined) one.shown = { since: one.shown?.since ?? now(), at: one.state.at };
    },
    wasAway: () => {
      const [one] = waiting;
      if (one === undefined) return;
      one.shown = undefined;
      if (one.state.choice.grants) one.state = { ...one.state, at: undefined };
    },
    declineAll: () => {
      for (const one of [...waiting]) end(one, undefined);
    },
  };
}

/**
 * Returns true if the key cannot be an answer. The reason is that the question just appeared, that the screen
 * does not show its selection yet, or that Enter came too fast.
 */
function isTooEarly({ state, shown, pressedAt }: Waiting, press: KeyPress, now: number): boolean {
  if (isRefusal(press) || !ignoresEarlyKeys(state.choice)) return false;
  if (shown === undefined || now - shown.since < EARLY_MS) return true;
  const isEnter = press.type === "key" && press.name === "enter";
  return state.choice.grants === true && isEnter && (shown.at !== state.at || now - pressedAt < QUIET_MS);
}
