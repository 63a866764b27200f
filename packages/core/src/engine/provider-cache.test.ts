import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { CACHE_TTL_MS } from "../measure/cost/rewrite-cost.ts";
import { type CacheBreak, type CacheFingerprint, CacheWatch } from "./provider-cache.ts";

const tools = [{ name: "Read" }];
const plain: CacheFingerprint = { system: "be brief", tools, model: "claude-sonnet-5", betas: ["a"], at: 0 };
let watch: CacheWatch;

beforeEach(() => {
  watch = new CacheWatch();
});

const call = (
  readTokens: number | null | undefined,
  change: Partial<CacheFingerprint> = {},
): CacheBreak | undefined => watch.recordResponse(readTokens, watch.recordRequest({ ...plain, ...change }));

describe("reported cache breaks", () => {
  it("reports a cache break when cache reads drop by over 5% and over 2,000 tokens", () => {
    call(100_000);
    expect(call(95_000)).toBeUndefined();
    expect(call(90_249)).toEqual({ before: 95_000, after: 90_249, expected: 95_000, causes: ["unknown"] });
  });

  it.each([
    [100_000, 95_000, false],
    [100_000, 94_999, true],
    [10_000, 8_000, false],
    [10_000, 7_999, true],
    [2_001, 0, true],
    [2_000, 0, false],
    [50_000, 60_000, false],
  ])("a change of cache reads from %d to %d tokens is a cache break: %s", (before, after, isBreak) => {
    expect(call(before)).toBeUndefined();
    expect(call(after) !== undefined).toBe(isBreak);
  });

  it("compares the cache reads of each response with those of the previous response", () => {
    call(100_000);
    expect(call(0)).toBeDefined();
    expect(call(0)).toBeUndefined();
    expect(call(80_000)).toBeUndefined();
    expect(call(10_000)).toMatchObject({ before: 80_000 });
  });

  it.each<readonly [string, Partial<CacheFingerprint>]>([
    ["system prompt", { system: "be long" }],
    ["tools", { tools: [{ name: "Read" }, { name: "Bash" }] }],
    ["model", { model: "claude-opus-5" }],
    ["betas", { betas: ["a", "b"] }],
    ["time gap", { at: CACHE_TTL_MS["5m"] }],
  ])("names the changed part as the cause of a cache break: %s", (cause, change) => {
    call(100_000);
    expect(call(0, change)?.causes).toEqual([cause]);
  });

  it("names all changed parts as causes of a cache break", () => {
    call(100_000);
    const causes = call(0, {
      system: "x",
      tools: [],
      model: "m",
      betas: undefined,
      at: CACHE_TTL_MS["5m"],
    })?.causes;
    expect(causes).toEqual(["system prompt", "tools", "model", "betas", "time gap"]);
  });

  it("names tools as the cause of a cache break if their fields were reordered, but not if they are equal", () => {
    call(100_000, { tools: [{ name: "Read", description: "d" }] });
    expect(call(0, { tools: [{ name: "Read", description: "d" }] })?.causes).toEqual(["unknown"]);
    call(100_000, { tools: [{ name: "Read", description: "d" }] });
    expect(call(0, { tools: [{ description: "d", name: "Read" }] })?.causes).toEqual(["tools"]);
  });

  it("finds a cache break even if the request cannot be written as JSON", () => {
    const round: { self?: unknown } = {};
    round.self = round;
    call(100_000, { system: round });
    expect(call(0, { system: 5n })).toBeDefined();
  });

  it("names a time gap as the cause of a cache break only after the cache lifetime", () => {
    watch = new CacheWatch({ ttlMs: CACHE_TTL_MS["1h"] });
    call(100_000);
    expect(call(0, { at: CACHE_TTL_MS["1h"] - 1 })?.causes).toEqual(["unknown"]);
    call(100_000, { at: 0 });
    expect(call(0, { at: CACHE_TTL_MS["1h"] })?.causes).toEqual(["time gap"]);
  });

  it.each([-1e15, Number.NaN, Number.NEGATIVE_INFINITY])(
    "never names a time gap as the cause of a cache break if the clock returns %d",
    (at) => {
      call(100_000);
      expect(call(0, { at })?.causes).toEqual(["unknown"]);
    },
  );

  it("names a change as the cause of a cache break even if the first response after it had no cache figure", () => {
    call(100_000);
    call(undefined, { system: "new" });
    expect(call(0, { system: "new" })?.causes).toEqual(["system prompt"]);
  });
});

