import { beforeEach, describe, expect, it, vi } from "vitest";
import { createQuestions, EARLY_MS, QUIET_MS, type Questions } from "./choice.ts";
import type { KeyPress } from "./keys.ts";
import type { Choice, Chosen } from "./screen.ts";

const grant: Choice = { title: "Run it?", options: [{ label: "Yes" }, { label: "No" }], grants: true };
const byModel: Choice = {
  title: "Which one?",
  options: [{ label: "A" }, { label: "B" }],
  appearsUnasked: true,
};
const key = (name: string): KeyPress => ({ type: "key", name });
const text = (letter: string): KeyPress => ({ type: "text", text: letter });

let clock: number;
let questions: Questions;
let answers: (Chosen | undefined)[];

beforeEach(() => {
  clock = 0;
  answers = [];
  questions = createQuestions({ changed: () => undefined, now: () => clock });
});

function ask(...choices: readonly Choice[]): void {
  for (const choice of choices) void questions.ask(choice).then((chosen) => answers.push(chosen));
}

/**
 * Presses keys as a person does. After each key, the screen shows its effect, and some time passes before the
 * next key.
 */
function press(...presses: readonly KeyPress[]): void {
  for (const one of presses) {
    questions.press(one);
    questions.drawn();
    clock += QUIET_MS;
  }
}

function seenFor(ms: number): void {
  questions.drawn();
  clock += ms;
}

const answered = (...expected: readonly (Chosen | undefined)[]): Promise<void> =>
  vi.waitFor(() => expect(answers).toEqual(expected));

describe("permission questions on the screen", () => {
  it("ignores keys until a permission question has been visible for half a second", async () => {
    ask(grant);
    clock += 10 * EARLY_MS;
    questions.press(key("down"));
    expect(questions.current()).toMatchObject({ at: undefined, hasIgnored: true });
    seenFor(EARLY_MS - 1);
    press(key("down"), key("enter"));
    expect(questions.current()).toMatchObject({ at: undefined, hasIgnored: true });
    seenFor(1);
    press(key("down"), key("enter"));
    await answered({ picked: [0] });
  });

  it("ignores keys for another half second when a permission question follows another question", async () => {
    ask(grant, grant);
    seenFor(EARLY_MS);
    press(key("down"), key("enter"), key("down"), key("enter"), key("enter"));
    await answered({ picked: [0] });
    expect(questions.current()).toMatchObject({ at: undefined });
    seenFor(EARLY_MS);
    press(key("up"), key("enter"));
    await answered({ picked: [0] }, { picked: [1] });
  });

  it("a permission question ignores an Enter that follows another key faster than a person types", async () => {
    ask(grant);
    seenFor(EARLY_MS);
    for (const name of ["down", "up", "up", "enter"]) {
      questions.press(key(name));
      questions.drawn();
      clock += QUIET_MS - 1;
    }
    expect(questions.current()).toMatchObject({ at: undefined, hasIgnored: true });
    press(key("down"), key("enter"));
    await answered({ picked: [0] });
  });

  it("a permission question loses its selection and ignores keys again after the screen was hidden", async () => {
    ask(grant);
    seenFor(EARLY_MS);
    press(key("down"));
    questions.wasAway();
    press(key("enter"));
    expect(questions.current()).toMatchObject({ at: undefined });
    press(key("down"), key("enter"));
    expect(questions.current()).toMatchObject({ at: undefined });
    seenFor(EARLY_MS);
    press(key("down"), key("enter"));
    await answered({ picked: [0] });
  });

  it("a permission question ignores Enter until the screen has shown the selection", async () => {
    ask(grant);
    seenFor(EARLY_MS);
    questions.press(key("down"));
    questions.press(key("enter"));
    expect(questions.current()).toMatchObject({ at: undefined, hasIgnored: true });
    press(key("down"), key("enter"));
    await answered({ picked: [0] });
  });

  it.each(["esc", "ctrl-c"])(
    "declines a permission question on %s at once, even before the question is visible",
    async (name) => {
      ask(grant);
      questions.press(key(name));
      await answered(undefined);
    },
  );
});

describe("questions that the model asks", () => {
  it("ignores keys for half a second after a model's question appears, and then accepts a number", async () => {
    ask(byModel);
    seenFor(EARLY_MS - 1);
    for (const one of [text("2"), key("enter")]) questions.press(one);
    expect(questions.current()).toMatchObject({ at: 0 });
    seenFor(1);
    press(text("2"));
    await answered({ picked: [1] });
  });
});

it("accepts an answer at once if a command of the person caused the question", async () => {
  ask({ ...byModel, appearsUnasked: false });
  press(key("enter"));
  await answered({ picked: [0] });
});
