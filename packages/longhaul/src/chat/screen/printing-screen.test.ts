import fc from "fast-check";
import { createColors } from "picocolors";
import { describe, expect, it } from "vitest";
import { createStreamText } from "./printing-screen.ts";

const { dim } = createColors(true);

describe("createStreamText", () => {
  it("returns complete lines of streamed text, and keeps the incomplete last line", () => {
    const stream = createStreamText(false);
    expect(stream.add("one\r")).toEqual([]);
    expect(stream.rows(10, 5)).toEqual(["one"]);
    expect(stream.add("\ntwo\n\nthr")).toEqual(["one", "two", ""]);
    expect(stream.rows(2, 5)).toEqual(["th", "r"]);
    expect(stream.rows(2, 1)).toEqual(["r"]);
    expect(stream.rows(2, 0)).toEqual([]);
    expect(stream.end()).toEqual(["thr"]);
    expect(stream.end()).toEqual([]);
  });

  it("drop removes the incomplete last line of streamed text", () => {
    const stream = createStreamText(false);
    expect(stream.add("one\ntw")).toEqual(["one"]);
    stream.drop();
    expect([stream.rows(10, 5), stream.end()]).toEqual([[], []]);
  });

  it("repeats the active colors at the start of each line of streamed text", () => {
    const stream = createStreamText(true);
    const [first = "", second = ""] = dim("a\nb").split("\n");
    expect(stream.add(`${first}\n`)).toEqual(["\u001b[2ma\u001b[0m"]);
    expect(stream.add(`${second}c\n`)).toEqual(["\u001b[2mb\u001b[22mc"]);
  });

  it("returns the same lines of streamed text no matter how the text is split into pieces", () => {
    const piece = fc.array(fc.constantFrom("a", "b c", "\n", "\r\n", "日", "\t", "\u001b[2J"), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const texts = pieces.map((parts) => parts.join(""));
        const whole = createStreamText(false);
        const cut = createStreamText(false);
        const expected = [...whole.add(texts.join("")), ...whole.end()];
        expect([...texts.flatMap((text) => cut.add(text)), ...cut.end()]).toEqual(expected);
      }),
    );
  });
});
