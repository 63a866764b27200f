import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { textWidth } from "../../view/text-width.ts";
import { type EditorState, EMPTY_EDITOR, edit, insert } from "./editor.ts";
import { type EditorRows, editorRows } from "./editor-rows.ts";

const look = { prompt: "> ", width: 20, height: 10, dim: (text: string) => text };
const rowsOf = (text: string): EditorRows => editorRows(insert(EMPTY_EDITOR, text), look);

describe("editorRows", () => {
  it("wraps the input between words, and inside a word only if the word is longer than a row", () => {
    expect(rowsOf("the quick brown fox jumps").rows).toEqual(["> the quick brown ", "  fox jumps"]);
    expect(rowsOf("abcdefghijklmnopqrstuvw xy").rows).toEqual(["> abcdefghijklmnopq", "  rstuvw xy"]);
    expect(rowsOf("exactly seventeen b").rows).toEqual(["> exactly seventeen ", "  b"]);
    expect(rowsOf("").rows).toEqual(["> "]);
    expect(rowsOf("a\n\nb").rows).toEqual(["> a", "  ", "  b"]);
  });

  it("shows tabs of the input as spaces, and removes characters that change the text direction", () => {
    expect(rowsOf("\ta\u202eb").rows).toEqual([">     ab"]);
  });

  it("shows the whole input in rows that fit, with the cursor at its position in the text", () => {
    const parts = fc.array(fc.constantFrom("a", "word", " ", "  ", "\n", "日本", "👩\u200d👧", "e\u0301"), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(parts, fc.nat(20), fc.integer({ min: 8, max: 30 }), (texts, left, width) => {
        let state: EditorState = insert(EMPTY_EDITOR, texts.join(""));
        for (let step = 0; step < left; step += 1) state = edit(state, "left");
        const { rows, cursor } = editorRows(state, { ...look, width, height: 1000 });
        for (const row of rows) expect(textWidth(row.trimEnd())).toBeLessThanOrEqual(width - 1);
        const text = (shown: readonly string[]): string => shown.map((row) => row.slice(2)).join("");
        expect(text(rows)).toBe(state.text.replaceAll("\n", ""));
        const before = [...rows.slice(0, cursor.row), cursor.before];
        expect(text(before)).toBe(state.text.slice(0, state.cursor).replaceAll("\n", ""));
      }),
    );
  });
});
