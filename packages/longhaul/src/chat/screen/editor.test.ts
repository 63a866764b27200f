import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  clear,
  continued,
  type Edit,
  type EditorState,
  EMPTY_EDITOR,
  edit,
  insert,
  paste,
  replaceText,
  wholeText,
} from "./editor.ts";

const FAMILY = "👩\u200d👩\u200d👧";

/** Builds a state with the cursor at `|`. */
function at(marked: string): EditorState {
  const [before = "", after = ""] = marked.split("|");
  return { ...EMPTY_EDITOR, text: before + after, cursor: before.length };
}

const marked = ({ text, cursor }: EditorState): string => `${text.slice(0, cursor)}|${text.slice(cursor)}`;
const edited = (state: string, ...edits: readonly Edit[]): string => marked(edits.reduce(edit, at(state)));

describe("edit, the editing of the input line", () => {
  it("moves the cursor and deletes by visible characters, such as an emoji of several code points", () => {
    expect(edited(`a${FAMILY}|`, "left")).toBe(`a|${FAMILY}`);
    expect(edited(`a${FAMILY}e\u0301|b`, "delete-left", "delete-left")).toBe("a|b");
    expect(edited("|🇩🇪x", "right")).toBe("🇩🇪|x");
    expect(edited("|日本", "delete-right")).toBe("|本");
    expect(edited("|", "left", "right", "delete-left", "delete-right")).toBe("|");
  });

  it("moves the cursor and deletes text by word and by line", () => {
    expect(edited("one two, three|", "word-left", "word-left")).toBe("one |two, three");
    expect(edited("one| two, three", "word-right")).toBe("one two|, three");
    expect(edited("a\nbc|d\ne", "line-start")).toBe("a\n|bcd\ne");
    expect(edited("a\nb|cd\ne", "line-end")).toBe("a\nbcd|\ne");
    expect(edited("git commit -m|", "take-word-left", "take-word-left")).toBe("git |");
    expect(edited("a\nbc|d\ne", "take-line-left")).toBe("a\n|d\ne");
    expect(edited("a\nb|cd\ne", "take-line-right", "line-start", "put")).toBe("a\ncd|b\ne");
    expect(edited("|one two", "take-word-right")).toBe("| two");
  });

  it("keeps the column when the cursor moves up and down between lines", () => {
    expect(edited("abc\nd\nef|g", "up")).toBe("abc\nd|\nefg");
    expect(edited("ab|c\nd\nefg", "down", "down")).toBe("abc\nd\ne|fg");
  });

  it("replaces a backslash at the end of the input with a line break", () => {
    const more = continued(at("first\\|"));
    expect(more && marked(more)).toBe("first\n|");
    expect(continued(at("first\\| more"))).toBeUndefined();
    expect(continued(at("first|"))).toBeUndefined();
  });
});

describe("history of sent inputs", () => {
  const sent = (...texts: readonly string[]): EditorState =>
    texts.reduce((state, text) => clear(insert(state, text)), EMPTY_EDITOR);

  it("the up key shows earlier inputs, and the down key leads back to the draft", () => {
    const draft = insert(sent("one", "two", "two"), "draft");
    const up = edit(draft, "up");
    expect([up.text, edit(up, "up").text, edit(edit(up, "up"), "up").text]).toEqual(["two", "one", "one"]);
    expect(marked(edit(edit(edit(up, "up"), "down"), "down"))).toBe("draft|");
    expect(edit(draft, "down")).toEqual(draft);
  });

  it("when a suggestion replaces an unsent input, adds that input to the history", () => {
    const suggested = replaceText(insert(EMPTY_EDITOR, "mine"), "theirs");
    expect(marked(suggested)).toBe("theirs|");
    expect(edit(suggested, "up").text).toBe("mine");
  });
});

describe("text pasted into the input line", () => {
  const long = Array.from({ length: 42 }, (_, line) => `line ${line}`).join("\n");

  it("treats a pasted text of many lines as one character of the input, and sends the whole text", () => {
    const state = paste(insert(EMPTY_EDITOR, "see "), long.replaceAll("\n", "\r"));
    expect(state.text).toHaveLength("see ".length + 2);
    expect(wholeText(state)).toBe(`see ${long}`);
    expect(edit(state, "delete-left").text).toBe("see ");
    expect(wholeText(edit(clear(state), "up"))).toBe(`see ${long}`);
  });

  it("inserts a pasted text of a few lines without its control sequences", () => {
    const state = paste(EMPTY_EDITOR, "one\r\n\ttwo\u001b[2J\u0007\ud800");
    expect(state.text).toBe("one\n\ttwo\ufffd");
  });
});

describe("input line after any sequence of keys", () => {
  const edits: readonly Edit[] = [
    "left",
    "right",
    "word-left",
    "word-right",
    "line-start",
    "line-end",
    "up",
    "down",
    "delete-left",
    "delete-right",
    "take-word-left",
    "take-word-right",
    "take-line-left",
    "take-line-right",
    "put",
  ];
  const characters = fc.constantFrom(
    "a",
    " ",
    "\n",
    "é",
    "\u0301",
    "👩",
    "\u200d",
    "🇩",
    "日",
    ".",
    "\u{100000}",
  );
  const action = fc.oneof(
    fc.constantFrom(...edits).map((how) => (state: EditorState) => edit(state, how)),
    characters.map((text) => (state: EditorState) => insert(state, text)),
    fc.string({ unit: "binary", maxLength: 8 }).map((text) => (state: EditorState) => paste(state, text)),
    fc.constant((state: EditorState) => paste(state, "p\n".repeat(10))),
    fc.constant(clear),
  );

  it("after any keys, the cursor is between two characters, and the input has no control characters", () => {
    const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        let state = EMPTY_EDITOR;
        for (const act of actions) {
          state = act(state);
          const bounds = Array.from(segmenter.segment(state.text), ({ index }) => index);
          expect([...bounds, state.text.length]).toContain(state.cursor);
        }
        expect(wholeText(state)).not.toMatch(/[\u{100000}-\u{10fffd}]|\p{Cs}/u);
        expect(wholeText(state).replaceAll(/[\n\t]/g, "")).not.toMatch(/\p{Cc}/u);
      }),
    );
  });

  const textOf = (character: fc.Arbitrary<string>): fc.Arbitrary<EditorState> =>
    fc.array(character, { maxLength: 20 }).map((parts) => insert(EMPTY_EDITOR, parts.join("")));
  const stepsLeft = (state: EditorState, steps: number): EditorState =>
    Array.from({ length: steps }).reduce<EditorState>((one) => edit(one, "left"), state);

  it("a move to the left and then to the right brings the cursor back to its position", () => {
    fc.assert(
      fc.property(textOf(characters), fc.nat({ max: 20 }), (full, steps) => {
        const state = stepsLeft(full, steps);
        if (state.cursor > 0) expect(edit(edit(state, "left"), "right")).toEqual(state);
      }),
    );
  });

  it("inserting a deleted word or line again restores the input", () => {
    // Characters that do not combine with their neighbors.
    const apart = fc.constantFrom("a", " ", "\n", "é", "👩", "日", ".");
    fc.assert(
      fc.property(textOf(apart), fc.nat({ max: 20 }), (full, steps) => {
        const state = stepsLeft(full, steps);
        for (const how of [
          "take-word-left",
          "take-line-left",
          "take-word-right",
          "take-line-right",
        ] as const) {
          const taken = edit(state, how);
          if (taken.text !== state.text) expect(edit(taken, "put").text).toBe(state.text);
        }
      }),
    );
  });
});
