import { costOf } from "@longhaul/core/measure";
import { describe, expect, it } from "vitest";
import { scene, upTo } from "../../../../../test/support/prompt-scene.ts";
import { assistant, type Body, HOUR, MARK, MINUTE_MS, sumOf, text, toolUse, user } from "./scene.case.ts";

const marked: Body = { system: [text(2_000, "s", MARK)], messages: [user(text(500, "a"))] };

describe("writing and reading the prompt cache", () => {
  it("keeps at most 4,096 cached prefixes on a clock that does not move, and drops the oldest first", () => {
    const numbered = (call: number): Body => ({ ...marked, messages: [user(text(1, String(call), MARK))] });
    for (let call = 0; call < 5_000; call++) scene.send(numbered(call));
    expect(scene.cache.size).toBe(4_096);
    // Every call reads the system prompt, so its entry stays.
    const first = scene.send(numbered(0)).cache_read_input_tokens;
    expect(first).toBe(upTo(marked, 0));
    expect(scene.send(numbered(4_999)).cache_read_input_tokens).toBeGreaterThan(first);
  });

  it("writes the prompt to the cache up to the cache mark and counts the rest as plain input", () => {
    const usage = scene.send(marked);
    const system = upTo(marked, 0);
    expect(usage).toEqual({
      input_tokens: scene.prompt(marked).tokens - system,
      cache_creation_input_tokens: system,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: system, ephemeral_1h_input_tokens: 0 },
    });
  });

  it("a call reads the prompt prefix that an earlier call wrote to the cache", () => {
    scene.send(marked);
    const usage = scene.send(marked);
    expect(usage.cache_read_input_tokens).toBe(upTo(marked, 0));
    expect(usage.cache_creation_input_tokens).toBe(0);
  });

  it("caches nothing in a request without a cache mark", () => {
    const body: Body = { system: "s".repeat(2_000), messages: [user(text(5))] };
    scene.send(body);
    expect(scene.send(body)).toMatchObject({ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 });
  });

  it("writes cache entries only at blocks with a cache mark", () => {
    scene.send({ messages: [user(text(2_000, "a"), text(10, "b"), text(10, "c", MARK))] });
    const shorter: Body = { messages: [user(text(2_000, "a"), text(10, "b", MARK))] };
    expect(scene.send(shorter).cache_read_input_tokens).toBe(0);
  });

  it("reads the longest cached prefix and writes the rest up to the last cache mark", () => {
    const first: Body = { system: [text(2_000, "s", MARK)], messages: [user(text(300, "a", MARK))] };
    scene.send(first);
    const second: Body = {
      ...first,
      messages: [...first.messages, assistant(text(70, "b")), user(text(30, "c", MARK))],
    };
    const usage = scene.send(second);
    expect(usage.cache_read_input_tokens).toBe(scene.prompt(first).tokens);
    expect(usage.cache_creation_input_tokens).toBe(scene.prompt(second).tokens - scene.prompt(first).tokens);
    expect(usage.input_tokens).toBe(0);
  });

  it("other calls can read a cache entry only after the response to the call that writes the entry has begun", () => {
    const first = scene.begin(marked);
    expect(scene.begin(marked).usage.cache_read_input_tokens).toBe(0);
    first.commit();
    expect(scene.begin(marked).usage.cache_read_input_tokens).toBeGreaterThan(0);
  });

  it("a call with max_tokens 0 writes the cache", () => {
    scene.send({ ...marked, max_tokens: 0 });
    expect(scene.send(marked).cache_read_input_tokens).toBe(upTo(marked, 0));
  });

  it("reads a cached prefix after the cache mark has moved to a later block", () => {
    scene.send({ messages: [user(text(2_000, "a", MARK))] });
    const moved: Body = { messages: [user(text(2_000, "a"), text(9, "b", MARK))] };
    expect(scene.send(moved).cache_read_input_tokens).toBe(upTo(moved, 0));
  });

  it("treats a cache mark inside a tool result as a cache mark on the result", () => {
    const call = (mark?: object): Body => ({
      messages: [
        user(text(2_000)),
        assistant(toolUse("a")),
        user({
          type: "tool_result",
          tool_use_id: "a",
          content: [{ type: "text", text: "found", ...(mark && { cache_control: mark }) }],
        }),
      ],
    });
    const first = scene.send(call(HOUR));
    expect(first.cache_creation.ephemeral_1h_input_tokens).toBe(scene.prompt(call()).tokens);
    expect(scene.send({ ...call(), cache_control: MARK }).input_tokens).toBe(0);
  });
});

describe("the minimum length of a cached prefix", () => {
  it.each([
    ["claude-opus-5-5", 512],
    ["claude-sonnet-4-6", 1_024],
    ["claude-opus-4-7", 2_048],
    ["claude-haiku-4-5", 4_096],
  ])(
    "caches nothing for %s if the prefix has fewer than %i tokens, and reports no error",
    (model, minimum) => {
      const sized = (tokens: number): Body => ({ model, messages: [user(text(tokens, "a", MARK))] });
      let tokens = 1;
      while (scene.prompt(sized(tokens + 1)).tokens < minimum) tokens++;
      expect(scene.send(sized(tokens))).toMatchObject({
        input_tokens: scene.prompt(sized(tokens)).tokens,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      });
      expect(scene.send(sized(tokens + 1)).cache_creation_input_tokens).toBeGreaterThanOrEqual(minimum);
    },
  );

  it("compares only the tokens up to the cache mark with the minimum, not those of the whole prompt", () => {
    const body: Body = { system: [text(100, "s", MARK)], messages: [user(text(5_000))] };
    expect(scene.send(body).cache_creation_input_tokens).toBe(0);
  });
});

