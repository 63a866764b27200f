import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyEdit, type TextEdit } from "./edit-file.ts";
import { placesOf } from "./find-text.ts";

/**
 * Character of the generated texts. There are only a few different characters, so that texts repeat and
 * overlap. Some characters take several bytes.
 */
const character = fc.constantFrom("a", "b", " ", "\n", "\r\n", "\t", "é", "€", "😀", "\u0301");
const text = fc.string({ unit: character, maxLength: 30 });
const MARK = Buffer.from("\ufeff");
const isOnce = (content: string, part: string): boolean =>
  part !== "" && content.indexOf(part) === content.lastIndexOf(part);
const editOf = (oldString: string, newString: string, replaceAll = false): TextEdit => ({
  old_string: oldString,
  new_string: newString,
  replace_all: replaceAll,
});

/** Text that occurs once in a content, with the parts before and after it. */
const unique = fc
  .tuple(text, text, text)
  .filter(([before, part, after]) => isOnce(before + part + after, part) && !part.includes("\0"));
/** Bytes that count as text: no NUL, and mostly valid UTF-8. */
const someBytes = fc.uint8Array({ min: 1, maxLength: 2 }).map((bytes) => Buffer.from(bytes));

function bytesAfter(content: Buffer, edit: TextEdit): Buffer | undefined {
  const result = applyEdit(content, edit);
  return "refusal" in result ? undefined : result.bytes;
}

describe("applyEdit", () => {
  it("replaces a text that occurs once, and keeps every other byte of the file", () => {
    fc.assert(
      fc.property(unique, text, fc.boolean(), ([before, part, after], fresh, hasMark) => {
        fc.pre(part !== fresh && !(before + part + after).includes("\r"));
        const mark = hasMark ? MARK : Buffer.alloc(0);
        const result = bytesAfter(
          Buffer.concat([mark, Buffer.from(before + part + after)]),
          editOf(part, fresh),
        );
        expect(result?.toString()).toBe(mark.toString() + before + fresh + after);
      }),
    );
  });

  it("replaces a text that occurs once in a UTF-16 file of either byte order", () => {
    fc.assert(
      fc.property(unique, text, fc.boolean(), ([before, part, after], fresh, isBig) => {
        fc.pre(part !== fresh && !(before + part + after).includes("\r"));
        const wide = (content: string): Buffer => {
          const bytes = Buffer.from(`\ufeff${content}`, "utf16le");
          return isBig ? bytes.swap16() : bytes;
        };
        const result = bytesAfter(wide(before + part + after), editOf(part, fresh));
        expect(result?.equals(wide(before + fresh + after))).toBe(true);
      }),
    );
  });

  it("keeps invalid bytes around an edit unchanged", () => {
    fc.assert(
      fc.property(someBytes, someBytes, fc.string({ unit: "grapheme" }), (before, after, fresh) => {
        fc.pre(fresh !== "needle" && !fresh.includes("\0"));
        const rest = Buffer.from("plain letters around it ".repeat(3));
        const whole = (part: string): Buffer => Buffer.concat([before, rest, Buffer.from(part), rest, after]);
        // An accidental byte order mark would change the encoding.
        fc.pre(![0xfe, 0xff, 0xef].includes(before[0] ?? 0) && !fresh.includes("\n"));
        expect(bytesAfter(whole("needle"), editOf("needle", fresh))?.equals(whole(fresh))).toBe(true);
      }),
    );
  });

  it("accepts plain line ends for an edit of a CRLF file, and keeps CRLF on every line", () => {
    const plain = text.map((some) => some.replaceAll("\r", ""));
    const plainUnique = unique.map((parts) => parts.map((part) => part.replaceAll("\r", "")));
    fc.assert(
      fc.property(plainUnique, plain, ([before = "", part = "", after = ""], fresh) => {
        fc.pre(
          part !== fresh && isOnce(before + part + after, part) && (before + part + after).includes("\n"),
        );
        const crlf = (some: string): string => some.replaceAll("\n", "\r\n");
        const result = bytesAfter(Buffer.from(crlf(before + part + after)), editOf(part, fresh));
        expect(result?.toString()).toBe(crlf(before + fresh + after));
      }),
    );
  });

  it("replace_all gives the same result as splitting at the old text and joining with the new text", () => {
    fc.assert(
      fc.property(text, text, text, (content, part, fresh) => {
        const plain = content.replaceAll("\r", "");
        fc.pre(part !== fresh && plain.includes(part) && part !== "" && !part.includes("\r"));
        expect(bytesAfter(Buffer.from(plain), editOf(part, fresh, true))?.toString()).toBe(
          plain.split(part).join(fresh),
        );
      }),
    );
  });

  it("refuses an edit whose old text is missing or occurs several times, and never throws", () => {
    fc.assert(
      fc.property(text, text, text, (content, part, fresh) => {
        const result = applyEdit(Buffer.from(content), editOf(part, fresh));
        const plain = (some: string): string => some.replaceAll("\r\n", "\n");
        // A text with a carriage return is matched literally if the content contains this text.
        const isLiteral = part.includes("\r") && content.includes(part);
        if (isLiteral ? !isOnce(content, part) : !isOnce(plain(content), plain(part)))
          expect(result).toHaveProperty("refusal");
      }),
    );
  });
});

describe("placesOf", () => {
  it("finds every occurrence of a text, including overlapping occurrences", () => {
    const few = (maxLength: number) =>
      fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength });
    fc.assert(
      fc.property(few(60), few(5), (content, wanted) => {
        const starts = [...Array(content.length).keys()].filter((at) => content.startsWith(wanted, at));
        expect(placesOf(content, wanted).map(({ from }) => from)).toEqual(starts);
      }),
    );
  });

  it("searches repetitive texts in linear time, and refuses an edit with too many matches", () => {
    const startedAt = performance.now();
    const content = Buffer.from("a".repeat(4_000_000));
    const [half, lines] = ["a".repeat(10_000), Buffer.from("a\n".repeat(400_000))];
    for (const [bytes, old] of [
      [content, `${half}b${half}`],
      [lines, `${"a\n".repeat(10_000)}b`],
    ] as const)
      expect(applyEdit(bytes, editOf(old, "x"))).toHaveProperty("refusal");
    expect(applyEdit(content, editOf(half, "x", true))).toMatchObject({
      refusal: expect.stringContaining("more than 1000000 places"),
    });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});
