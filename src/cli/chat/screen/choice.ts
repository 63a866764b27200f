import { type EditorState, EMPTY_EDITOR, edit, insert, paste, wholeText } from "./editor.ts";
import { EDITING_KEYS, type KeyPress } from "./keys.ts";
import type { Choice, Chosen } from "./screen.ts";

/** A question that stands open. */
export interface ChoiceState {
  readonly choice: Choice;
  /** Index of the option that Enter takes; behind the last one is that for words of one's own. */
  readonly at: number;
  readonly picked: ReadonlySet<number>;
  readonly words: EditorState;
}

export type ChoiceOutcome =
  | { readonly type: "open"; readonly state: ChoiceState }
  | { readonly type: "chosen"; readonly chosen: Chosen }
  | { readonly type: "declined" };

export const openChoice = (choice: Choice): ChoiceState => ({
  choice,
  at: 0,
  picked: new Set(),
  words: EMPTY_EDITOR,
});

const open = (state: ChoiceState): ChoiceOutcome => ({ type: "open", state });

export const isAtWords = ({ choice, at }: ChoiceState): boolean =>
  choice.otherLabel !== undefined && at === choice.options.length;

const countOf = ({ options, otherLabel }: Choice): number =>
  options.length + (otherLabel === undefined ? 0 : 1);

/** What becomes of it when a key is pressed. */
export function pressInChoice(state: ChoiceState, press: KeyPress): ChoiceOutcome {
  const name = press.type === "key" ? press.name : undefined;
  if (name === "ctrl-c" && state.words.text !== "") return open({ ...state, words: EMPTY_EDITOR });
  if (name === "esc" || name === "ctrl-c") return { type: "declined" };
  if (name === "enter") return accept(state);
  if (name === "up" || name === "ctrl-p" || name === "shift-tab") return move(state, -1);
  if (name === "down" || name === "ctrl-n" || name === "tab") return move(state, 1);
  if (isAtWords(state)) return open({ ...state, words: pressInWords(state.words, press) });
  return press.type === "text" ? pressLetter(state, press.text) : open(state);
}

function move(state: ChoiceState, by: number): ChoiceOutcome {
  const count = Math.max(1, countOf(state.choice));
  return open({ ...state, at: (state.at + by + count) % count });
}

function pressInWords(words: EditorState, press: KeyPress): EditorState {
  if (press.type === "text") return insert(words, press.text);
  if (press.type === "paste") return paste(words, press.text);
  if (press.name === "alt-enter" || press.name === "ctrl-j") return insert(words, "\n");
  const how = EDITING_KEYS[press.name];
  return how === undefined ? words : edit(words, how);
}

function pressLetter(state: ChoiceState, letter: string): ChoiceOutcome {
  const { options, mayChooseSeveral } = state.choice;
  if (letter === " ") return mayChooseSeveral ? toggle(state, state.at) : open(state);
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
  const { at } = state;
  if (isAtWords(state) && words === "" && state.picked.size === 0) return open(state);
  if (countOf(state.choice) === 0) return { type: "declined" };
  if (!state.choice.mayChooseSeveral) {
    return { type: "chosen", chosen: isAtWords(state) ? { picked: [], words } : { picked: [at] } };
  }
  const isNothing = state.picked.size === 0 && words === "";
  const picked = isNothing ? [at] : [...state.picked].sort((a, b) => a - b);
  return { type: "chosen", chosen: words === "" ? { picked } : { picked, words } };
}
