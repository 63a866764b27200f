import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { queueSessionArbitrary } from "../../../../test/transcript/queue-session.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { digestSession } from "../../../core/src/compaction/summary/readers/readers.ts";
import { contentText } from "../../../core/src/messages/untrusted.ts";
import { sessionHistory } from "../operations/session-history.ts";
import { indexEntries } from "./entry-index.ts";
import { loadSession } from "./load.ts";
import { currentConversation, historyBefore } from "./relink.ts";
import { resumeSession } from "./resume.ts";
import { linesOf } from "./whole-file.ts";
import { readWritten } from "./writer.ts";

const path = join(temporaryFolder(), "session.jsonl");

const queue = (operation: string, fields: Readonly<Record<string, unknown>> = {}): Entry =>
  ({
    type: "queue-operation",
    operation,
    timestamp: "2026-02-01T00:00:00.000Z",
    ...fields,
  }) as unknown as Entry;
const enqueue = (content: string): Entry => queue("enqueue", { content });

/** Returns the user's messages. Reads them without the code under test. */
function typedTexts(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => {
    if (entry.type === "attachment") {
      const { type, prompt } = entry.attachment;
      const text = contentText(prompt).replace("\n[image]", "");
      return type === "queued_command" && !text.startsWith("<") ? [text] : [];
    }
    if (entry.type !== "user" || entry.isCompactSummary) return [];
    const { content } = entry.message;
    return typeof content === "string" && !content.startsWith("<") ? [content] : [];
  });
}

/** Returns a turn with one call, during which the user types. */
function turnWith(during: readonly Entry[], after: readonly Entry[] = []): readonly Entry[] {
  const b = new ConversationBuilder();
  b.user("start");
  b.assistant([toolUse("a", "Bash", {})], { id: "m1" });
  const calls = b.entries.length;
  b.user([toolResult("a", "done")]);
  const results = b.entries.length;
  b.assistant("on", { id: "m2" });
  const { entries } = b;
  return [
    ...entries.slice(0, calls),
    ...during,
    ...entries.slice(calls, results),
    ...after,
    ...entries.slice(results),
  ];
}

const conversationOf = (lines: readonly Entry[]): readonly string[] =>
  typedTexts(currentConversation(lines).entries);

