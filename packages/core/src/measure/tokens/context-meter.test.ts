import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse, usage } from "../../../../../test/support/builders.ts";
import type { Entry } from "../../messages/entry.ts";
import { ContextMeter, contextTokens, measureContext, meterFor } from "./context-meter.ts";

/** Counts one token per character, so that every sum is easy to verify. */
const perCharacter = (text: string): number => text.length;
/** Sets a model other than Claude, so that estimates start uncalibrated. */
const plain = (entries: readonly Entry[]) =>
  entries.map((entry) =>
    entry.type === "assistant" ? { ...entry, message: { ...entry.message, model: "other" } } : entry,
  );
const tokensOf = (entries: readonly Entry[]): number => measureContext(plain(entries), perCharacter).tokens;

describe("measureContext", () => {
  it("the context size is the sum of input, cache reads, cache writes and output of the newest usage report", () => {
    const c = new ConversationBuilder();
    c.user("hello");
    c.assistant("hi", { usage: usage(10, 5, 300, 20) });
    expect(contextTokens(c.entries)).toBe(335);
  });

  it("adds an estimate of all entries after the newest usage report", () => {
    const c = new ConversationBuilder();
    c.user("hello");
    c.assistant("hi", { usage: usage(100, 10) });
    c.user("12345678");
    expect(tokensOf(c.entries)).toBe(118);
  });

  it("never uses the usage of a synthetic entry about an API error", () => {
    const c = new ConversationBuilder();
    c.assistant("hi", { usage: usage(100, 10) });
    c.user("1234");
    c.assistant("API Error: 529", { isApiErrorMessage: true, usage: usage(0, 0) });
    expect(tokensOf(c.entries)).toBe(114);
  });

  it("counts tool results between the entries of one response in addition to the usage of the response", () => {
    const c = new ConversationBuilder();
    c.user("go");
    c.assistant([toolUse("a", "Read", {})], { id: "A", usage: usage(1000, 40) });
    c.user([toolResult("a", "12345")]);
    c.assistant([toolUse("b", "Read", {})], { id: "A", usage: usage(1000, 80) });
    c.user([toolResult("b", "1234567")]);
    expect(tokensOf(c.entries)).toBe(1080 + 5 + 7);
  });

  it("uses the output tokens of the last entry of a response, and counts no entry of the response twice", () => {
    const c = new ConversationBuilder();
    c.assistant([{ type: "text", text: "long text before the call" }], { id: "A", usage: usage(500, 3) });
    c.assistant([toolUse("a", "Read", {})], { id: "A", usage: usage(500, 60) });
    expect(tokensOf(c.entries)).toBe(560);
  });

  it("estimates the output of a response that was recorded before its stream ended", () => {
    const c = new ConversationBuilder();
    const entry = c.assistant("0123456789".repeat(10), { usage: usage(500, 1) });
    const streaming = { ...entry, message: { ...entry.message, stop_reason: null } };
    expect(tokensOf([streaming])).toBe(600);
  });

  it("counts only entries after a boundary, and ignores the usage of messages that were kept", () => {
    const c = new ConversationBuilder();
    c.user("go");
    const old = c.assistant("kept", { usage: usage(150_000, 100) });
    c.boundary();
    c.summary("summary!");
    expect(tokensOf([...c.entries, old])).toBe("summary!".length + "kept".length);
  });

  it("ignores the usage of a message that is as old as a summary without a boundary", () => {
    const c = new ConversationBuilder();
    const old = c.assistant("kept", { usage: usage(150_000, 100) });
    const summary = { ...c.summary("summary!"), timestamp: old.timestamp };
    expect(tokensOf([summary, old])).toBe("summary!".length + "kept".length);
    const newer = c.assistant("new", { usage: usage(40, 3) });
    expect(tokensOf([summary, old, newer])).toBe(43);
  });

  it("ignores the usage of a kept message, even if its boundary has the same timestamp", () => {
    const c = new ConversationBuilder();
    c.user("hello");
    const old = c.assistant("kept", { usage: usage(150_000, 100) });
    const uuids = [old.uuid as string];
    const boundary = c.boundary({ preservedMessages: { anchorUuid: "any", uuids, allUuids: uuids } });
    const atOnce = { ...boundary, timestamp: old.timestamp };
    expect(tokensOf([atOnce, c.user("summary!"), old])).toBe("summary!".length + "kept".length);
  });

  it("until the next usage report, subtracts the tokens that a microcompaction saved", () => {
    const c = new ConversationBuilder();
    c.assistant("hi", { usage: usage(80_000, 100) });
    c.push({
      ...c.link(),
      type: "system",
      subtype: "microcompact_boundary",
      microcompactMetadata: { compactedToolIds: ["a"], tokensSaved: 30_000 },
    });
    expect(tokensOf(c.entries)).toBe(50_100);
    // The safety margin covers content that may have been counted too low. Removed content needs no margin.
    expect(meterFor(c.entries).size().paddedTokens).toBe(50_100);
  });

  it("until the next usage report, subtracts the tokens of a collapse and adds those of an expansion", () => {
    const b = new ConversationBuilder();
    b.user("hi");
    b.assistant("x", { id: "A", usage: usage(100_000, 1) });
    const mark = (subtype: "collapse_committed" | "collapse_expanded", tokensSaved: number): void => {
      b.push({ ...b.link(), type: "system", subtype, collapse: { spanIds: ["s"], tokensSaved } });
    };
    mark("collapse_committed", 30_000);
    expect(contextTokens(b.entries)).toBeCloseTo(70_001, -2);
    mark("collapse_expanded", -10_000);
    expect(contextTokens(b.entries)).toBeCloseTo(80_001, -2);
    b.assistant("y", { id: "B", usage: usage(81_000, 1) });
    expect(contextTokens(b.entries)).toBe(81_001);
  });

  it("subtracts nothing for a microcompaction whose mark is older than the last boundary", () => {
    const c = new ConversationBuilder();
    c.user("go");
    const mark = c.push<Entry>({
      ...c.link(),
      type: "system",
      subtype: "microcompact_boundary",
      microcompactMetadata: { compactedToolIds: ["a"], tokensSaved: 30_000 },
    });
    c.boundary();
    c.summary("summary!");
    expect(tokensOf([...c.entries, mark])).toBe("summary!".length);
  });

  it("returns the source of a token count, and adds a margin only to the figure for decisions", () => {
    const c = new ConversationBuilder();
    c.user("123456");
    expect(measureContext(c.entries, perCharacter)).toMatchObject({
      source: "estimate",
      tokens: 6,
      paddedTokens: 8,
    });
  });

  it("counts 0 tokens for damaged entries and does not throw", () => {
    const broken = [
      { type: "assistant", message: null },
      { type: "user" },
      { type: "assistant", message: { usage: { input_tokens: "x" } } },
      { type: "attachment" },
      { type: "system", subtype: "microcompact_boundary" },
    ] as unknown as Entry[];
    expect(contextTokens(broken)).toBe(0);
  });
});

