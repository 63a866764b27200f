import { describe, expect, it } from "vitest";
import { scene } from "../../../../../test/support/prompt-scene.ts";
import { readCacheEdits } from "./prompt-cache.ts";
import {
  assistant,
  type Body,
  MARK,
  MINUTE_MS,
  sumOf,
  text,
  toolResult,
  toolUse,
  user,
} from "./scene.case.ts";

/**
 * Creates a conversation with this number of tool calls, and cached edits that delete the given results. Each
 * result has 1,000 tokens. The last result has a cache mark.
 */
function conversation(calls: number, ...deleted: readonly string[]): Body {
  const messages = [user(text(2_000, "a"))];
  for (let call = 0; call < calls; call++) {
    const mark = call === calls - 1 ? MARK : undefined;
    messages.push(assistant(toolUse(`t${call}`)), user(toolResult(`t${call}`, 1_000, mark)));
  }
  const edits = deleted.map((id) => ({ type: "delete_tool_result", tool_use_id: id }));
  return deleted.length === 0 ? { messages } : { messages, cache_edits: edits };
}

const whole = (calls: number): number => scene.prompt(conversation(calls)).tokens;

/** Tokens that a deleted result saves: its text, the markup of the block, and the markup of its turn. */
const RESULT_TOKENS = 1_000 + 12 + 4;

describe("a cached edit, which deletes a tool result from a cached prefix", () => {
  it("a cached edit removes a tool result from the cached prefix, and the rest is still read from the cache", () => {
    scene.send(conversation(3));
    const usage = scene.send(conversation(4, "t0"));
    expect(usage).toMatchObject({
      cache_read_input_tokens: whole(3) - RESULT_TOKENS,
      cache_deleted_input_tokens: RESULT_TOKENS,
      cache_creation_input_tokens: whole(4) - whole(3),
      input_tokens: 0,
    });
  });

  it("a cached edit reduces the input by the deleted tokens and lists the deleted tool results", () => {
    scene.send(conversation(3));
    const lookup = scene.begin(conversation(3, "t0", "t1"));
    expect(lookup.tokens).toBe(whole(3) - 2 * RESULT_TOKENS);
    expect(lookup.deletedResults).toEqual(["t0", "t1"]);
    expect(sumOf(lookup.usage)).toBe(lookup.tokens);
  });

  it("a cached edit has no effect on a tool result outside the cached prefix", () => {
    scene.send(conversation(2));
    const lookup = scene.begin(conversation(4, "t3"));
    expect(lookup.usage).toMatchObject({
      cache_deleted_input_tokens: 0,
      cache_read_input_tokens: whole(2),
      cache_creation_input_tokens: whole(4) - whole(2),
    });
    expect(lookup.deletedResults).toEqual([]);
  });

  it("a cached edit has no effect after the cache entry expired, so everything is written again", () => {
    scene.send(conversation(3));
    scene.send(conversation(3, "t0"));
    scene.clock.advance(5 * MINUTE_MS);
    expect(scene.send(conversation(3, "t0"))).toMatchObject({
      cache_deleted_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: whole(3),
    });
  });

  it("a cached edit has no effect for a tool result that is not in the conversation", () => {
    scene.send(conversation(2));
    expect(scene.send(conversation(2, "nowhere"))).toMatchObject({
      cache_read_input_tokens: whole(2),
      cache_deleted_input_tokens: 0,
    });
  });
});

describe("cached edits that later calls repeat", () => {
  it("calls that repeat the same cached edits read the edited prefix and write only new messages", () => {
    scene.send(conversation(3));
    for (let calls = 4; calls < 12; calls++) {
      expect(scene.send(conversation(calls, "t0", "t1"))).toMatchObject({
        cache_read_input_tokens: whole(calls - 1) - 2 * RESULT_TOKENS,
        cache_creation_input_tokens: whole(calls) - whole(calls - 1),
        cache_deleted_input_tokens: 2 * RESULT_TOKENS,
      });
      scene.clock.advance(4 * MINUTE_MS);
    }
  });

  it("a repeated cached edit deletes a tool result as soon as that result is cached", () => {
    scene.send(conversation(3));
    scene.send(conversation(4, "t0", "t3"));
    expect(scene.send(conversation(5, "t0", "t3"))).toMatchObject({
      cache_read_input_tokens: whole(4) - 2 * RESULT_TOKENS,
      cache_deleted_input_tokens: 2 * RESULT_TOKENS,
    });
  });

  it("a call can add cached edits to those that it repeats", () => {
    scene.send(conversation(3));
    scene.send(conversation(4, "t0"));
    expect(scene.send(conversation(5, "t0", "t1")).cache_deleted_input_tokens).toBe(2 * RESULT_TOKENS);
  });

  it("a call that omits a cached edit does not read the prefix from which that edit deleted a result", () => {
    scene.send(conversation(3));
    scene.send(conversation(4, "t0", "t1"));
    const usage = scene.send(conversation(5, "t0"));
    expect(usage.cache_read_input_tokens).toBe(whole(3) - RESULT_TOKENS);
  });

  it("the unedited cache entry expires if all later calls have cached edits", () => {
    scene.send(conversation(3));
    scene.send(conversation(3, "t0"));
    for (let call = 0; call < 3; call++) {
      scene.clock.advance(4 * MINUTE_MS);
      expect(scene.send(conversation(3, "t0")).cache_deleted_input_tokens).toBe(RESULT_TOKENS);
    }
    expect(scene.send(conversation(3)).cache_read_input_tokens).toBe(0);
  });
});

describe("a call without cached edits", () => {
  it("a call without cached edits reads the unedited cache entry until that entry expires", () => {
    scene.send(conversation(3));
    scene.send(conversation(4, "t0"));
    expect(scene.send(conversation(5)).cache_read_input_tokens).toBe(whole(3));
  });

  it("a call without cached edits does not read an edited cache entry", () => {
    scene.send(conversation(3));
    scene.clock.advance(MINUTE_MS);
    scene.send(conversation(4, "t0"));
    scene.clock.advance(4 * MINUTE_MS);
    scene.send(conversation(5, "t0"));
    scene.clock.advance(MINUTE_MS);
    expect(scene.send(conversation(5)).cache_read_input_tokens).toBe(0);
  });

  it("a call without cached edits reports no deleted tokens", () => {
    for (const body of [conversation(2), { ...conversation(2), cache_edits: [] }]) {
      expect(scene.send(body)).not.toHaveProperty("cache_deleted_input_tokens");
    }
  });
});

it("ignores cached edits of an unknown type", () => {
  const cache_edits = [
    { type: "delete_tool_result", tool_use_id: "a" },
    { type: "delete_tool_result" },
    { type: "other", tool_use_id: "b" },
    null,
  ];
  expect([...readCacheEdits({ cache_edits })]).toEqual(["a"]);
  expect(readCacheEdits({}).size).toBe(0);
});
