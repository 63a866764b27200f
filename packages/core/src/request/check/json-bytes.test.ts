import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonBytes, MAX_BYTES_PER_MIN_BYTE, maxJsonBytes, minJsonBytes } from "./media-rules.ts";

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

describe("the bytes of a request", () => {
  it("are those of its JSON in UTF-8", () => {
    const words = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(fc.object({ values: [words, fc.double(), fc.boolean(), fc.constant(null)] }), (value) => {
        expect(jsonBytes(value)).toBe(bytesOf(value));
      }),
      { numRuns: 500 },
    );
  });

  it("are counted right for escapes, lone surrogates and base64", () => {
    const values = [
      '\u001b[0m\n\t"\\',
      "\ud800x",
      "x\udc00",
      "🙂é语",
      { type: "base64", data: "AAAA==" },
      { gone: undefined, a: 1 },
    ];
    expect(values.map(jsonBytes)).toEqual(values.map(bytesOf));
  });

  it("are never more than the quick bound says", () => {
    fc.assert(
      fc.property(fc.object(), (value) => {
        expect(maxJsonBytes(value)).toBeGreaterThanOrEqual(bytesOf(value));
      }),
    );
  });

  it("are never less than the quick lower bound says, nor more than six times that", () => {
    const words = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("\u0001".repeat(9), "\ud800".repeat(9)),
    );
    fc.assert(
      fc.property(fc.object({ values: [words, fc.double()] }), (value) => {
        const least = minJsonBytes(value);
        expect(least).toBeLessThanOrEqual(bytesOf(value));
        expect(least * MAX_BYTES_PER_MIN_BYTE).toBeGreaterThanOrEqual(bytesOf(value));
      }),
    );
  });
});
