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
const colors = createColors(false);

/** Presses keys, given by their names or as single characters. */
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

describe("keys in a question with options", () => {
  it("a question accepts an option by arrow keys and Enter, by its number, or by its letter", () => {
    expect(pressed(choice, "enter")).toEqual(chosen(0));
    expect(pressed(choice, "down", "down", "enter")).toEqual(chosen(2));
    expect(pressed(choice, "up", "enter")).toEqual(chosen(2));
    expect(pressed(choice, "2")).toEqual(chosen(1));
    expect(pressed(choice, "N")).toEqual(chosen(2));
    expect(pressed(choice, "9").type).toBe("open");
    expect(pressed(choice, "x").type).toBe("open");
  });

  it("Esc and Ctrl-C decline a question", () => {
    expect(pressed(choice, "esc")).toEqual({ type: "declined" });
    expect(pressed(choice, "ctrl-c")).toEqual({ type: "declined" });
  });

  it("accepts free text as an answer, and letters and digits in that text select no option", () => {
    const words = { type: "chosen", chosen: { picked: [], words: "n1 y" } };
    expect(pressed(withWords, "4", "n", "1", " ", "y", "enter")).toEqual(words);
    expect(pressed(withWords, "up", "enter").type).toBe("open");
    expect(pressed(withWords, "4", "n", "ctrl-c", "enter").type).toBe("open");
    expect(pressed(withWords, "4", "n", "up", "enter")).toEqual(chosen(2));
  });

  it("accepts several options, selected by space or number, together with free text", () => {
    expect(pressed(several, " ", "3", "enter")).toEqual(chosen(0, 2));
    expect(pressed(several, " ", " ", "down", "enter")).toEqual(chosen(1));
    expect(pressed(several, "3", "4", "o", "k", "enter")).toEqual({
      type: "chosen",
      chosen: { picked: [2], words: "ok" },
    });
  });
});

const grant: Choice = { ...withWords, grants: true, declining: "says no and stops" };

describe("keys in a permission question", () => {
  it("a permission question has no selected option at first, and ignores Enter until an option is selected", () => {
    expect(openChoice(grant).at).toBeUndefined();
    expect(open(grant, "enter", "enter").at).toBeUndefined();
  });

  it("a permission question accepts an option by arrow key and Enter", () => {
    expect(pressed(grant, "down", "enter")).toEqual(chosen(0));
    expect(pressed(grant, "down", "down", "up", "down", "enter")).toEqual(chosen(1));
    expect(pressed(grant, "up", "up", "enter")).toEqual(chosen(2));
  });

  it("arrow keys in a permission question stop at the first and the last option", () => {
    expect(open(grant, "down", "up", "up").at).toBe(0);
    expect(open(grant, "up", "down", "down").at).toBe(3);
  });

  it.each(["y", "1", " ", "ctrl-j", "tab", "shift-tab", "left", "backspace", "alt-enter"])(
    "the key %j clears the selection of a permission question, so that the next Enter is ignored",
    (key) => {
      expect(open(grant, "down", key, "enter")).toMatchObject({ at: undefined, hasIgnored: true });
    },
  );

  it("a permission question accepts free text only in its text option, and the text grants nothing", () => {
    expect(pressed(grant, "up", "n", "o", " ", "1", "enter")).toEqual({
      type: "chosen",
      chosen: { picked: [], words: "no 1" },
    });
    expect(pressed(grant, "up", "enter").type).toBe("open");
  });

  it("Esc and Ctrl-C decline a permission question", () => {
    expect(pressed(grant, "w", "esc")).toEqual({ type: "declined" });
    expect(pressed(grant, "down", "ctrl-c")).toEqual({ type: "declined" });
  });

  it("never grants a permission through typed or pasted text", () => {
    const typed = fc.oneof(
      fc
        .string({ unit: "grapheme", minLength: 1, maxLength: 1 })
        .map((text): KeyPress => ({ type: "text", text })),
      fc.constantFrom("y", "a", "n", "1", "2", " ").map((text): KeyPress => ({ type: "text", text })),
      fc
        .oneof(fc.string(), fc.constantFrom("what", "always", "1\n", "\u001b[B\r"))
        .map((text): KeyPress => ({ type: "paste", text })),
      fc
        .constantFrom(
          ...[
            "enter",
            "ctrl-j",
            "alt-enter",
            "tab",
            "shift-tab",
            "space",
            "esc",
            "ctrl-c",
            "ctrl-d",
            "ctrl-y",
          ],
          ...["left", "right", "home", "end", "backspace", "delete", "pageup", "pagedown", "f1"],
        )
        .map((name): KeyPress => ({ type: "key", name })),
    );
    fc.assert(
      fc.property(fc.array(typed, { maxLength: 40 }), (presses) => {
        let outcome: ChoiceOutcome = { type: "open", state: openChoice(grant) };
        for (const press of presses) {
          if (outcome.type === "open") outcome = pressInChoice(outcome.state, press);
        }
        expect(outcome.type).not.toBe("chosen");
      }),
    );
  });

  it("grants a permission only on Enter directly after an arrow key", () => {
    const selecting = ["up", "down"];
    const key = fc.constantFrom("enter", "tab", "y", "1", " ", "ctrl-j", "left", ...selecting);
    fc.assert(
      fc.property(fc.array(key, { maxLength: 40 }), (keys) => {
        let outcome: ChoiceOutcome = { type: "open", state: openChoice(grant) };
        for (const [index, one] of keys.entries()) {
          if (outcome.type !== "open") break;
          outcome = pressInChoice(outcome.state, keyPress(one));
          if (outcome.type === "chosen" && outcome.chosen.picked.length > 0) {
            expect([selecting.includes(keys[index - 1] ?? ""), one]).toEqual([true, "enter"]);
          }
        }
      }),
    );
  });
});