describe("changes of cache reads that are no cache breaks", () => {
  it("reports no cache break for the first response, or for the first one after a rewrite", () => {
    expect(call(0)).toBeUndefined();
    call(100_000);
    watch.dropBaseline();
    expect(call(0)).toBeUndefined();
    expect(call(50_000)).toBeUndefined();
    expect(call(0)).toMatchObject({ before: 50_000 });
  });

  it("ignores the cache reads of a request that was sent before the last rewrite", () => {
    call(50_000);
    const old = watch.recordRequest(plain);
    watch.dropBaseline();
    expect(watch.recordResponse(100_000, old)).toBeUndefined();
    expect(call(5_000)).toBeUndefined();
  });

  it("subtracts an expected drop of cache reads from the expected cache reads only once", () => {
    call(100_000);
    watch.expectDrop(60_000);
    expect(call(38_001)).toBeUndefined();
    expect(call(38_001)).toBeUndefined();
    expect(call(30_000)).toMatchObject({ before: 38_001, expected: 38_001 });
  });

  it("reports a cache break if cache reads drop by more than the sum of the expected drops", () => {
    call(100_000);
    watch.expectDrop(20_000);
    watch.expectDrop(10_000);
    expect(call(60_000)).toEqual({ before: 100_000, after: 60_000, expected: 70_000, causes: ["unknown"] });
  });

  it("an expected drop of cache reads also applies to a request that was sent before the drop was announced", () => {
    call(100_000);
    const edited = watch.recordRequest(plain);
    watch.expectDrop(60_000);
    expect(watch.recordResponse(40_000, edited)).toBeUndefined();
    expect(call(0)).toMatchObject({ before: 40_000, expected: 40_000 });
  });

  it("if a response reports no cache reads, the expected drop of cache reads applies to the next response", () => {
    call(100_000);
    watch.expectDrop(60_000);
    call(undefined);
    expect(call(40_000)).toBeUndefined();
  });

  it("a rewrite discards an expected drop of cache reads that has not occurred", () => {
    call(100_000);
    watch.expectDrop(100_000);
    watch.dropBaseline();
    call(100_000);
    expect(call(0)).toMatchObject({ expected: 100_000 });
  });

  it.each([Number.NaN, -5, Number.POSITIVE_INFINITY])(
    "ignores an expected drop of cache reads by %d tokens",
    (tokens) => {
      call(100_000);
      watch.expectDrop(tokens);
      expect(call(0)).toMatchObject({ expected: 100_000 });
    },
  );

  it("reports no cache break for a provider without cache figures", () => {
    for (const figure of [undefined, null, Number.NaN, -1]) {
      call(100_000);
      expect(call(figure)).toBeUndefined();
      expect(call(100_000)).toBeUndefined();
    }
  });

  it("reports no cache break for responses that arrive out of order or twice", () => {
    call(10_000);
    const first = watch.recordRequest(plain);
    const second = watch.recordRequest(plain);
    expect(watch.recordResponse(90_000, second)).toBeUndefined();
    expect(watch.recordResponse(20_000, first)).toBeUndefined();
    expect(watch.recordResponse(0, second)).toBeUndefined();
    expect(call(90_000)).toBeUndefined();
  });

  it("compares cache figures separately for each caller", () => {
    const as = (caller: string, readTokens: number): CacheBreak | undefined =>
      watch.recordResponse(readTokens, watch.recordRequest(plain, caller));
    as("main", 100_000);
    expect(as("sdk", 5_000)).toBeUndefined();
    expect(as("main", 100_000)).toBeUndefined();
    expect(as("sdk", 0)).toMatchObject({ before: 5_000 });
  });

  it("assigns a response to the newest request of the main conversation if the caller names no request", () => {
    expect(watch.recordResponse(100_000)).toBeUndefined();
    watch.recordRequest(plain);
    watch.recordResponse(100_000);
    watch.recordRequest({ ...plain, system: "x" });
    expect(watch.recordResponse(0)?.causes).toEqual(["system prompt"]);
  });

  it("reports a cache break only for an unexpected drop of cache reads, in any sequence of calls", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("call" as const), read: fc.nat(200_000), at: fc.double() }),
      fc.record({ kind: fc.constant("edit" as const), tokens: fc.nat(50_000) }),
      fc.record({ kind: fc.constant("rewrite" as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const subject = new CacheWatch();
        let previous: number | undefined;
        let announced = 0;
        for (const change of steps) {
          if (change.kind === "edit") {
            subject.expectDrop(change.tokens);
            announced += change.tokens;
          } else if (change.kind === "rewrite") {
            subject.dropBaseline();
            previous = undefined;
            announced = 0;
          } else {
            const found = subject.recordResponse(
              change.read,
              subject.recordRequest({ ...plain, at: change.at }),
            );
            const expected = Math.max(0, (previous ?? 0) - announced);
            const isLost = expected - change.read > 2_000 && change.read < expected * 0.95;
            expect(found !== undefined).toBe(previous !== undefined && isLost);
            previous = change.read;
            announced = 0;
          }
        }
      }),
    );
  });
});
