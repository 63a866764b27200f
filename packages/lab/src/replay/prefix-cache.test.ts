import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import type { ModelRequest } from "@longhaul/core/models";
import { withCacheMarks } from "@longhaul/core/models";
import { describe, expect, it } from "vitest";
import { measureBlock } from "../../../core/src/measure/tokens/measure.ts";
import { withReadMarkOnly } from "../../../core/src/models/prompt-cache-marks.ts";
import { type InputParts, PrefixCache, usageOf } from "./prefix-cache.ts";

const MINUTE_MS = 60_000;
const MARK = { type: "ephemeral" } as const;

/** Counts one token per character. */
const newCache = (minimumTokens = 0): PrefixCache =>
  new PrefixCache({
    minimumTokens,
    tokensOf: (block) => measureBlock(block as ContentBlock, (text) => text.length),
  });

const words = (tokens: number, letter = "x"): ContentBlock => ({ type: "text", text: letter.repeat(tokens) });
const marked = (block: ContentBlock): ContentBlock => ({ ...block, cache_control: MARK }) as ContentBlock;
const user = (...content: readonly ContentBlock[]): ApiMessage => ({ role: "user", content });
const assistant = (...content: readonly ContentBlock[]): ApiMessage => ({ role: "assistant", content });
const parts = (read: number, written: number, plain: number): Partial<InputParts> => ({
  read,
  written,
  plain,
});

describe("PrefixCache", () => {
  it("caches the prompt up to the last cache mark, reads that part in the next call, and charges the rest in full", () => {
    const cache = newCache();
    const first = [user(words(100), marked(words(50, "a"))), assistant(words(7, "b"))];
    expect(cache.call({ messages: first }, 0)).toMatchObject(parts(0, 150, 7));
    const second = { messages: [...first, user(marked(words(20, "c")))] };
    expect(cache.call(second, MINUTE_MS)).toMatchObject(parts(150, 27, 0));
  });

  it("reads nothing from the cache if a block has changed, but reads the prefix if only cache marks have moved", () => {
    const cache = newCache();
    cache.call({ messages: [user(words(100), marked(words(50)))] }, 0);
    const other = { messages: [user(words(100), marked(words(50, "y")))] };
    expect(cache.call(other, 1)).toMatchObject(parts(0, 150, 0));
    const moved = { messages: [user(marked(words(100)), marked(words(50)))] };
    expect(cache.call(moved, 2)).toMatchObject(parts(150, 0, 0));
  });

  it("does not read a cached user message in place of an assistant message with the same text", () => {
    const cache = newCache();
    const [text, end] = ["x".repeat(100), user(marked(words(50)))];
    cache.call({ messages: [{ role: "user", content: text }, end] }, 0);
    const other = { messages: [{ role: "assistant", content: text }, end] } satisfies ModelRequest;
    expect(cache.call(other, 1)).toMatchObject(parts(0, 150, 0));
    expect(cache.call(other, 2)).toMatchObject(parts(150, 0, 0));
  });

  it("reads the longest cached prefix: only the system prompt if the messages differ", () => {
    const cache = newCache();
    const system = [marked(words(40, "s"))];
    cache.call({ system, messages: [user(marked(words(100)))] }, 0);
    const other = { system, messages: [user(marked(words(30, "z")))] };
    expect(cache.call(other, 1)).toMatchObject(parts(40, 30, 0));
  });

  it("keeps a cached prefix for five minutes after the request that last used it", () => {
    const cache = newCache();
    const request = { messages: [user(marked(words(100)))] };
    cache.call(request, 0);
    expect(cache.call(request, 5 * MINUTE_MS - 1)).toMatchObject(parts(100, 0, 0));
    expect(cache.call(request, 9 * MINUTE_MS)).toMatchObject(parts(100, 0, 0));
    expect(cache.call(request, 14 * MINUTE_MS)).toMatchObject(parts(0, 100, 0));
  });

  it("keeps a cached prefix for an hour if its cache mark has the lifetime 1h", () => {
    const cache = newCache();
    const block = { ...words(100), cache_control: { type: "ephemeral", ttl: "1h" } } as ContentBlock;
    expect(cache.call({ messages: [user(block)] }, 0).ttl).toBe("1h");
    expect(cache.call({ messages: [user(block)] }, 59 * MINUTE_MS)).toMatchObject(parts(100, 0, 0));
    expect(cache.call({ messages: [user(block)] }, 119 * MINUTE_MS)).toMatchObject(parts(0, 100, 0));
  });

  it("does not cache a prompt whose part up to the cache mark is shorter than the minimum", () => {
    const cache = newCache(1_024);
    const short = { messages: [user(marked(words(1_023)))] };
    cache.call(short, 0);
    expect(cache.call(short, 1)).toMatchObject(parts(0, 0, 1_023));
  });

  it("searches only the last twenty positions up to a cache mark for a cached prefix", () => {
    const blocks = Array.from({ length: 30 }, (_, index) => words(10, String.fromCharCode(97 + index)));
    const upTo = (count: number): ModelRequest => ({
      messages: [user(...blocks.slice(0, count - 1), marked(blocks[count - 1] as ContentBlock))],
    });
    const cache = newCache();
    cache.call(upTo(5), 0);
    expect(cache.call(upTo(24), 1)).toMatchObject(parts(50, 190, 0));
    const another = newCache();
    another.call(upTo(5), 0);
    expect(another.call(upTo(25), 1)).toMatchObject(parts(0, 250, 0));
  });

  it("a summary call that extends a conversation reads it from the cache, and writes nothing to the cache", () => {
    const cache = newCache();
    const sent = { system: [words(50, "s")], messages: [user(words(500))] };
    cache.call(withCacheMarks(sent), 0);
    const asked = [...sent.messages, assistant(words(30, "a")), user(words(20, "q"))];
    const fork = withReadMarkOnly({ ...sent, messages: asked }, 1);
    expect(cache.call(fork, 1)).toMatchObject(parts(550, 0, 50));
  });

  it("usageOf returns the read, written and uncached tokens in the fields of the provider's usage", () => {
    expect(usageOf({ read: 1, written: 2, plain: 3, ttl: "1h" }, 4)).toEqual({
      input_tokens: 3,
      output_tokens: 4,
      cache_creation_input_tokens: 2,
      cache_read_input_tokens: 1,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 2 },
    });
  });
});
