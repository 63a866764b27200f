import { describe, expect, it } from "vitest";
import { createFixedClock } from "../../clock.ts";
import { PrefixTree } from "../../prompt/prefix-tree.ts";
import { createTokenCounter } from "../../prompt/token-count.ts";
import { type CachingKind, PrefixCache } from "./prefix-cache.ts";
import { buildPrompt, type PromptPart } from "./prompt-parts.ts";

const MINUTE_MS = 60_000;
const AUTOMATIC = { id: "gpt-5.4", caching: "automatic" } as const;
const BREAKPOINTS = { id: "gpt-5.6", caching: "breakpoints" } as const;

interface CallOptions {
  readonly model?: { readonly id: string; readonly caching: CachingKind };
  readonly workspace?: string;
  readonly body?: Record<string, unknown>;
  /** False for a call whose answer never starts. */
  readonly starts?: boolean;
}

async function bench() {
  const counter = await createTokenCounter("estimate");
  const tree = new PrefixTree();
  const clock = createFixedClock();
  const cache = new PrefixCache(clock);
  const call = (parts: readonly PromptPart[], options: CallOptions = {}) => {
    const { model = AUTOMATIC, workspace = "one", body = {}, starts = true } = options;
    const prompt = buildPrompt(parts, { tree, counter });
    const lookup = cache.lookup(prompt, { workspace, model, body, startedAt: clock.now() });
    if (starts) lookup.commit();
    return { tokens: prompt.tokens, cached: lookup.cachedTokens, written: lookup.writtenTokens };
  };
  return { cache, clock, call };
}

/** A part of exactly this number of tokens. */
const part = (value: string, tokens: number, isBreakpoint = false): PromptPart => ({
  place: "user",
  value: isBreakpoint ? { value, prompt_cache_breakpoint: { mode: "explicit" } } : { value },
  isBreakpoint,
  count: () => tokens,
});

describe("the automatic cache of OpenAI", () => {
  it("a repeated prefix is cached in steps of 128 tokens, and the last token never is", async () => {
    const { call } = await bench();
    expect(call([part("a", 1_500)])).toMatchObject({ cached: 0, written: undefined });
    expect(call([part("a", 1_500), part("b", 100)]).cached).toBe(1_408);
    expect(call([part("a", 1_500)]).cached).toBe(1_408);
    const exact = [part("exact", 1_533)];
    expect(call(exact).tokens).toBe(1_536);
    expect(call(exact).cached).toBe(1_408);
  });

  it("a prefix under 1,024 tokens is not cached", async () => {
    const { call } = await bench();
    call([part("a", 1_000)]);
    expect(call([part("a", 1_000), part("b", 500)]).cached).toBe(0);
    expect(call([part("a", 1_000), part("b", 500)]).cached).toBe(1_408);
    call([part("exact", 1_021)]);
    expect(call([part("exact", 1_021), part("b", 500)]).cached).toBe(1_024);
  });

  it("only the unchanged parts before the first change are read", async () => {
    const { call } = await bench();
    call([part("a", 1_200), part("b", 400), part("c", 400)]);
    expect(call([part("a", 1_200), part("changed", 400), part("c", 400)]).cached).toBe(1_152);
    expect(call([part("changed", 1_200), part("b", 400), part("c", 400)]).cached).toBe(0);
  });

  it("the unchanged start of a changed part is read too", async () => {
    const { call } = await bench();
    const words = (end: string): string => `${"sheep ".repeat(500)}${end}`;
    call([part("a", 600), part(words("one"), 2_000)]);
    expect(call([part("a", 600), part(words("two"), 2_000)]).cached).toBe(2_560);
    const elsewhere = { ...part(words("three"), 2_000), place: "assistant" };
    expect(call([part("a", 600), elsewhere]).cached).toBe(0);
    expect(call([part("b", 600), part(words("one"), 2_000)]).cached).toBe(0);
  });

  it("some models always cache for a day", async () => {
    const { call, clock } = await bench();
    const model = { id: "gpt-5.5", caching: "extended" } as const;
    call([part("a", 2_000)], { model });
    clock.advance(23 * 60 * MINUTE_MS);
    expect(call([part("a", 2_000)], { model }).cached).toBe(1_920);
  });

  it("another project, another model and another cache key share nothing", async () => {
    const { call } = await bench();
    const parts = [part("a", 2_000)];
    call(parts, { body: { prompt_cache_key: "mine" } });
    expect(call(parts, { body: { prompt_cache_key: "other" } }).cached).toBe(0);
    expect(call(parts, { workspace: "two", body: { prompt_cache_key: "mine" } }).cached).toBe(0);
    expect(call(parts, { model: { id: "gpt-4.1", caching: "none" } }).cached).toBe(0);
    expect(call(parts, { body: { prompt_cache_key: "mine" } }).cached).toBe(1_920);
  });

  it("an entry is lost after five minutes without use, and each use prolongs it", async () => {
    const { call, clock } = await bench();
    const parts = [part("a", 2_000)];
    call(parts);
    clock.advance(4 * MINUTE_MS);
    expect(call(parts).cached).toBe(1_920);
    clock.advance(4 * MINUTE_MS);
    expect(call(parts).cached).toBe(1_920);
    clock.advance(5 * MINUTE_MS);
    expect(call(parts).cached).toBe(0);
  });

  it("an entry with extended retention lives for a day", async () => {
    const { call, clock } = await bench();
    const parts = [part("a", 2_000)];
    call(parts, { body: { prompt_cache_retention: "24h" } });
    clock.advance(23 * 60 * MINUTE_MS);
    expect(call(parts).cached).toBe(1_920);
    clock.advance(61 * MINUTE_MS);
    expect(call(parts).cached).toBe(0);
  });

  it("a call whose answer never starts writes nothing", async () => {
    const { call } = await bench();
    call([part("a", 2_000)], { starts: false });
    expect(call([part("a", 2_000)]).cached).toBe(0);
  });

  it("a prefix has entries for the newest 1,000 cache keys on a clock that does not move", async () => {
    const { call } = await bench();
    const shared = [part("a", 1_500)];
    for (let session = 0; session <= 1_000; session++)
      call(shared, { body: { prompt_cache_key: `session-${session}` } });
    expect(call(shared, { body: { prompt_cache_key: "session-1" } }).cached).toBe(1_408);
    expect(call(shared, { body: { prompt_cache_key: "session-0" }, starts: false }).cached).toBe(0);
  });

  it("dropping the older half keeps the prefixes that were used last", async () => {
    const { cache, call } = await bench();
    for (const name of ["a", "b", "c", "d"]) call([part(name, 1_500)]);
    call([part("a", 1_500)]);
    expect([cache.dropOlderHalf(), cache.size]).toEqual([true, 2]);
    expect(call([part("a", 1_500)], { starts: false }).cached).toBe(1_408);
    expect(call([part("b", 1_500)], { starts: false }).cached).toBe(0);
    expect([cache.dropOlderHalf(), cache.dropOlderHalf(), cache.dropOlderHalf()]).toEqual([
      true,
      true,
      false,
    ]);
    expect(cache.size).toBe(0);
  });

  it("expired entries leave the memory", async () => {
    const { cache, call, clock } = await bench();
    for (let index = 0; index < 50; index++) call([part(`message ${index}`, 2_000)]);
    expect(cache.size).toBe(50);
    clock.advance(6 * MINUTE_MS);
    call([part("new", 2_000)]);
    expect(cache.size).toBe(1);
  });
});

