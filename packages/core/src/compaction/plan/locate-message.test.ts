import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import type { Entry } from "../../messages/entry.ts";
import { locateMessage, messageNotFound } from "./choose-cut.ts";
import { lastBoundaryIndex } from "./sized.ts";

describe("locateMessage", () => {
  const c = new ConversationBuilder();
  c.user("one");
  c.user("two");
  const entries = [null, ...c.entries] as readonly Entry[];

  it("finds a message by its id or its index, and by nothing else", () => {
    expect(locateMessage(entries, "e-2")).toBe(2);
    expect([locateMessage(entries, 0), locateMessage(entries, 2)]).toEqual([0, 2]);
    for (const ref of ["", "e-3", 3, -1, 0.5, Number.NaN])
      expect(locateMessage(entries, ref)).toBeUndefined();
  });

  it("finds the last boundary, or the start of the conversation when there is none", () => {
    expect(lastBoundaryIndex(entries)).toBe(0);
    const twice = new ConversationBuilder();
    twice.boundary();
    twice.user("one");
    twice.boundary();
    expect(lastBoundaryIndex([...twice.entries, ...entries])).toBe(2);
  });

  it("the error about a missing message names the message and says what to pass instead", () => {
    expect(messageNotFound("nowhere")).toMatchObject({
      code: "message-not-found",
      message: expect.stringContaining("has no message nowhere"),
      remedy: expect.stringContaining("uuid"),
      facts: { message: "nowhere" },
    });
    expect(messageNotFound(undefined).facts).toStrictEqual({});
  });
});