describe("lifetimes of cache entries", () => {
  const hour: Body = { system: [text(2_000, "s", HOUR)], messages: [user(text(5))] };

  it.each([
    ["five minutes", marked, 5],
    ["an hour", hour, 60],
  ])("expires a cache entry after %s", (_, body, minutes) => {
    scene.send(body);
    scene.clock.advance(minutes * MINUTE_MS - 1);
    expect(scene.begin(body).usage.cache_read_input_tokens).toBeGreaterThan(0);
    scene.clock.advance(1);
    expect(scene.begin(body).usage.cache_read_input_tokens).toBe(0);
  });

  it("every read of a cache entry restarts its lifetime", () => {
    scene.send(marked);
    for (let call = 0; call < 10; call++) {
      scene.clock.advance(4 * MINUTE_MS);
      expect(scene.send(marked).cache_read_input_tokens).toBeGreaterThan(0);
    }
  });

  it("a read of a cache entry restarts its lifetime, even if the cache mark has moved", () => {
    const start: Body = { messages: [user(text(2_000, "a", MARK))] };
    const branch = (letter: string): Body => ({ messages: [user(text(2_000, "a"), text(9, letter, MARK))] });
    scene.send(start);
    scene.clock.advance(4 * MINUTE_MS);
    scene.send(branch("b"));
    scene.clock.advance(4 * MINUTE_MS);
    expect(scene.send(branch("c")).cache_read_input_tokens).toBe(upTo(start, 0));
  });

  it("the lifetime of a cache entry starts with the request, not with the answer", () => {
    const lookup = scene.begin(marked);
    scene.clock.advance(4 * MINUTE_MS);
    lookup.commit();
    scene.clock.advance(MINUTE_MS);
    expect(scene.send(marked).cache_read_input_tokens).toBe(0);
  });

  it("a one-hour cache mark does not extend the lifetime of an existing five-minute entry", () => {
    scene.send(marked);
    scene.send(hour);
    scene.clock.advance(6 * MINUTE_MS);
    expect(scene.send(hour).cache_read_input_tokens).toBe(0);
  });

  it("removes expired cache entries from memory", () => {
    for (let call = 0; call < 500; call++) {
      scene.send({ system: [text(2_000, "s", MARK)], messages: [user(text(500, String(call), MARK))] });
      scene.clock.advance(MINUTE_MS);
    }
    expect(scene.cache.size).toBeLessThan(10);
  });

  it("writes a cache entry again that expired between the request and the answer", () => {
    scene.send(marked);
    scene.clock.advance(4 * MINUTE_MS);
    const lookup = scene.begin(marked);
    scene.clock.advance(3 * MINUTE_MS);
    scene.begin({ messages: [user(text(1))] });
    lookup.commit();
    expect(scene.send(marked).cache_read_input_tokens).toBeGreaterThan(0);
  });
});

describe("a request with one-hour and five-minute cache marks", () => {
  const body: Body = {
    tools: [{ name: "Read", input_schema: { type: "object" }, cache_control: HOUR }],
    system: [text(2_000, "s", HOUR)],
    messages: [user(text(300, "a", MARK)), assistant(text(20, "b")), user(text(10, "c"))],
  };

  it("bills the one-hour price up to the last one-hour mark, then the five-minute price up to the last mark", () => {
    expect(scene.send(body)).toMatchObject({
      cache_creation: {
        ephemeral_1h_input_tokens: upTo(body, 1),
        ephemeral_5m_input_tokens: upTo(body, 2) - upTo(body, 1),
      },
      input_tokens: scene.prompt(body).tokens - upTo(body, 2),
    });
  });

  it("bills only the part after the longest cached prefix as a cache write", () => {
    scene.send(body);
    scene.clock.advance(10 * MINUTE_MS);
    expect(scene.send(body)).toMatchObject({
      cache_read_input_tokens: upTo(body, 1),
      cache_creation: {
        ephemeral_1h_input_tokens: 0,
        ephemeral_5m_input_tokens: upTo(body, 2) - upTo(body, 1),
      },
    });
  });

  it("the cost of a call follows the prices for one-hour and five-minute writes and plain input", () => {
    const { usage } = scene.begin(body);
    const cost = costOf({ ...usage, output_tokens: 0 }, "claude-sonnet-4-6");
    const { ephemeral_1h_input_tokens: hour, ephemeral_5m_input_tokens: minutes } = usage.cache_creation;
    expect(cost).toBeCloseTo((hour * 6 + minutes * 3.75 + usage.input_tokens * 3) / 1_000_000, 12);
  });

  it("reports no cost for a model without published prices", () => {
    const model = "claude-fable-5-2";
    const { usage } = scene.begin({ ...body, model });
    expect(costOf({ ...usage, output_tokens: 0 }, model)).toBeUndefined();
  });
});

describe("isolation of the prompt cache", () => {
  it("shares cache entries only within a workspace", () => {
    scene.send(marked, { workspace: "one" });
    expect(scene.send(marked, { workspace: "two" }).cache_read_input_tokens).toBe(0);
    expect(scene.send(marked, { workspace: "one" }).cache_read_input_tokens).toBeGreaterThan(0);
  });

  it("shares cache entries only between calls of the same model", () => {
    scene.send({ ...marked, model: "claude-opus-4-6" });
    expect(scene.send({ ...marked, model: "claude-sonnet-4-6" }).cache_read_input_tokens).toBe(0);
  });
});

it("reports usage figures that add up to the tokens of the prompt", () => {
  for (const body of [marked, marked, { ...marked, cache_control: MARK }]) {
    expect(sumOf(scene.send(body))).toBe(scene.prompt(body).tokens);
  }
});
