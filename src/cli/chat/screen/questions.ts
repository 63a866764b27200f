import { type ChoiceState, openChoice, pressInChoice } from "./choice.ts";
import type { KeyPress } from "./keys.ts";
import type { Choice, Chosen } from "./screen.ts";

/** Questions to the person, one at a time. */
export interface Questions {
  /** The one that stands open. */
  current(): ChoiceState | undefined;
  ask(choice: Choice): Promise<Chosen | undefined>;
  press(press: KeyPress): void;
  declineAll(): void;
}

interface Waiting {
  state: ChoiceState;
  answer(chosen: Chosen | undefined): void;
}

export function createQuestions(changed: () => void): Questions {
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
      const outcome = pressInChoice(one.state, press);
      if (outcome.type === "open") one.state = outcome.state;
      else end(one, outcome.type === "chosen" ? outcome.chosen : undefined);
    },
    declineAll: () => {
      for (const one of [...waiting]) end(one, undefined);
    },
  };
}
