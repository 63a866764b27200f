import { describe, expect, it } from "vitest";
import { indexOf, tokensOf, work } from "../../../../../test/clear/work.ts";
import { type IndexedResult, ResultIndex } from "../../compaction/clear/stale-results.ts";
import type { Entry } from "../../messages/entry.ts";
import { withClearedResults } from "../../messages/stand-ins.ts";
import { CachedEdits } from "./cached-edits.ts";

const RESULT_TOKENS = 1_000;
const conversation = (calls: number): readonly Entry[] =>
  work(...Array.from({ length: calls }, () => RESULT_TOKENS));
const index = (calls: number): ResultIndex => indexOf(conversation(calls));
const idsOf = (edits: CachedEdits): readonly string[] => edits.edits().map((edit) => edit.tool_use_id);
const first = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `t${at}`);

/** Creates edits for a conversation whose last call read this many tokens from the cache. */
function warm(cacheReadTokens = 100_000): CachedEdits {
  const edits = new CachedEdits();
  edits.report({ cacheReadTokens, deletedTokens: undefined });
  return edits;
}

describe("choice of results for cache edits", () => {
  it("deletes tool results by cache edits once there are 12, and keeps the newest 5", () => {
    const edits = warm();
    expect(edits.register(index(11))).toBeUndefined();
    expect(edits.edits()).toEqual([]);
    const clearing = edits.register(index(12));
    expect(edits.edits()).toEqual(first(7).map((id) => ({ type: "delete_tool_result", tool_use_id: id })));
    expect(clearing).toMatchObject({
      form: "cached",
      tokensBefore: 12_000,
      tokensAfter: 5_000,
      tools: ["Read"],
    });
    expect(clearing?.results.map(({ id }) => id)).toEqual(first(7));
    expect(clearing?.paths).toHaveLength(7);
  });

  it("makes no cache edits until a response has read from the cache", () => {
    const edits = new CachedEdits();
    expect(edits.register(index(20))).toBeUndefined();
    edits.report({ cacheReadTokens: 0, deletedTokens: undefined });
    expect(edits.register(index(20))).toBeUndefined();
    edits.report({ cacheReadTokens: 50_000, deletedTokens: undefined });
    expect(edits.register(index(20))?.results).toHaveLength(15);
  });

  it("sends the same cache edits with every call until there are 12 remaining tool results again", () => {
    const edits = warm();
    const growing = indexOf(conversation(12));
    edits.register(growing);
    const pinned = edits.edits();
    const later = conversation(19);
    for (const [at, entry] of later.entries()) {
      if (at < conversation(18).length && at >= conversation(12).length) growing.add(entry, at, tokensOf);
    }
    expect(edits.register(growing)).toBeUndefined();
    expect(edits.register(growing)).toBeUndefined();
    expect(edits.edits()).toBe(pinned);
    for (const [at, entry] of later.entries()) {
      if (at >= conversation(18).length) growing.add(entry, at, tokensOf);
    }
    expect(edits.register(growing)).toMatchObject({ tokensBefore: 12_000, tokensAfter: 5_000 });
    expect(idsOf(edits)).toEqual(first(14));
    expect(edits.edits().slice(0, 7)).toEqual(pinned);
  });

  it("cache edits name each tool result once, even when the same conversation is registered again", () => {
    const edits = warm();
    edits.register(index(12));
    edits.register(index(12));
    expect(edits.register(index(18))).toBeUndefined();
    edits.register(index(19));
    expect(idsOf(edits)).toEqual(first(14));
  });

  it("makes no cache edits in a conversation without tool results", () => {
    const edits = warm();
    expect(edits.register(new ResultIndex())).toBeUndefined();
    expect(edits.edits()).toEqual([]);
  });

  it("cache edits skip results that are already cleared in the newest registered conversation", () => {
    const edits = warm();
    edits.register(index(11));
    const cleared = withClearedResults(conversation(15), new Set(first(3)));
    edits.register(indexOf(cleared));
    expect(idsOf(edits)).toEqual(first(10).slice(3));
  });

  it("does not read tool results again if they are already registered for cache edits", () => {
    let looks = 0;
    class Watched extends ResultIndex {
      override results(): readonly IndexedResult[] {
        return new Proxy(super.results(), {
          get: (list, name) => {
            if (/^\d+$/.test(String(name))) looks++;
            return Reflect.get(list, name);
          },
        });
      }
    }
    const edits = warm();
    const watched = new Watched();
    for (const [at, entry] of conversation(11).entries()) watched.add(entry, at, tokensOf);
    edits.register(watched);
    looks = 0;
    edits.register(watched);
    expect(looks).toBeLessThanOrEqual(2);
  });

  it("cache edits keep an old tool result that occurs again at the end of the conversation", () => {
    const edits = warm();
    const entries = conversation(12);
    const growing = indexOf(entries.slice(0, -2));
    edits.register(growing);
    const repeated = [entries[2], ...entries.slice(-2)] as readonly Entry[];
    for (const [at, entry] of repeated.entries()) growing.add(entry, entries.length + at, tokensOf);
    edits.register(growing);
    expect(idsOf(edits)).toEqual(first(8).slice(1));
  });

  it("cache edits skip tool results that were cleared in the messages since they were registered", () => {
    const edits = warm();
    const growing = indexOf(conversation(11));
    edits.register(growing);
    growing.applied(growing.describe("time", growing.results().slice(0, 3)));
    for (const [at, entry] of conversation(14).entries()) {
      if (at >= conversation(11).length) growing.add(entry, at, tokensOf);
    }
    expect(edits.register(growing)).toBeUndefined();
    for (const [at, entry] of conversation(15).entries()) {
      if (at >= conversation(14).length) growing.add(entry, at, tokensOf);
    }
    expect(edits.register(growing)?.results[0]).toMatchObject({ id: "t3" });
  });
});

