import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineSplitter } from "./file-bytes.ts";

interface SeenLine {
  readonly text: string;
  readonly offset: number;
  readonly isComplete: boolean;
}

function split(bytes: Buffer, cuts: readonly number[]): SeenLine[] {
  const seen: SeenLine[] = [];
  const splitter = new LineSplitter((line, offset, isComplete) =>
    seen.push({ text: line.toString("latin1"), offset, isComplete }),
  );
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  let start = 0;
  for (const end of places) {
    // Like a real caller, overwrites the chunk after the call. If the splitter kept a view of the chunk, the
    // view would show the new bytes.
    const chunk = Buffer.from(bytes.subarray(start, end));
    splitter.push(chunk);
    chunk.fill(0x2a);
    start = end;
  }
  splitter.end();
  return seen;
}

describe("LineSplitter", () => {
  it("splits a stream into the same lines however the bytes are chunked", () => {
    const text = fc.array(fc.constantFrom("\n", "a", "é", "\u2028", "\r", "{", '"'), { maxLength: 60 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 8 }), (letters, cuts) => {
        const bytes = Buffer.from(letters.join(""));
        expect(split(bytes, cuts)).toEqual(split(bytes, []));
      }),
    );
  });

  it("returns every byte of the stream in order, except newlines", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.array(fc.nat()), (array, cuts) => {
        const bytes = Buffer.from(array);
        const joined = split(bytes, cuts).map(({ text, isComplete }) => text + (isComplete ? "\n" : ""));
        expect(joined.join("")).toBe(bytes.toString("latin1"));
      }),
    );
  });

  it("reports where each line starts and whether a newline ends the last line", () => {
    expect(split(Buffer.from("ab\n\ncd"), [1])).toEqual([
      { text: "ab", offset: 0, isComplete: true },
      { text: "", offset: 3, isComplete: true },
      { text: "cd", offset: 4, isComplete: false },
    ]);
  });
});