describe("messages typed while the agent works", () => {
  it("includes each queued message once, at the place where the agent received it", async () => {
    await fc.assert(
      fc.asyncProperty(queueSessionArbitrary, async ({ lines, current, all }) => {
        writeFileSync(path, linesOf(lines));
        const session = await loadSession(path);
        expect(typedTexts(session.conversation)).toEqual(current);
        expect(typedTexts(sessionHistory(session).entries)).toEqual(all);
        const { exchanges } = digestSession(sessionHistory(session).entries);
        const requests = exchanges.filter(({ message }) => message?.kind === "request");
        expect(requests.map(({ message }) => message?.text.replace("\n[image]", ""))).toEqual(all);
      }),
      { numRuns: 500 },
    );
  });

  it("resumes a session with the same queued messages as a full load", async () => {
    await fc.assert(
      fc.asyncProperty(queueSessionArbitrary, async ({ lines }) => {
        writeFileSync(path, linesOf(lines));
        const [loaded, resumed] = [await loadSession(path), await resumeSession(path)];
        expect(resumed.conversation).toEqual(loaded.conversation);
        expect(resumed.leafUuid).toBe(loaded.leafUuid);
      }),
      { numRuns: 500 },
    );
  });

  it("resumes with the same queued messages even if lines are lost, repeated or out of order", async () => {
    const fault = fc.tuple(fc.constantFrom("drop", "repeat", "swap"), fc.nat(), fc.nat());
    await fc.assert(
      fc.asyncProperty(
        queueSessionArbitrary,
        fc.array(fault, { minLength: 1, maxLength: 4 }),
        async (session, faults) => {
          const lines = [...session.lines];
          for (const [kind, nth, mth] of faults) {
            const [at, other] = [nth % lines.length, mth % lines.length];
            const [line, otherLine] = [lines[at] as Entry, lines[other] as Entry];
            if (kind === "drop" && lines.length > 1) lines.splice(at, 1);
            else if (kind === "repeat") lines.splice(other, 0, line);
            else if (kind === "swap") [lines[at], lines[other]] = [otherLine, line];
          }
          writeFileSync(path, linesOf(lines));
          const outcome = (read: Promise<{ readonly conversation: readonly Entry[] }>): Promise<unknown> =>
            read.then(
              ({ conversation }) => conversation,
              (error: unknown) => error,
            );
          expect(await outcome(resumeSession(path))).toEqual(await outcome(loadSession(path)));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("indexing loaded entries a second time does not duplicate queued messages", () => {
    fc.assert(
      fc.property(queueSessionArbitrary, ({ lines, current }) => {
        const { entries } = indexEntries(lines);
        expect(indexEntries(entries).entries).toEqual(entries);
        expect(conversationOf(entries)).toEqual(current);
      }),
    );
  });

  it("puts a queued message after the tool result at which the agent received it, and before the answer", () => {
    const lines = turnWith([enqueue("use tabs")], [queue("remove")]);
    const { entries, leafUuid } = currentConversation(lines);
    expect(entries.map(({ uuid }) => uuid?.slice(0, 3))).toEqual([
      "e-1",
      "e-2",
      "e-3",
      expect.any(String),
      "e-4",
    ]);
    expect(entries[3]).toMatchObject({ type: "user", message: { role: "user", content: "use tabs" } });
    expect(leafUuid).toBe("e-4");
  });

  it("gives a queued message the same id on every read", () => {
    const lines = turnWith([enqueue("use tabs")], [queue("remove")]);
    const idOf = (from: readonly Entry[]): string | undefined => currentConversation(from).entries[3]?.uuid;
    expect(idOf(lines)).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(idOf(structuredClone(lines) as Entry[])).toBe(idOf(lines));
  });

  it("reads a queued message by its id, like a written line", async () => {
    writeFileSync(path, linesOf(turnWith([enqueue("use tabs")], [queue("remove")])));
    const message = (await loadSession(path)).conversation[3] as Entry;
    expect(await readWritten(path, [message.uuid ?? "", "e-1"])).toMatchObject([{ uuid: "e-1" }, message]);
  });

  it("ignores queued messages that still wait, were withdrawn or were canceled", () => {
    expect(conversationOf(turnWith([enqueue("later")]))).toEqual(["start"]);
    expect(conversationOf(turnWith([enqueue("never mind"), queue("popAll")]))).toEqual(["start"]);
    const cancelled = queue("remove", { content: "no", reason: "cancelled" });
    expect(conversationOf(turnWith([enqueue("no")], [cancelled]))).toEqual(["start"]);
  });

  it("ignores queued notifications and slash commands, but not a message that begins with a path", () => {
    for (const text of ["<task-notification>done</task-notification>", "/model", "/compact keep this"]) {
      expect(conversationOf(turnWith([enqueue(text)], [queue("remove")]))).toEqual(["start"]);
    }
    const path = "/usr/lib/a.so is missing";
    expect(conversationOf(turnWith([enqueue(path)], [queue("remove")]))).toEqual(["start", path]);
    const undone = [queue("remove"), queue("popAll", { content: "also the docs" })];
    expect(conversationOf(turnWith([enqueue(path), enqueue("also the docs")], undone))).toEqual([
      "start",
      path,
    ]);
  });

  it("accepts queue lines that lack content, time or session, and removals from an empty queue", () => {
    const bare = { type: "queue-operation", operation: "remove", content: "said" } as unknown as Entry;
    expect(conversationOf(turnWith([], [bare, queue("remove"), queue("remove", { content: 5 })]))).toEqual([
      "start",
      "said",
    ]);
    expect(conversationOf(turnWith([queue("enqueue")], [queue("remove")]))).toEqual(["start"]);
  });

  it("puts a queued message before a boundary if the agent received it before the compaction", () => {
    const b = new ConversationBuilder("later");
    b.entries.push(...turnWith([enqueue("before")], [queue("remove")]));
    const boundary = b.boundary();
    b.summary("summary");
    expect(conversationOf(b.entries)).toEqual([]);
    expect(typedTexts(historyBefore(b.entries, boundary).entries)).toEqual(["start", "before"]);
  });

  it("drops a queued message when the user rewinds to a point before that message", () => {
    const b = new ConversationBuilder("later");
    b.entries.push(...turnWith([enqueue("left")], [queue("remove")]));
    b.user("another way", { parentUuid: "e-1" });
    expect(conversationOf(b.entries)).toEqual(["start", "another way"]);
  });

  it("puts a queued message first when the file begins with it", () => {
    const lines = [enqueue("early"), queue("remove"), ...turnWith([])];
    expect(conversationOf(lines)).toEqual(["early", "start"]);
  });
});
