import fc from "fast-check";
import { createColors } from "picocolors";
import { describe, expect, it } from "vitest";
import { textWidth } from "../../view/text-width.ts";
import { type ChoiceOutcome, type ChoiceState, openChoice, pressInChoice } from "./choice.ts";
import { choiceRows } from "./choice-rows.ts";
import type { KeyPress } from "./keys.ts";
import type { Choice } from "./screen.ts";

const choice: Choice = {
  title: "Run it?",
  detail: "npm test",
  options: [
    { label: "Yes", key: "y" },
    { label: "Always", description: "commands that begin with npm" },
    { label: "No", key: "n" },
  ],
};
const withWords: Choice = { ...choice, otherLabel: "Instead" };
const several: Choice = { ...withWords, mayChooseSeveral: true };
const colours = createColors(false);

/** Names of keys, or single characters. */
function pressed(asked: Choice, ...presses: readonly string[]): ChoiceOutcome {
  let outcome: ChoiceOutcome = { type: "open", state: openChoice(asked) };
  for (const press of presses) {
    if (outcome.type !== "open") throw new Error(`It was over before ${press}.`);
    outcome = pressInChoice(outcome.state, keyPress(press));
  }
  return outcome;
}

const keyPress = (press: string): KeyPress =>
  press.length > 1 ? { type: "key", name: press } : { type: "text", text: press };

const chosen = (...picked: readonly number[]): ChoiceOutcome => ({ type: "chosen", chosen: { picked } });

function open(asked: Choice, ...presses: readonly string[]): ChoiceState {
  const outcome = pressed(asked, ...presses);
  if (outcome.type !== "open") throw new Error("It is over.");
  return outcome.state;
}

describe("a choice", () => {
  it("is made by arrows and Enter, a number, or the letter of an option", () => {
    expect(pressed(choice, "enter")).toEqual(chosen(0));
    expect(pressed(choice, "down", "down", "enter")).toEqual(chosen(2));
    expect(pressed(choice, "up", "enter")).toEqual(chosen(2));
    expect(pressed(choice, "2")).toEqual(chosen(1));
    expect(pressed(choice, "N")).toEqual(chosen(2));
    expect(pressed(choice, "9").type).toBe("open");
    expect(pressed(choice, "x").type).toBe("open");
  });

  it("is declined by Esc and Ctrl-C", () => {
    expect(pressed(choice, "esc")).toEqual({ type: "declined" });
    expect(pressed(choice, "ctrl-c")).toEqual({ type: "declined" });
  });

  it("takes words of one's own, in which letters and digits are text", () => {
    const words = { type: "chosen", chosen: { picked: [], words: "n1 y" } };
    expect(pressed(withWords, "4", "n", "1", " ", "y", "enter")).toEqual(words);
    expect(pressed(withWords, "up", "enter").type).toBe("open");
    expect(pressed(withWords, "4", "n", "ctrl-c", "enter").type).toBe("open");
    expect(pressed(withWords, "4", "n", "up", "enter")).toEqual(chosen(2));
  });

  it("takes several, by space or numbers, and words beside them", () => {
    expect(pressed(several, " ", "3", "enter")).toEqual(chosen(0, 2));
    expect(pressed(several, " ", " ", "down", "enter")).toEqual(chosen(1));
    expect(pressed(several, "3", "4", "o", "k", "enter")).toEqual({
      type: "chosen",
      chosen: { picked: [2], words: "ok" },
    });
  });
});

describe("a choice in rows", () => {
  const shown = (state: ChoiceState, width = 40, height = 20): readonly string[] =>
    choiceRows(state, { width, height, colours }).rows;

  it("has title, detail, options and how to answer", () => {
    expect(shown(open(several, " ", "down"))).toEqual([
      "Run it?",
      "  npm test",
      "  1. [x] Yes (y)",
      "> 2. [ ] Always",
      "         commands that begin with npm",
      "  3. [ ] No (n)",
      "  4. Instead",
      "Space picks, Enter accepts, Esc declines",
    ]);
  });

  it("says what it means not to answer", () => {
    const asked = openChoice({ ...choice, declining: "says no and stops" });
    expect(shown(asked).at(-1)).toBe("Enter or a number; Esc says no and stops");
  });

  it("says how much of a long detail is not shown", () => {
    const long = { ...choice, detail: Array.from({ length: 30 }, (_, line) => `line ${line}`).join("\n") };
    const rows = shown(openChoice(long), 40, 12);
    expect(rows).toHaveLength(12);
    expect(rows.slice(1, 7)).toEqual([
      ...["line 0", "line 1", "line 2", "line 3", "line 4"].map((line) => `  ${line}`),
      "  … 25 lines more, Ctrl-O shows all",
    ]);
  });

  it("puts the cursor where words are written", () => {
    const { rows, cursor } = choiceRows(open(withWords, "4", "h", "i"), { width: 40, height: 20, colours });
    expect(rows[cursor.row]).toBe("> 4. Instead: hi");
    expect(cursor.before).toBe("> 4. Instead: hi");
  });

  it("fits into any terminal, with the option that Enter takes in sight", () => {
    const label = fc.stringMatching(/^[a-z ]{1,60}$/);
    const options = fc.array(fc.record({ label, description: label }), { minLength: 1, maxLength: 12 });
    const detail = fc.array(label, { maxLength: 20 }).map((lines) => lines.join("\n"));
    const size = { width: fc.integer({ min: 16, max: 60 }), height: fc.integer({ min: 1, max: 24 }) };
    fc.assert(
      fc.property(
        fc.record({ title: label, detail, options }),
        fc.record(size),
        fc.nat(40),
        (asked, look, down) => {
          const state = open(asked, ...Array.from({ length: down }, () => "down"));
          const { rows, cursor } = choiceRows(state, { ...look, colours });
          expect(rows.length).toBeLessThanOrEqual(Math.max(2, look.height));
          expect(cursor.row).toBeLessThan(rows.length);
          expect(rows[cursor.row]).toMatch(new RegExp(`^> ${state.at + 1}\\.`));
          const hint = look.height > 3 ? rows.slice(0, -1) : rows;
          for (const row of hint) expect(textWidth(row)).toBeLessThanOrEqual(Math.max(look.width, 40));
        },
      ),
    );
  });
});
