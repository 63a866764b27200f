import { describe, expect, it } from "vitest";
import { isSameJson } from "./same-json.ts";

describe("what is sent beside messages", () => {
  it("is the same if the provider would read the same bytes", () => {
    const tools = [{ name: "Read" }];
    expect(isSameJson({ system: "s", tools }, { system: "s", tools })).toBe(true);
    expect(isSameJson({ system: "s", tools }, { system: "s", tools: [{ name: "Read" }] })).toBe(true);
    expect(isSameJson({ system: "s", tools }, { tools, system: "s" })).toBe(false);
    expect(isSameJson({ system: "s" }, { system: "t" })).toBe(false);
    expect(isSameJson({ system: "s" }, { system: "s", tools })).toBe(false);
    expect(isSameJson(undefined, { system: "s" })).toBe(false);
  });

  it("may be what cannot be sent at all", () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect(isSameJson(loop, { a: 1 })).toBe(false);
    expect(isSameJson(undefined, loop)).toBe(false);
  });
});
