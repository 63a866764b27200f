import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import type { Entry } from "../../messages/entry.ts";
import { locateMessage, messageNotFound } from "./choose-cut.ts";
import { lastBoundaryIndex } from "./sized.ts";

describe("a message of a conversation", () => {
  const c = new ConversationBuilder();
  c.user("one");
  c.user("two");
  const entries = [null, ...c.entries] as readonly Entry[];

  it("is found by its id or its index, and by nothing else", () => {
    expect(locateMessage(entries, "e-2")).toBe(2);
    expect([locateMessage(entries, 0), locateMessage(entries, 2)]).toEqual([0, 2]);
    for (const ref of ["", "e-3", 3, -1, 0.5, Number.NaN])
      expect(locateMessage(entries, ref)).toBeUndefined();
  });

  it("stands after the last boundary, or after the start where there is none", () => {
    expect(lastBoundaryIndex(entries)).toBe(0);
    const twice = new ConversationBuilder();
    twice.boundary();
    twice.user("one");
    twice.boundary();
    expect(lastBoundaryIndex([...twice.entries, ...entries])).toBe(2);
  });

  it("that is not there is named in the error, with what can be given", () => {
    expect(messageNotFound("nowhere")).toMatchObject({
      code: "message-not-found",
      message: expect.stringContaining("no such message"),
      remedy: expect.stringContaining("uuid"),
      facts: { message: "nowhere" },
    });
    expect(messageNotFound(undefined).facts).toStrictEqual({});
  });
});
