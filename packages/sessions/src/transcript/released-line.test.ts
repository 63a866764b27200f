import { readFileSync, writeFileSync } from "node:fs";
import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse, usage } from "../../../../test/support/builders.ts";
import { claudeCodeSessions, describeRecorded } from "../../../../test/support/real-sessions.ts";
import { sessionWriter, wholeSession } from "../../../../test/transcript/written-session.ts";
import { PREFIX_FIELD } from "../../../core/src/messages/entry.ts";
import { field } from "../../../core/src/messages/untrusted.ts";
import { loadSession, loadSparsely, type Session } from "./load.ts";
import { lineReleaser, wholeLine } from "./released-line.ts";

const write = sessionWriter();

/** Returns the names of the fields that an entry keeps in memory. */
const heldIn = (entry: Entry): readonly string[] => Object.keys(entry);

async function sparse(c: ConversationBuilder): Promise<Session> {
  return loadSparsely((await write(c.entries)).path);
}

describe("loadSparsely", () => {
  it("keeps no message content above the newest boundary in memory", async () => {
    const c = new ConversationBuilder();
    for (let nth = 0; nth < 3; nth++) {
      c.user(`question ${nth}`);
      c.tool(`t${nth}`, "Read", { file_path: "/project/a.ts" }, "text".repeat(100), { usage: usage(10, 5) });
      c.boundary();
      c.summary(`summary ${nth}`);
    }
    c.user("the next question");
    const { entries, conversation } = await sparse(c);
    const newest = entries.findLastIndex(({ type }) => type === "system");
    const above = entries
      .slice(0, newest)
      .filter((entry) => entry.type === "user" || entry.type === "assistant");
    const holding = above.filter((entry) => heldIn(entry).includes("message"));
    // Summaries control how lines are read, so they stay whole.
    expect(holding.map((entry) => field(entry, "isCompactSummary"))).toEqual([true, true]);
    expect(above).toHaveLength(11);
    expect(conversation.every((entry) => heldIn(entry).includes("timestamp"))).toBe(true);
  });

  it("when a field of a line that was released from memory is accessed, rereads the field from the file", async () => {
    const c = new ConversationBuilder();
    c.user("question", { toolUseResult: { stdout: "x" }, gitBranch: "main", version: "2.1.0" });
    c.tool("t1", "Read", { file_path: "/project/a.ts" }, "text", { usage: usage(10, 5) });
    c.attachment({ type: "file", filename: "/project/a.ts", content: "y".repeat(2_000) });
    c.boundary();
    c.summary("summary");
    const { entries } = await sparse(c);
    for (const [at, expected] of c.entries.slice(0, 4).entries()) {
      const line = entries[at] as unknown as Record<string, unknown>;
      expect(heldIn(line as unknown as Entry)).not.toContain("timestamp");
      for (const [name, value] of Object.entries(expected)) {
        if (name !== "message") expect(line[name]).toEqual(value);
        else
          for (const [part, held] of Object.entries(value as object))
            expect((line.message as Record<string, unknown>)[part]).toEqual(held);
      }
    }
  });

  it("keeps all fields of a line in memory if one of them is unknown", async () => {
    const c = new ConversationBuilder();
    const known = c.user("one");
    const unknown = c.user("two", { newField: { important: true } } as object);
    c.boundary();
    c.summary("summary");
    const { entries } = await sparse(c);
    expect(heldIn(entries[0] as Entry)).not.toContain("message");
    expect(wholeLine(entries[0] as Entry)).toEqual(known);
    expect(entries[1]).toEqual(unknown);
  });

  it("releases a line from memory, but keeps the line's record of how many tokens its usage covers", async () => {
    const c = new ConversationBuilder();
    const line = { ...c.assistant("one", { usage: usage(10, 5) }), [PREFIX_FIELD]: 7 } as Entry;
    const { path } = await write([line]);
    const bytes = Buffer.byteLength(JSON.stringify(line));
    const held = lineReleaser(path, 1_000)(line, 0, bytes);
    expect(heldIn(held)).not.toContain("message");
    expect(field(held, PREFIX_FIELD)).toBe(7);
  });

  it("releases each line above the newest boundary from memory while it reads the file", async () => {
    const c = new ConversationBuilder();
    const line = c.user("one");
    const { path } = await write(c.entries);
    const hold = lineReleaser(path, 1_000);
    const bytes = Buffer.byteLength(JSON.stringify(line));
    expect(heldIn(hold(line, 0, bytes))).not.toContain("message");
    expect(wholeLine(hold(line, 0, bytes))).toEqual(line);
    expect(hold(line, 1_000, bytes)).toBe(line);
  });

  it("returns the whole conversation if the newest line only mentions a boundary, but is not a boundary", async () => {
    const c = new ConversationBuilder();
    c.user("question");
    c.tool("t1", "Read", { file_path: "/project/a.ts" }, "text", { usage: usage(10, 5) });
    c.user("next", { toolUseResult: { subtype: "compact_boundary" } });
    const { entries, conversation } = await sparse(c);
    expect(heldIn(entries[0] as Entry)).not.toContain("message");
    expect(conversation).toEqual(c.entries);
  });

  it("returns one list as both entries and conversation if the conversation contains all entries", async () => {
    const c = new ConversationBuilder();
    c.user("question");
    c.assistant("answer", { usage: usage(10, 5) });
    const { entries, conversation } = await sparse(c);
    expect(conversation).toBe(entries);
  });

  it("refuses to reload a line that was released from memory if the session file was replaced", async () => {
    const c = new ConversationBuilder();
    c.user("one");
    c.boundary();
    c.summary("summary");
    const { path, entries } = await sparse(c);
    writeFileSync(path, readFileSync(path, "utf8").replace('"e-1"', '"x-1"'));
    expect(() => wholeLine(entries[0] as Entry)).toThrow(
      expect.objectContaining({ code: "session-changed" }),
    );
    writeFileSync(path, "");
    expect(() => wholeLine(entries[0] as Entry)).toThrow(
      expect.objectContaining({ code: "session-changed" }),
    );
  });
});

