import { ESTIMATORS } from "@longhaul/core/measure";
import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it, vi } from "vitest";
import { MEDIA_TOKENS } from "../../../core/src/measure/tokens/measure.ts";
import { countOnce, createTokenCounter, cutLongRuns, TOOL_BLOCK_TOKENS } from "./token-count.ts";

const exact = await createTokenCounter();
const letters = await createTokenCounter((text) => text.length);

describe("the tokenizer of the simulator", () => {
  it("counts with the o200k tokenizer if it is installed", () => {
    expect(exact.source).toBe("o200k");
    const text = "The quick brown fox — jumps über 13 lazy dogs.\n\n\tconst x = { a: 1 };";
    expect(exact.text(text)).toBe(countTokens(text));
  });

  it("counts with the estimator if the o200k tokenizer is not installed", async () => {
    vi.resetModules();
    vi.doMock("gpt-tokenizer/encoding/o200k_base", () => {
      throw new Error("Cannot find package");
    });
    const { createTokenCounter: create } = await import("./token-count.ts");
    const counter = await create();
    vi.doUnmock("gpt-tokenizer/encoding/o200k_base");
    expect(counter.source).toBe("estimate");
    expect(counter.text("some words of text")).toBe(ESTIMATORS.o200k("some words of text"));
  });

  it("counts with the caller's tokenizer if the caller passes one", () => {
    expect(letters.source).toBe("custom");
    expect(letters.text("four")).toBe(4);
  });

  it("counts names of control tokens such as <|endoftext|> as text", () => {
    expect(exact.text("before <|endoftext|> after")).toBeGreaterThan(3);
  });

  it("counts zero tokens for an empty text", () => expect(exact.text("")).toBe(0));
});

describe("long runs of one character", () => {
  it.each([
    ["letters", "a"],
    ["spaces", " "],
    ["signs", "-"],
    ["letters outside the basic plane", "𝒜"],
  ])("splits long runs of %s into pieces of limited length", (_, letter) => {
    const run = `start ${letter.repeat(3_000)} end`;
    const pieces = cutLongRuns(run);
    expect(pieces.join("")).toBe(run);
    expect(Math.max(...pieces.map((piece) => [...piece].length))).toBeLessThan(1_100);
    for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
  });

  it("splitting a long run of one character changes its token count by at most 2%", () => {
    for (const letter of ["a", "xy", "-", " "]) {
      const run = letter.repeat(2_000);
      expect(Math.abs(exact.text(run) - countTokens(run))).toBeLessThanOrEqual(0.02 * countTokens(run) + 1);
    }
  });

  it("splits only long runs, and counts all other texts exactly", () => {
    fc.assert(
      fc.property(fc.array(fc.lorem({ maxCount: 8 }), { maxLength: 200 }), (words) => {
        const text = words.join(" ");
        expect(cutLongRuns(text)).toEqual([text]);
        expect(exact.text(text)).toBe(text === "" ? 0 : countTokens(text));
      }),
      { numRuns: 20 },
    );
  });

  it("splitting a text into pieces loses no character, for any text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 50 }),
        fc.integer({ min: 1, max: 80 }),
        (unit, times) => {
          expect(cutLongRuns(unit.repeat(times)).join("")).toBe(unit.repeat(times));
        },
      ),
    );
  });
});

describe("tokens of a content block", () => {
  it.each<readonly [string, Record<string, unknown>, number]>([
    ["a text", { type: "text", text: "12345" }, 5],
    ["a text with a mark", { type: "text", text: "12345", cache_control: { type: "ephemeral" } }, 5],
    ["an image", { type: "image", source: { type: "url", url: "u" } }, MEDIA_TOKENS],
    ["a PDF", { type: "document", source: { type: "base64", data: "AAAA" } }, MEDIA_TOKENS],
    ["a document of text", { type: "document", title: "ab", source: { type: "text", data: "cde" } }, 5],
    [
      "a document of blocks",
      { type: "document", source: { type: "content", content: [{ type: "text", text: "abc" }] } },
      3,
    ],
    ["a call", { type: "tool_use", id: "t", name: "Read", input: { a: 1 } }, TOOL_BLOCK_TOKENS + 4 + 7],
    ["a result", { type: "tool_result", tool_use_id: "t", content: "12345" }, TOOL_BLOCK_TOKENS + 5],
    ["an empty result", { type: "tool_result", tool_use_id: "t" }, TOOL_BLOCK_TOKENS],
    [
      "a result with an image",
      { type: "tool_result", tool_use_id: "t", content: [{ type: "image" }, { type: "text", text: "1" }] },
      TOOL_BLOCK_TOKENS + MEDIA_TOKENS + 1,
    ],
    ["thinking", { type: "thinking", thinking: "123", signature: "s".repeat(400) }, 3],
    ["withheld thinking", { type: "thinking", thinking: "", signature: "s".repeat(400) }, 100],
    ["redacted thinking", { type: "redacted_thinking", data: "d".repeat(40) }, 10],
    ["a compaction block", { type: "compaction", content: "1234", encrypted_content: "zzzz" }, 4],
    ["a failed compaction block", { type: "compaction", content: null }, 0],
    [
      "a search result",
      { type: "search_result", title: "a", source: "b", content: [{ type: "text", text: "c" }] },
      3,
    ],
  ])("the token count of %s includes only the part that the model reads", (_, block, tokens) => {
    expect(letters.block(block)).toBe(tokens);
  });

  it("counts a block of unknown type as JSON, without its cache mark", () => {
    const block = { type: "container_upload", file_id: "f" };
    expect(letters.block({ ...block, cache_control: { type: "ephemeral" } })).toBe(
      JSON.stringify(block).length,
    );
  });

  it("counts more tokens for a tool of the provider than its short definition has", () => {
    const bash = { type: "bash_20250124", name: "bash" };
    expect(letters.tool(bash)).toBeGreaterThan(letters.tool({ ...bash, type: "custom" }) + 400);
  });
});

describe("countOnce, which caches token counts", () => {
  const text = (letter: string, length = 40): string => letter.repeat(length);

  it("countOnce counts the same text only once", () => {
    const count = vi.fn((value: string) => value.length);
    const cache = countOnce(count);
    expect([cache(text("a")), cache(text("a"))]).toEqual([40, 40]);
    expect(count).toHaveBeenCalledTimes(1);
  });

  it("countOnce forgets texts that were not used for a long time, and keeps those in use", () => {
    const count = vi.fn((value: string) => value.length);
    const cache = countOnce(count, 200);
    cache(text("a"));
    cache(text("z"));
    for (const letter of "bcdefgh") {
      cache(text(letter));
      cache(text("a"));
    }
    expect(count.mock.calls.filter(([value]) => value === text("a"))).toHaveLength(1);
    count.mockClear();
    cache(text("z"));
    expect(count).toHaveBeenCalledTimes(1);
  });

  it("countOnce does not cache the count of a text that is larger than the cache", () => {
    const count = vi.fn((value: string) => value.length);
    const cache = countOnce(count, 200);
    cache(text("a"));
    cache(text("b", 1_000));
    cache(text("c", 1_000));
    cache(text("a"));
    expect(count).toHaveBeenCalledTimes(3);
  });
});