describe("ContextMeter", () => {
  it("counting a conversation entry by entry has the same result as counting it in one call", () => {
    const c = new ConversationBuilder();
    const meter = new ContextMeter();
    for (let turn = 0; turn < 40; turn++) {
      c.user(`question ${turn} ${"word ".repeat(turn)}`);
      c.assistant("answer ".repeat(20), { usage: usage(1_000 + turn * 200, 40) });
    }
    c.user("one more thing");
    for (const entry of c.entries) meter.add(entry);
    expect(Math.abs(meter.size().tokens - contextTokens(c.entries))).toBeLessThanOrEqual(2);
  });

  it("learns the ratio of true to estimated tokens from each usage report", () => {
    const c = new ConversationBuilder();
    const meter = new ContextMeter({ countText: perCharacter });
    let context = 1_000;
    for (let turn = 0; turn < 30; turn++) {
      c.user("x".repeat(1_000));
      context += 2_000;
      c.assistant("ok", { usage: usage(context, 0) });
    }
    for (const entry of plain(c.entries)) meter.add(entry);
    expect(meter.calibration.ratio).toBeGreaterThan(1.9);
    expect(meter.calibration.ratio).toBeLessThan(2.1);
  });

  it("learns no ratio of true to estimated tokens from a smaller context or another model", () => {
    const meter = new ContextMeter({ countText: perCharacter });
    const c = new ConversationBuilder();
    c.assistant("a", { usage: usage(50_000, 0) });
    c.user("x".repeat(5_000));
    c.assistant("b", { usage: usage(20_000, 0) });
    c.user("x".repeat(5_000));
    const other = c.assistant("c", { usage: usage(90_000, 0) });
    const entries = [...c.entries.slice(0, -1), { ...other, message: { ...other.message, model: "gpt-5" } }];
    for (const entry of entries) meter.add(entry);
    expect(meter.calibration.samples).toBe(0);
  });
});