const STEPS = {
  prompt: (c: ConversationBuilder, nth: number) => void c.user(`prompt ${nth}`),
  answer: (c: ConversationBuilder, nth: number) =>
    void c.assistant(`answer ${nth}`, { usage: usage(nth, 1) }),
  "parallel calls": (c: ConversationBuilder, nth: number) => {
    const id = `msg_parallel-${nth}`;
    const first = c.assistant([toolUse(`a${nth}`, "Read", {})], { id });
    c.assistant([toolUse(`b${nth}`, "Read", {})], { id });
    c.user([toolResult(`b${nth}`, "text b")]);
    c.user([toolResult(`a${nth}`, "text a")], { parentUuid: first.uuid });
    c.assistant(`after both ${nth}`);
  },
  "queued message": (c: ConversationBuilder, nth: number) => {
    const line = { type: "queue-operation", sessionId: "session-1", content: `typed ${nth}` };
    const timestamp = `2026-01-01T00:00:0${nth % 10}.000Z`;
    const { uuid } = c.assistant("working");
    c.push({ ...line, operation: "enqueue", timestamp } as unknown as Entry);
    c.push({ ...line, operation: "remove", timestamp } as unknown as Entry);
    c.assistant("working on", { parentUuid: uuid });
  },
  "repeated line": (c: ConversationBuilder) => {
    const [oldest] = c.entries;
    const last = c.user("before the repeat");
    if (oldest?.type === "user") c.push({ ...oldest, message: { role: "user", content: "said anew" } });
    c.user("after the repeat", { parentUuid: last.uuid });
  },
  compaction: (c: ConversationBuilder, nth: number) => {
    c.boundary();
    c.summary(`summary ${nth}`);
  },
  "compaction that kept messages": (c: ConversationBuilder, nth: number) => {
    const { uuid } = c.user(`kept ${nth}`);
    const segment = { headUuid: uuid, tailUuid: uuid, anchorUuid: "" };
    const boundary = c.boundary({ preservedSegment: segment });
    const summary = c.summary(`summary ${nth}`);
    Object.assign(boundary.compactMetadata, { preservedSegment: { ...segment, anchorUuid: summary.uuid } });
  },
  "unfinished compaction": (c: ConversationBuilder) => {
    const leaf = c.user("before the crash");
    c.boundary();
    c.user("after the crash", { parentUuid: leaf.uuid });
  },
} as const;

describe("sparse and full loading", () => {
  it("sparse and full loading return the same session for generated files", async () => {
    const names = Object.keys(STEPS) as (keyof typeof STEPS)[];
    const steps = fc.array(fc.constantFrom(...names), { minLength: 3, maxLength: 20 });
    let released = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const c = new ConversationBuilder();
        c.user("the first prompt");
        for (const [nth, name] of all.entries()) STEPS[name](c, nth);
        const whole = await write(c.entries);
        const session = await loadSparsely(whole.path);
        released += session.entries.filter((entry) => wholeLine(entry) !== entry).length;
        expect(wholeSession(session)).toEqual(whole);
      }),
      { numRuns: 60 },
    );
    expect(released).toBeGreaterThan(0);
  });
});

describeRecorded("sparse and full loading of recorded sessions", () => {
  it("sparse and full loading return the same session for every recorded file", async () => {
    let released = 0;
    for (const path of claudeCodeSessions()) {
      const sparse = await loadSparsely(path);
      const session = wholeSession(sparse);
      released += session.entries.filter((entry, at) => entry !== sparse.entries[at]).length;
      // A comparison field by field takes several seconds.
      expect(JSON.stringify(session) === JSON.stringify(await loadSession(path))).toBe(true);
    }
    expect(released).toBeGreaterThan(0);
  });
});
