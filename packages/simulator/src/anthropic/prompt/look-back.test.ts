import { describe, expect, it } from "vitest";
import { scene, upTo } from "../../../../../test/support/prompt-scene.ts";
import { assistant, type Body, MARK, text, toolResult, toolUse, user } from "./scene.case.ts";

describe("the search for an earlier cache entry before a cache mark", () => {
  /**
   * Creates a request with the block of `start`, then this number of plain blocks, then a block with a cache
   * mark.
   */
  const grown = (blocks: number): Body => {
    const between = Array.from({ length: blocks }, (_, index) => text(3, String(index % 10)));
    return { messages: [user(text(2_000, "a"), ...between, text(3, "z", MARK))] };
  };
  const start: Body = { messages: [user(text(2_000, "a", MARK))] };

  it.each([
    [18, true],
    [19, false],
  ])("a cache mark after %i new blocks finds the earlier cache entry: %s", (blocks, isFound) => {
    scene.send(start);
    expect(scene.send(grown(blocks)).cache_read_input_tokens).toBe(isFound ? upTo(start, 0) : 0);
  });

  it("the search for an earlier cache entry restarts at every cache mark", () => {
    scene.send(start);
    const body = grown(30);
    const blocks = body.messages[0]?.content as readonly object[];
    const withMiddle = blocks.map((block, index) =>
      index === 15 ? { ...block, cache_control: MARK } : block,
    );
    expect(scene.send({ messages: [{ role: "user", content: withMiddle }] }).cache_read_input_tokens).toBe(
      upTo(start, 0),
    );
  });

  it("the search for a cache entry counts consecutive calls as one block, and consecutive results as one block", () => {
    scene.send(start);
    const ids = Array.from({ length: 30 }, (_, index) => `t${index}`);
    const body: Body = {
      messages: [
        user(text(2_000, "a")),
        assistant(...ids.map((id) => toolUse(id))),
        user(...ids.map((id) => toolResult(id, 3)), text(5, "z", MARK)),
      ],
    };
    expect(scene.send(body).cache_read_input_tokens).toBe(upTo(start, 0));
  });

  it("finds a cache entry that was written in the middle of consecutive tool results", () => {
    const ids = ["a", "b", "c"];
    const body = (markedId: string): Body => ({
      messages: [
        user(text(2_000)),
        assistant(...ids.map((id) => toolUse(id))),
        user(...ids.map((id) => toolResult(id, 9, id === markedId ? MARK : undefined))),
      ],
    });
    scene.send(body("a"));
    expect(scene.send(body("c")).cache_read_input_tokens).toBe(upTo(body("a"), 4));
  });

  it("the search from a cache mark in the messages finds a cache entry in the system prompt", () => {
    const marked: Body = { system: [text(2_000, "s", MARK)], messages: [user(text(500, "a"))] };
    scene.send(marked);
    const body: Body = { system: [text(2_000, "s")], messages: [user(text(7, "q", MARK))] };
    expect(scene.send(body).cache_read_input_tokens).toBe(upTo(marked, 0));
  });
});
