import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rawContent } from "../../../core/src/messages/entry.ts";
import { withHostEdits } from "./conversation-before.ts";

const user = (uuid: string, texts: readonly string[], more: object = {}): Entry =>
  ({
    type: "user",
    uuid,
    parentUuid: null,
    timestamp: "2026-01-01T00:00:00Z",
    message: { role: "user", content: texts.map((text) => ({ type: "text", text })) },
    ...more,
  }) as unknown as Entry;

const textsOf = (entry: Entry | undefined): readonly string[] =>
  (rawContent(entry as never) as { readonly text: string }[]).map(({ text }) => text);

/**
 * Texts of one message. Each item says whether the compaction shortened the text and whether the host changed
 * it.
 */
const BLOCKS = fc.array(
  fc.record({ isShortened: fc.boolean(), edit: fc.option(fc.string({ maxLength: 5 })) }),
  { minLength: 1, maxLength: 5 },
);

describe("withHostEdits", () => {
  it("an undo or redo restores a message, but keeps the blocks that the host changed or added since", () => {
    fc.assert(
      fc.property(BLOCKS, fc.array(fc.string(), { maxLength: 2 }), fc.boolean(), (blocks, added, isRedo) => {
        const whole = blocks.map((_, at) => `whole ${at}`);
        const copied = blocks.map(({ isShortened }, at) => `${isShortened ? "part" : "whole"} ${at}`);
        const [own, other] = isRedo ? [copied, whole] : [whole, copied];
        const afterEdit = [...other.map((text, at) => blocks[at]?.edit ?? text), ...added];
        const copy = (texts: readonly string[]): Entry => user("copy", texts, { copyOf: ["original"] });
        const original = (texts: readonly string[]): Entry => user("original", texts);
        const restored = isRedo ? copy(copied) : original(whole);
        const current = isRedo ? original(afterEdit) : copy(afterEdit);
        const lines = [original(whole), copy(copied), current];
        const { entries, edited } = withHostEdits([restored], [current], lines);
        expect(textsOf(entries[0])).toEqual([...own.map((text, at) => blocks[at]?.edit ?? text), ...added]);
        const isEdited = JSON.stringify(afterEdit) !== JSON.stringify(other);
        expect(edited).toEqual(isEdited ? entries : []);
        if (!isEdited) expect(entries[0]).toBe(restored);
      }),
    );
  });

  it("an undo restores a message unchanged if the host edited it before the compaction copied it", () => {
    const lines = [user("a", ["old"]), user("a", ["new"]), user("b", ["short"], { copyOf: ["a"] })];
    const [, original, copy] = lines as [Entry, Entry, Entry];
    expect(withHostEdits([copy], [original], lines)).toMatchObject({ entries: [copy], edited: [] });
    expect(withHostEdits([original], [copy], lines)).toMatchObject({ entries: [original], edited: [] });
  });

  it("an undo restores a message with the new text if the host replaced the copy of that message", () => {
    const original = user("a", ["old"]);
    const copy = user("b", ["old"], { copyOf: ["a"], writtenWith: "boundary" });
    const replacement = user("c", ["new"]);
    const current = user("c", ["new"], { copyOf: ["a"] });
    const { entries } = withHostEdits([original], [current], [original, copy, replacement, current]);
    expect(textsOf(entries[0])).toEqual(["new"]);
  });

  it("an undo restores a message unchanged if other lines of the file are not readable as messages", () => {
    const broken = [null, 7, { uuid: "b" }, user("b", [], { message: null }), user("b", [], { message: 3 })];
    const original = user("a", ["one"]);
    const copy = user("b", ["one"], { copyOf: ["a"] });
    const lines = [original, ...broken, copy, ...broken] as Entry[];
    expect(withHostEdits([original], [copy], lines)).toMatchObject({ entries: [original], edited: [] });
  });
});
