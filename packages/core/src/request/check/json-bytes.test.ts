import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonBytes, MAX_BYTES_PER_MIN_BYTE, maxJsonBytes, minJsonBytes } from "./media-rules.ts";

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

describe("JSON byte counts", () => {
  it("jsonBytes counts the bytes of the JSON in UTF-8", () => {
    const words = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(fc.object({ values: [words, fc.double(), fc.boolean(), fc.constant(null)] }), (value) => {
        expect(jsonBytes(value)).toBe(bytesOf(value));
      }),
      { numRuns: 500 },
    );
  });

  it("jsonBytes counts escapes, lone surrogates and base64 correctly", () => {
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

  it("maxJsonBytes is never below the real byte count", () => {
    fc.assert(
      fc.property(fc.object(), (value) => {
        expect(maxJsonBytes(value)).toBeGreaterThanOrEqual(bytesOf(value));
      }),
    );
  });

  it("minJsonBytes is never above the real byte count, nor below a sixth of it", () => {
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