describe("the cache of OpenAI with breakpoints", () => {
  const options = (prompt_cache_options: object) => ({ model: BREAKPOINTS, body: { prompt_cache_options } });

  it("the end of the prompt is an implicit breakpoint, and its tokens are exact", async () => {
    const { call } = await bench();
    const first = call([part("a", 1_500)], { model: BREAKPOINTS });
    expect(first).toMatchObject({ tokens: 1_503, cached: 0, written: 1_503 });
    const next = call([part("a", 1_500), part("b", 100)], { model: BREAKPOINTS });
    expect(next).toMatchObject({ cached: 1_503, written: 100 });
  });

  it("the explicit mode writes only at the client's breakpoints", async () => {
    const { call } = await bench();
    const explicit = options({ mode: "explicit" });
    expect(call([part("a", 1_500)], explicit)).toMatchObject({ cached: 0, written: 0 });
    const marked = [part("a", 1_500, true), part("b", 500)];
    expect(call(marked, explicit)).toMatchObject({ cached: 0, written: 1_503 });
    expect(call([part("a", 1_500), part("c", 500)], explicit).written).toBe(0);
    expect(call([part("a", 1_500, true), part("c", 500)], explicit)).toMatchObject({
      cached: 1_503,
      written: 0,
    });
  });

  it("a request writes at most four breakpoints: the latest ones", async () => {
    const { call } = await bench();
    const marked = ["a", "b", "c", "d", "e"].map((name) => part(name, 1_100, true));
    call(marked, options({ mode: "explicit" }));
    expect(call(marked.slice(0, 1), options({ mode: "explicit" })).cached).toBe(0);
    expect(call([...marked.slice(0, 2), part("x", 1, true)], options({ mode: "explicit" })).cached).toBe(
      2_203,
    );
  });

  it("an entry lives for 30 minutes, or for the time that the request sets", async () => {
    const { call, clock } = await bench();
    call([part("short", 2_000)], { model: BREAKPOINTS });
    call([part("long", 2_000)], options({ ttl: "12h" }));
    clock.advance(31 * MINUTE_MS);
    expect(call([part("short", 2_000)], { model: BREAKPOINTS, starts: false }).cached).toBe(0);
    expect(call([part("long", 2_000)], { model: BREAKPOINTS, starts: false }).cached).toBe(2_003);
  });
});
