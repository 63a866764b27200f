import { costOf } from "@longhaul/core/measure";
import { describe, expect, it } from "vitest";
import { scene, upTo } from "../../../../test/support/prompt-scene.ts";
import { assistant, type Body, HOUR, MARK, MINUTE_MS, sumOf, text, toolUse, user } from "./scene.case.ts";

const marked: Body = { system: [text(2_000, "s", MARK)], messages: [user(text(500, "a"))] };

describe("writing and reading the prompt cache", () => {
  it("writes the cache up to the mark and counts the rest as plain input", () => {
    const usage = scene.send(marked);
    const system = upTo(marked, 0);
    expect(usage).toEqual({
      input_tokens: scene.prompt(marked).tokens - system,
      cache_creation_input_tokens: system,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: system, ephemeral_1h_input_tokens: 0 },
    });
  });

  it("reads the prefix that an earlier call wrote", () => {
    scene.send(marked);
    const usage = scene.send(marked);
    expect(usage.cache_read_input_tokens).toBe(upTo(marked, 0));
    expect(usage.cache_creation_input_tokens).toBe(0);
  });

  it("caches nothing without a mark", () => {
    const body: Body = { system: "s".repeat(2_000), messages: [user(text(5))] };
    scene.send(body);
    expect(scene.send(body)).toMatchObject({ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 });
  });

  it("writes entries only at marked blocks", () => {
    scene.send({ messages: [user(text(2_000, "a"), text(10, "b"), text(10, "c", MARK))] });
    const shorter: Body = { messages: [user(text(2_000, "a"), text(10, "b", MARK))] };
    expect(scene.send(shorter).cache_read_input_tokens).toBe(0);
  });

  it("reads the longest of several prefixes and writes the rest", () => {
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

  it("makes an entry readable only after the response has begun", () => {
    const first = scene.begin(marked);
    expect(scene.begin(marked).usage.cache_read_input_tokens).toBe(0);
    first.commit();
    expect(scene.begin(marked).usage.cache_read_input_tokens).toBeGreaterThan(0);
  });

  it("writes the cache in a call with max_tokens 0", () => {
    scene.send({ ...marked, max_tokens: 0 });
    expect(scene.send(marked).cache_read_input_tokens).toBe(upTo(marked, 0));
  });

  it("recognizes a prefix whose marks have moved", () => {
    scene.send({ messages: [user(text(2_000, "a", MARK))] });
    const moved: Body = { messages: [user(text(2_000, "a"), text(9, "b", MARK))] };
    expect(scene.send(moved).cache_read_input_tokens).toBe(upTo(moved, 0));
  });

  it("treats a mark inside a tool result as a mark on the result", () => {
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

describe("the minimum cache length", () => {
  it.each([
    ["claude-opus-5-5", 512],
    ["claude-sonnet-4-6", 1_024],
    ["claude-opus-4-7", 2_048],
    ["claude-haiku-4-5", 4_096],
  ])("caches nothing for %s below %i tokens, without an error", (model, minimum) => {
    const sized = (tokens: number): Body => ({ model, messages: [user(text(tokens, "a", MARK))] });
    let tokens = 1;
    while (scene.prompt(sized(tokens + 1)).tokens < minimum) tokens++;
    expect(scene.send(sized(tokens))).toMatchObject({
      input_tokens: scene.prompt(sized(tokens)).tokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    });
    expect(scene.send(sized(tokens + 1)).cache_creation_input_tokens).toBeGreaterThanOrEqual(minimum);
  });

  it("compares the prefix up to the mark with the minimum, not the whole prompt", () => {
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

  it("renews the lifetime with every hit", () => {
    scene.send(marked);
    for (let call = 0; call < 10; call++) {
      scene.clock.advance(4 * MINUTE_MS);
      expect(scene.send(marked).cache_read_input_tokens).toBeGreaterThan(0);
    }
  });

  it("renews the lifetime of the prefix that was read, even after the mark has moved", () => {
    const start: Body = { messages: [user(text(2_000, "a", MARK))] };
    const branch = (letter: string): Body => ({ messages: [user(text(2_000, "a"), text(9, letter, MARK))] });
    scene.send(start);
    scene.clock.advance(4 * MINUTE_MS);
    scene.send(branch("b"));
    scene.clock.advance(4 * MINUTE_MS);
    expect(scene.send(branch("c")).cache_read_input_tokens).toBe(upTo(start, 0));
  });

  it("measures the lifetime from the start of the request, not from its answer", () => {
    const lookup = scene.begin(marked);
    scene.clock.advance(4 * MINUTE_MS);
    lookup.commit();
    scene.clock.advance(MINUTE_MS);
    expect(scene.send(marked).cache_read_input_tokens).toBe(0);
  });

  it("keeps the lifetime of an entry: a one-hour mark does not extend a five-minute entry", () => {
    scene.send(marked);
    scene.send(hour);
    scene.clock.advance(6 * MINUTE_MS);
    expect(scene.send(hour).cache_read_input_tokens).toBe(0);
  });

  it("removes expired entries from memory", () => {
    for (let call = 0; call < 500; call++) {
      scene.send({ system: [text(2_000, "s", MARK)], messages: [user(text(500, String(call), MARK))] });
      scene.clock.advance(MINUTE_MS);
    }
    expect(scene.cache.size).toBeLessThan(10);
  });

  it("rewrites an entry that expired between request and answer", () => {
    scene.send(marked);
    scene.clock.advance(4 * MINUTE_MS);
    const lookup = scene.begin(marked);
    scene.clock.advance(3 * MINUTE_MS);
    scene.begin({ messages: [user(text(1))] });
    lookup.commit();
    expect(scene.send(marked).cache_read_input_tokens).toBeGreaterThan(0);
  });
});

describe("marks of both lifetimes", () => {
  const body: Body = {
    tools: [{ name: "Read", input_schema: { type: "object" }, cache_control: HOUR }],
    system: [text(2_000, "s", HOUR)],
    messages: [user(text(300, "a", MARK)), assistant(text(20, "b")), user(text(10, "c"))],
  };

  it("bills one hour up to the last one-hour mark, and five minutes from there to the last mark", () => {
    expect(scene.send(body)).toMatchObject({
      cache_creation: {
        ephemeral_1h_input_tokens: upTo(body, 1),
        ephemeral_5m_input_tokens: upTo(body, 2) - upTo(body, 1),
      },
      input_tokens: scene.prompt(body).tokens - upTo(body, 2),
    });
  });

  it("bills only the part after the longest prefix that was read", () => {
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

  it("costs the prices of the price table", () => {
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