describe("usage reports of responses to calls with cache edits", () => {
  it("without cache edits, expects no drop in the tokens read from the cache", () => {
    const edits = new CachedEdits();
    expect(edits.deletedLocally).toBe(0);
    expect(edits.report({ cacheReadTokens: 5_000, deletedTokens: undefined })).toEqual({
      droppedEdits: 0,
      expectedDrop: 0,
    });
  });

  it("ignores reported cache figures that are negative or not finite", () => {
    for (const odd of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const edits = warm(20_000);
      edits.register(index(12));
      expect(edits.report({ cacheReadTokens: odd, deletedTokens: odd }).expectedDrop).toBe(7_000);
      expect([edits.deletedLocally, edits.deletedTokens]).toEqual([7_000, 0]);
      expect(edits.report({ cacheReadTokens: 13_000, deletedTokens: odd })).toEqual({
        droppedEdits: 0,
        expectedDrop: 7_000,
      });
    }
  });

  it("counts the tokens that cache edits delete until a response reports them as deleted", () => {
    const edits = warm();
    expect(edits.deletedLocally).toBe(0);
    edits.register(index(12));
    expect(edits.deletedLocally).toBe(7_000);
    const report = edits.report({ cacheReadTokens: 91_000, deletedTokens: 9_100 });
    expect(report).toEqual({ droppedEdits: 0, expectedDrop: 9_100 });
    expect([edits.deletedLocally, edits.deletedTokens]).toEqual([0, 9_100]);
    edits.register(index(19));
    expect(edits.deletedLocally).toBe(7_000);
    const second = edits.report({ cacheReadTokens: 82_000, deletedTokens: 18_200 });
    expect(second).toEqual({ droppedEdits: 0, expectedDrop: 9_100 });
  });

  it("assumes that a cache edit takes effect with the second call at the latest", () => {
    const edits = warm();
    edits.register(index(12));
    edits.report({ cacheReadTokens: 100_000, deletedTokens: 0 });
    expect(edits.deletedLocally).toBe(7_000);
    edits.report({ cacheReadTokens: 105_000, deletedTokens: 0 });
    expect(edits.deletedLocally).toBe(0);
  });

  it("expects cache reads to drop by our own estimate when the provider reports no deleted tokens", () => {
    const edits = warm(20_000);
    edits.register(index(12));
    expect(edits.report({ cacheReadTokens: 13_000, deletedTokens: null })).toEqual({
      droppedEdits: 0,
      expectedDrop: 7_000,
    });
    expect(edits.deletedEstimate).toBe(7_000);
    expect([edits.deletedLocally, edits.deletedTokens]).toEqual([0, 0]);
  });

  it("discards all cache edits when the cache-read tokens fall unexpectedly, because the cache is lost", () => {
    const edits = warm();
    edits.register(index(12));
    edits.report({ cacheReadTokens: 93_000, deletedTokens: 7_000 });
    expect(edits.report({ cacheReadTokens: 88_000, deletedTokens: 7_000 })).toEqual({
      droppedEdits: 7,
      expectedDrop: 0,
    });
    expect(edits.edits()).toEqual([]);
    expect([edits.isSuspended, edits.deletedLocally, edits.deletedTokens]).toEqual([true, 0, 0]);
  });

  it("drops all cache edits when a response reads nothing from the cache, even from a small cache", () => {
    const edits = warm(1_500);
    edits.register(index(12));
    expect(edits.report({ cacheReadTokens: 0, deletedTokens: 0 }).droppedEdits).toBe(7);
  });

  it("small drops in cache reads, our own deletions and missing figures do not count as a lost cache", () => {
    const edits = warm();
    edits.register(index(12));
    edits.report({ cacheReadTokens: 93_000, deletedTokens: 7_000 });
    for (const cacheReadTokens of [91_500, undefined, -1, null, Number.NaN, 88_500])
      expect(edits.report({ cacheReadTokens, deletedTokens: 7_000 }).droppedEdits).toBe(0);
    expect(idsOf(edits)).toHaveLength(7);
    expect(edits.isSuspended).toBe(false);
    edits.report({ cacheReadTokens: undefined, deletedTokens: undefined });
    expect(edits.report({ cacheReadTokens: 80_000, deletedTokens: 7_000 }).droppedEdits).toBe(7);
  });

  it("still makes cache edits if the cache was lost while there were no cache edits", () => {
    const edits = warm();
    expect(edits.report({ cacheReadTokens: 10, deletedTokens: undefined }).droppedEdits).toBe(0);
    expect(edits.isSuspended).toBe(false);
    expect(edits.register(index(12))).toBeDefined();
  });

  it("makes no new cache edits after the cache is lost, until a reset and a new read from the cache", () => {
    const edits = warm();
    edits.register(index(12));
    edits.report({ cacheReadTokens: 0, deletedTokens: 0 });
    edits.report({ cacheReadTokens: 100_000, deletedTokens: undefined });
    expect(edits.register(index(30))).toBeUndefined();
    expect(edits.edits()).toEqual([]);
    edits.reset();
    expect(edits.isSuspended).toBe(false);
    expect(edits.register(index(30))).toBeUndefined();
    edits.report({ cacheReadTokens: 100_000, deletedTokens: undefined });
    expect(edits.register(index(30))?.results).toHaveLength(25);
  });

  it("a reset removes all cache edits and sets their token counts to zero", () => {
    const edits = warm();
    edits.register(index(12));
    edits.report({ cacheReadTokens: 93_000, deletedTokens: 7_000 });
    edits.reset();
    expect([edits.edits(), edits.deletedTokens, edits.deletedLocally]).toEqual([[], 0, 0]);
    expect(edits.deletedEstimate).toBe(0);
    expect(edits.report({ cacheReadTokens: 5_000, deletedTokens: undefined }).droppedEdits).toBe(0);
    expect(edits.register(index(11))).toBeUndefined();
  });
});
