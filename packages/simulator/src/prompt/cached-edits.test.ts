import { describe, expect, it } from "vitest";
import { scene } from "../../../../test/support/prompt-scene.ts";
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
 * A conversation with this number of tool calls. Each result has 1,000 tokens and a cache mark at its end.
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

/** Tokens saved by omitting a result: the block, and the markup of the turn that it opens. */
const RESULT_TOKENS = 1_000 + 12 + 4;

describe("a cached edit", () => {
  it("leaves a result out of the cached prefix, and the rest stays readable", () => {
    scene.send(conversation(3));
    const usage = scene.send(conversation(4, "t0"));
    expect(usage).toMatchObject({
      cache_read_input_tokens: whole(3) - RESULT_TOKENS,
      cache_deleted_input_tokens: RESULT_TOKENS,
      cache_creation_input_tokens: whole(4) - whole(3),
      input_tokens: 0,
    });
  });

  it("takes the deleted tokens out of what the model reads, and says which results it no longer sees", () => {
    scene.send(conversation(3));
    const lookup = scene.begin(conversation(3, "t0", "t1"));
    expect(lookup.tokens).toBe(whole(3) - 2 * RESULT_TOKENS);
    expect(lookup.deletedResults).toEqual(["t0", "t1"]);
    expect(sumOf(lookup.usage)).toBe(lookup.tokens);
  });

  it("has no effect on a result that is not in a cached prefix", () => {
    scene.send(conversation(2));
    const lookup = scene.begin(conversation(4, "t3"));
    expect(lookup.usage).toMatchObject({
      cache_deleted_input_tokens: 0,
      cache_read_input_tokens: whole(2),
      cache_creation_input_tokens: whole(4) - whole(2),
    });
    expect(lookup.deletedResults).toEqual([]);
  });

  it("is stale once the cache is gone: everything is counted and written again", () => {
    scene.send(conversation(3));
    scene.send(conversation(3, "t0"));
    scene.clock.advance(5 * MINUTE_MS);
    expect(scene.send(conversation(3, "t0"))).toMatchObject({
      cache_deleted_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: whole(3),
    });
  });

  it("for a result that is not in the conversation changes nothing", () => {
    scene.send(conversation(2));
    expect(scene.send(conversation(2, "nowhere"))).toMatchObject({
      cache_read_input_tokens: whole(2),
      cache_deleted_input_tokens: 0,
    });
  });
});

describe("pinned edits, sent again with every call", () => {
  it("keep the edited prefix readable, and what is new is written after it", () => {
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

  it("take effect for a later result once that has been cached", () => {
    scene.send(conversation(3));
    scene.send(conversation(4, "t0", "t3"));
    expect(scene.send(conversation(5, "t0", "t3"))).toMatchObject({
      cache_read_input_tokens: whole(4) - 2 * RESULT_TOKENS,
      cache_deleted_input_tokens: 2 * RESULT_TOKENS,
    });
  });

  it("can grow: what is cut out already stays cut out", () => {
    scene.send(conversation(3));
    scene.send(conversation(4, "t0"));
    expect(scene.send(conversation(5, "t0", "t1")).cache_deleted_input_tokens).toBe(2 * RESULT_TOKENS);
  });

  it("cannot shrink: what was cut out of a prefix cannot be put back", () => {
    scene.send(conversation(3));
    scene.send(conversation(4, "t0", "t1"));
    const usage = scene.send(conversation(5, "t0"));
    expect(usage.cache_read_input_tokens).toBe(whole(3) - RESULT_TOKENS);
  });

  it("let the unedited entry grow old, since nobody reads it any more", () => {
    scene.send(conversation(3));
    scene.send(conversation(3, "t0"));
    for (let call = 0; call < 3; call++) {
      scene.clock.advance(4 * MINUTE_MS);
      expect(scene.send(conversation(3, "t0")).cache_deleted_input_tokens).toBe(RESULT_TOKENS);
    }
    expect(scene.send(conversation(3)).cache_read_input_tokens).toBe(0);
  });
});

describe("a call without the edits", () => {
  it("reads the unedited entry as long as it is alive", () => {
    scene.send(conversation(3));
    scene.send(conversation(4, "t0"));
    expect(scene.send(conversation(5)).cache_read_input_tokens).toBe(whole(3));
  });

  it("does not read an edited one", () => {
    scene.send(conversation(3));
    scene.clock.advance(MINUTE_MS);
    scene.send(conversation(4, "t0"));
    scene.clock.advance(4 * MINUTE_MS);
    scene.send(conversation(5, "t0"));
    scene.clock.advance(MINUTE_MS);
    expect(scene.send(conversation(5)).cache_read_input_tokens).toBe(0);
  });

  it("says nothing about deleted tokens", () => {
    for (const body of [conversation(2), { ...conversation(2), cache_edits: [] }]) {
      expect(scene.send(body)).not.toHaveProperty("cache_deleted_input_tokens");
    }
  });
});

it("only edits of the known kind are read", () => {
  const cache_edits = [
    { type: "delete_tool_result", tool_use_id: "a" },
    { type: "delete_tool_result" },
    { type: "other", tool_use_id: "b" },
    null,
  ];
  expect([...readCacheEdits({ cache_edits })]).toEqual(["a"]);
  expect(readCacheEdits({}).size).toBe(0);
});
