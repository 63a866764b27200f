import {
  type ChoiceState,
  EARLY_MS,
  ignoresEarlyKeys,
  ignoring,
  isRefusal,
  openChoice,
  pressInChoice,
} from "./choice.ts";
import type { KeyPress } from "./keys.ts";
import type { Choice, Chosen } from "./screen.ts";

/** Questions to the person, one at a time. */
export interface Questions {
  /** The one that stands open. */
  current(): ChoiceState | undefined;
  ask(choice: Choice): Promise<Chosen | undefined>;
  press(press: KeyPress): void;
  /** The screen shows the current question as it is now. */
  drawn(): void;
  /** The screen was away: what was selected before counts no more, and the half second starts again. */
  wasAway(): void;
  declineAll(): void;
}

export interface QuestionsOptions {
  changed(): void;
  /** In milliseconds, from any moment on. */
  now(): number;
}

interface Waiting {
  state: ChoiceState;
  /** The person sees it since then, and with this option selected. Undefined: the screen did not show it yet. */
  shown: { readonly since: number; readonly at: number | undefined } | undefined;
  /** The newest key. */
  pressedAt: number;
  answer(chosen: Chosen | undefined): void;
}

/** People look before they confirm. Bytes of a paste, or of a program that types, come faster. */
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

/** The person cannot mean the question with this key: they have just got it, or do not see yet what Enter would take. */
function isTooEarly({ state, shown, pressedAt }: Waiting, press: KeyPress, now: number): boolean {
  if (isRefusal(press) || !ignoresEarlyKeys(state.choice)) return false;
  if (shown === undefined || now - shown.since < EARLY_MS) return true;
  const isEnter = press.type === "key" && press.name === "enter";
  return state.choice.grants === true && isEnter && (shown.at !== state.at || now - pressedAt < QUIET_MS);
}
