import { Tokenizer } from "ai-tokenizer";
import * as claude from "ai-tokenizer/encoding/claude";
import * as o200k from "ai-tokenizer/encoding/o200k_base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { corpora, GENERATORS, type KindName } from "../../../../../../test/corpora/index.ts";
import { ESTIMATORS } from "../estimators.ts";
import { estimateTokens, type TokenProfile } from "./estimate.ts";
import { READ_WHOLE } from "./scan.ts";

const exact: Record<TokenProfile, Tokenizer> = { o200k: new Tokenizer(o200k), claude: new Tokenizer(claude) };
const profiles: readonly TokenProfile[] = ["o200k", "claude"];
const texts = corpora();
const kinds = Object.keys(texts) as KindName[];

function relativeError(text: string, profile: TokenProfile): number {
  return estimateTokens(text, profile) / exact[profile].count(text) - 1;
}

/** Returns the documented error bound of a type of content, or of the mixed conversation. */
const allowed = (kind: KindName): number => (kind === "mix" ? 0.05 : 0.1);

describe("estimateTokens", () => {
  for (const profile of profiles) {
    it.each(kinds)(`estimates %s within its error bound of the exact ${profile} count`, (kind) => {
      expect(Math.abs(relativeError(texts[kind], profile))).toBeLessThan(allowed(kind));
    });

    it.each(kinds)(
      `estimates other texts of type %s within their error bound of the ${profile} count`,
      (kind) => {
        for (const seed of [101, 102, 103]) {
          expect(Math.abs(relativeError(GENERATORS[kind](60_000, seed), profile))).toBeLessThan(
            allowed(kind),
          );
        }
      },
    );
  }

  it("estimates 0 tokens for the empty text and at least 1 for any other text", () => {
    expect(estimateTokens("")).toBe(0);
    for (let code = 0; code < 0x3000; code++) {
      expect(estimateTokens(String.fromCharCode(code).repeat(1 + (code % 5)))).toBeGreaterThanOrEqual(1);
    }
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", minLength: 1 }),
        fc.constantFrom(...profiles),
        (text, profile) => {
          expect(estimateTokens(text, profile)).toBeGreaterThanOrEqual(1);
        },
      ),
    );
  });

  it("estimates a whole number for any sequence of UTF-16 units, including lone surrogates", () => {
    const unit = fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd800, max: 0xdfff }));
    const anyText = fc.array(unit, { maxLength: 400 }).map((units) => String.fromCharCode(...units));
    fc.assert(
      fc.property(
        anyText,
        fc.constantFrom(...profiles),
        fc.integer({ min: 1, max: 60 }),
        (text, profile, times) => {
          const estimate = estimateTokens(text.repeat(times), profile);
          expect(Number.isSafeInteger(estimate)).toBe(true);
          expect(estimate).toBeGreaterThanOrEqual(0);
          expect(estimate).toBeLessThanOrEqual(4 * text.length * times + 1);
        },
      ),
    );
  });

  it("the estimate of two joined texts is about the sum of their estimates", () => {
    const part = fc
      .tuple(fc.constantFrom(...kinds), fc.nat({ max: 20_000 }), fc.integer({ min: 200, max: 6_000 }))
      .map(([kind, from, length]) => texts[kind].slice(from, from + length));
    fc.assert(
      fc.property(part, part, fc.constantFrom(...profiles), (left, right, profile) => {
        const apart = estimateTokens(left, profile) + estimateTokens(right, profile);
        const together = estimateTokens(left + right, profile);
        // A text longer than READ_WHOLE is sampled, so its estimate cannot be exact to the last token.
        const sampling = left.length + right.length > READ_WHOLE ? 0.08 * apart : 0;
        expect(Math.abs(together - apart)).toBeLessThanOrEqual(15 + sampling);
      }),
    );
  });

  it("a longer text has a higher estimate, whether the text is read whole or sampled", () => {
    for (const kind of kinds) {
      const text = texts[kind];
      const sizes = [500, 2_000, 8_000, 16_000, 32_000, 60_000];
      const estimates = sizes.map((size) => estimateTokens(text.slice(0, size)));
      expect(estimates).toEqual([...estimates].sort((low, high) => low - high));
    }
  });

  it("estimates long texts of equal lines within 6 percent, whatever the length of the lines", () => {
    for (const width of [32, 64, 128, 256, 320, 512]) {
      const line = `2025-04-01T10:00:00.000Z 7f3a9c04 ${"a plain sentence about nothing much ".repeat(14)}`;
      const lines = `${line.slice(0, width - 1)}\n`;
      const whole = estimateTokens(lines.repeat(8)) / 8;
      const times = Math.ceil(200_000 / width);
      expect(Math.abs(estimateTokens(lines.repeat(times)) / (whole * times) - 1)).toBeLessThan(0.06);
    }
  });
});

it("the classic estimate counts one token for every four characters, rounded", () => {
  expect(["", "a", "ab", "abcd", "abcdef", "a".repeat(4001)].map(ESTIMATORS.classic)).toEqual([
    0, 0, 1, 1, 2, 1000,
  ]);
});
