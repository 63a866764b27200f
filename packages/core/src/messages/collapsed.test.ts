import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { countOriginalMessages } from "../request/flatten/count-messages.ts";
import type { Entry } from "./entry.ts";
import { savedTokensOf } from "./responses.ts";
import {
  collapsedUuids,
  expandedSpanIds,
  isCollapsedSpan,
  isCollapseMark,
  isStandIn,
  standInUuids,
} from "./stand-ins.ts";

const entry = (fields: object): Entry => new ConversationBuilder().push(fields as Entry);

const span = (collapsed: unknown, content: unknown = "the summary"): Entry =>
  entry({ type: "user", uuid: "s", message: { role: "user", content }, collapsed });

describe("isCollapsedSpan", () => {
  it("a user entry with a span id and a summary is a collapsed span, even if other fields are damaged", () => {
    const whole = span({ spanId: "s", messages: 3, uuids: ["a", 7, "b", null] });
    expect(isCollapsedSpan(whole)).toBe(true);
    expect(isStandIn(whole)).toBe(true);
    expect(collapsedUuids(whole)).toEqual(["a", "b"]);
    expect(standInUuids(whole)).toEqual(["a", "b"]);
    expect(countOriginalMessages([whole])).toBe(3);
    const bare = span({ spanId: "s" }, [{ type: "text", text: "the summary" }]);
    expect(isCollapsedSpan(bare)).toBe(true);
    expect(collapsedUuids(bare)).toEqual([]);
    expect(countOriginalMessages([bare])).toBe(1);
  });

  it("a span without a summary does not count as a collapsed span, because nothing would replace its messages", () => {
    for (const content of ["", " \n", [], null, 7, [{ type: "text", text: " " }]]) {
      const empty = span({ spanId: "s", uuids: ["a"] }, content);
      expect(isCollapsedSpan(empty)).toBe(false);
      expect(standInUuids(empty)).toEqual([]);
    }
  });

  it("recognizes no other value as a collapsed span", () => {
    const others = [
      span({ uuids: ["a"] }),
      span({ spanId: 7, uuids: ["a"] }),
      span("s"),
      entry({ ...span({ spanId: "s", uuids: ["a"] }), type: "assistant" }),
      null,
      7,
    ] as unknown as readonly Entry[];
    for (const other of others) {
      expect(isCollapsedSpan(other)).toBe(false);
      expect(collapsedUuids(other)).toEqual([]);
    }
    expect(countOriginalMessages([null as unknown as Entry])).toBe(0);
  });
});

describe("collapse marks", () => {
  const mark = (subtype: string, collapse: unknown): Entry =>
    entry({ type: "system", uuid: "m", subtype, collapse });

  it("reads saved tokens and expanded spans from a collapse mark", () => {
    const committed = mark("collapse_committed", { spanIds: ["s"], tokensSaved: 90 });
    const expanded = mark("collapse_expanded", { spanIds: ["s", 1], tokensSaved: -90 });
    expect([committed, expanded].map(isCollapseMark)).toEqual([true, true]);
    expect([committed, expanded].map(savedTokensOf)).toEqual([90, -90]);
    expect(expandedSpanIds(committed)).toEqual([]);
    expect(expandedSpanIds(expanded)).toEqual(["s"]);
    expect(countOriginalMessages([expanded])).toBe(0);
  });

  it("reads nothing from a damaged collapse mark", () => {
    for (const damaged of [
      mark("collapse_expanded", undefined),
      mark("collapse_expanded", { tokensSaved: "9" }),
    ]) {
      expect(savedTokensOf(damaged)).toBe(0);
      expect(expandedSpanIds(damaged)).toEqual([]);
    }
    for (const other of [mark("informational", {}), span({}), null as unknown as Entry]) {
      expect(savedTokensOf(other)).toBeUndefined();
      expect(isCollapseMark(other)).toBe(false);
    }
  });
});