describe("ContextMeter with facts from the caller", () => {
  const unreadable = (): number => {
    throw new Error("measured again");
  };

  it("uses the caller's token count of an entry, and does not read the text of the entry again", () => {
    const c = new ConversationBuilder();
    const meter = new ContextMeter({ countText: unreadable });
    meter.add(c.user("long text"), { tokens: 70 });
    expect(meter.size()).toMatchObject({ tokens: 70, estimatedTokens: 70, source: "estimate" });
  });

  it("uses the caller's token count for the output of a response whose stream has not ended", () => {
    const c = new ConversationBuilder();
    const entry = c.assistant("long text", { usage: usage(500, 1) });
    const streaming = { ...entry, message: { ...entry.message, model: "other", stop_reason: null } };
    const meter = new ContextMeter({ countText: unreadable });
    meter.add(streaming, { tokens: 100 });
    expect(meter.size().tokens).toBe(600);
  });

  it("estimates an entry if the caller sets ignoreUsage, and uses the next usage report", () => {
    const c = new ConversationBuilder();
    const meter = new ContextMeter({ countText: perCharacter });
    const [kept, fresh] = plain([
      c.assistant("kept", { usage: usage(900_000, 100) }),
      c.assistant("new", { usage: usage(40, 2) }),
    ]) as [Entry, Entry];
    meter.add(kept, { ignoreUsage: true });
    expect(meter.size()).toMatchObject({ tokens: 4, source: "estimate" });
    meter.add(fresh);
    expect(meter.size()).toMatchObject({ tokens: 42, source: "usage" });
  });

  it("learns no ratio of true to estimated tokens from a usage report if the caller sets ignoreUsage", () => {
    const c = new ConversationBuilder();
    const meter = new ContextMeter({ countText: perCharacter });
    for (const entry of plain([c.assistant("a", { usage: usage(1_000, 0) }), c.user("x".repeat(100))]))
      meter.add(entry);
    meter.add(c.assistant("b", { usage: usage(6_000, 0) }), { ignoreUsage: true });
    expect(meter.calibration.samples).toBe(0);
  });

  it("counts a known overhead until the first usage report, also after a boundary that records none", () => {
    const c = new ConversationBuilder();
    const meter = new ContextMeter({ countText: perCharacter, overheadTokens: 3_000 });
    meter.add(c.user("12345"));
    expect(meter.size()).toMatchObject({ tokens: 3_005, reportedTokens: 3_000, source: "estimate" });
    meter.add(c.boundary());
    expect(meter.size().tokens).toBe(3_000);
    meter.add(c.boundary({ longhaul: { overheadTokens: 50, tokenRatio: 1 } }));
    expect(meter.size().tokens).toBe(50);
    meter.add(c.assistant("hi", { usage: usage(4_000, 10) }));
    expect(meter.size().tokens).toBe(4_010);
  });
});