describe("choiceRows, the rows of a question", () => {
  const shown = (state: ChoiceState, width = 40, height = 20): readonly string[] =>
    choiceRows(state, { width, height, colors }).rows;

  it("shows the title, detail and options of a question, and a hint on how to answer", () => {
    expect(shown(open(several, " ", "down"))).toEqual([
      "Run it?",
      "  npm test",
      "  1. [x] Yes (y)",
      "> 2. [ ] Always",
      "         commands that begin with npm",
      "  3. [ ] No (n)",
      "  4. Instead",
      "Space selects, Enter accepts · Esc declines",
    ]);
  });

  it("says in the hint of a question what Esc does", () => {
    const asked = openChoice({ ...choice, declining: "says no and stops" });
    expect(shown(asked).at(-1)).toBe("Enter or a number · Esc says no and stops");
  });

  it("says how many lines are hidden if the detail of a question is too long", () => {
    const long = { ...choice, detail: Array.from({ length: 30 }, (_, line) => `line ${line}`).join("\n") };
    const rows = shown(openChoice(long), 40, 12);
    expect(rows).toHaveLength(12);
    expect(rows.slice(1, 7)).toEqual([
      "  line 0",
      "  line 1",
      "  line 2",
      "  … 25 lines left out, Ctrl-O shows all",
      "  line 28",
      "  line 29",
    ]);
  });

  it("shows a permission question without keys and numbers, and marks each line of its detail", () => {
    const rows = [
      "Run it?",
      "│ npm test",
      "  Yes",
      "  Always",
      "  commands that begin with npm",
      "  No",
      "  Instead",
    ];
    expect(shown(openChoice(grant))).toEqual([...rows, "↑ ↓, then Enter · Esc says no and stops"]);
    expect(shown(open(grant, "w"))).toEqual([...rows, "Typing has no effect. ↑ ↓, then Enter"]);
    expect(shown(open(grant, "down"))[2]).toBe("> Yes");
    expect(choiceRows(openChoice(grant), { width: 40, height: 20, colors }).cursor.row).toBe(rows.length);
    for (const state of [openChoice(grant), open(grant, "w")])
      expect(textWidth(shown(state).at(-1) ?? "")).toBeLessThanOrEqual(40);
  });

  const MILLION = 1_000_000;
  const whole = (asked: Partial<Choice>, height = 23): { text: string; isCut: boolean } => {
    const { rows, isCut } = choiceRows(openChoice({ ...grant, ...asked }), { width: 80, height, colors });
    expect(rows.length).toBeLessThanOrEqual(height);
    return { text: rows.join("\n"), isCut };
  };

  it.each([3, 6, 9, 23])(
    "shows both ends of a question's long title on a terminal with %i rows, with an ellipsis between the ends",
    (height) => {
      const { text, isCut } = whole(
        { title: `Read /begin/${"x/".repeat(MILLION)}end/id_rsa`, detail: "d" },
        height,
      );
      expect(text).toContain("Read /begin/");
      expect(text).toContain("end/id_rsa");
      expect(text).toContain("…");
      expect(isCut).toBe(true);
      if (height >= 9) expect(text).toContain("lines left out, Ctrl-O shows all");
    },
  );

  it.each([
    ["empty lines", "\n"],
    ["blanks", " "],
    ["tabs", "\t"],
    ["lines", "echo\n"],
    ["letters", "x"],
    ["wide letters", "日"],
  ])("shows the end of a command even if a million %s precede it", (_, filler) => {
    const { text, isCut } = whole({ detail: `echo start ${filler.repeat(MILLION)}; rm -rf ~` });
    expect(text).toContain("│ echo start");
    expect(text).toMatch(/; rm -rf ~$/m);
    expect(text).toMatch(/… [\d,]+ (?:empty )?lines/);
    expect(isCut).toBe(true);
  });

  it("shows a line of a command that is hidden between many empty lines", () => {
    const detail = `echo start${"\n".repeat(1000)}rm -rf ~${"\n".repeat(1000)}echo end`;
    expect(whole({ detail }).text).toContain(
      "│ echo start\n  … 999 empty lines\n│ rm -rf ~\n  … 999 empty lines\n│ echo end",
    );
  });

  it("shows all options of a question, and both ends of a long path in one of the options", () => {
    const label = `Yes, and don't ask again for reading /${"x/".repeat(MILLION)}id_rsa`;
    const { text, isCut } = whole({ options: [{ label: "Yes" }, { label }, { label: "No" }] });
    expect(text).toMatch(
      /^ {2}Yes\n {2}Yes, and don't ask again for reading\n {2}…\n.*id_rsa\n {2}No\n {2}Instead\n/m,
    );
    expect(isCut).toBe(true);
  });

  it("places the cursor after the free text of a question", () => {
    const { rows, cursor } = choiceRows(open(withWords, "4", "h", "i"), { width: 40, height: 20, colors });
    expect(rows[cursor.row]).toBe("> 4. Instead: hi");
    expect(cursor.before).toBe("> 4. Instead: hi");
  });

  it("puts the label of the text option above the free text on a narrow terminal", () => {
    const asked = { ...grant, otherLabel: "No, and say what to do instead" };
    const { rows, cursor } = choiceRows(open(asked, "up", "h", "i"), { width: 44, height: 20, colors });
    expect(rows.slice(-3, -1)).toEqual(["> No, and say what to do instead:", "  hi"]);
    expect(cursor).toEqual({ row: rows.length - 2, before: "  hi" });
  });

  it("fits a question into a terminal of any size, and keeps the selected option visible", () => {
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
          const { rows, cursor } = choiceRows(state, { ...look, colors });
          expect(rows.length).toBeLessThanOrEqual(Math.max(2, look.height));
          expect(cursor.row).toBeLessThan(rows.length);
          expect(rows[cursor.row]).toMatch(new RegExp(`^> ${(state.at ?? 0) + 1}\\.`));
          const granting = open(
            { ...asked, otherLabel: "Instead", grants: true },
            ...Array(down).fill("down"),
          );
          const grantRows = choiceRows(granting, { ...look, colors });
          expect(grantRows.rows.length).toBeLessThanOrEqual(Math.max(2, look.height));
          expect(grantRows.cursor.row).toBeLessThan(grantRows.rows.length);
          if (down > 0 && look.height > 3) expect(grantRows.rows.join("\n")).toMatch(/^>/m);
          const hint = look.height > 3 ? rows.slice(0, -1) : rows;
          for (const row of hint) expect(textWidth(row)).toBeLessThanOrEqual(Math.max(look.width, 40));
        },
      ),
    );
  });
});
