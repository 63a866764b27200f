import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { ELIGIBLE_TOOLS } from "../compaction/clear/stale-results.ts";
import { ESTIMATORS } from "../measure/tokens/estimators.ts";
import type { ApiMessage } from "../messages/message.ts";
import type { Message } from "./options.ts";
import { Thread } from "./thread.ts";

function newThread(): Thread {
  let uuids = 0;
  return new Thread({
    countText: ESTIMATORS.o200k,
    check: { consecutiveRoles: "accepted" },
    clearable: { tools: ELIGIBLE_TOOLS },
    overheadTokens: () => 0,
    newLink: (parentUuid) => ({ uuid: `u${++uuids}`, parentUuid, timestamp: "2026-01-01T00:00:00.000Z" }),
    bindsThinking: () => false,
    isTrusted: () => true,
  });
}

const asked = (content: string): ApiMessage => ({ role: "user", content });
const called = (id: string): ApiMessage => ({ role: "assistant", content: [toolUse(id, "Read", {})] });
const answered = (id: string, text: string): ApiMessage => ({
  role: "user",
  content: [toolResult(id, text)],
});

function turn(thread: Thread, messages: readonly Message[]): readonly Message[] {
  thread.ingest(messages, undefined);
  return thread.toHostForm(messages);
}

describe("a conversation of plain messages", () => {
  it("returns the host's own array if nothing was rewritten, even if the host appended to it", () => {
    const thread = newThread();
    const messages: ApiMessage[] = [asked("go")];
    expect(turn(thread, messages)).toBe(messages);
    messages.push(called("a"), answered("a", "text"));
    expect(turn(thread, messages)).toBe(messages);
    expect(thread.entries).toHaveLength(3);
    expect(thread.outgoingMessages).toEqual(messages);
  });

  it("creates entries only for new messages, and links each entry to the previous one", () => {
    const thread = newThread();
    const messages = [asked("go"), called("a"), answered("a", "text")];
    turn(thread, messages);
    const before = [...thread.entries];
    const { added } = thread.ingest([...messages, called("b")], undefined);
    expect(added).toHaveLength(1);
    expect(added[0]?.parentUuid).toBe(before.at(-1)?.uuid);
    expect(thread.entries.slice(0, 3)).toEqual(before);
  });

  it("keeps the entries of known messages when the host replaces a message in the middle", () => {
    const thread = newThread();
    const messages = [asked("go"), called("a"), answered("a", "text"), called("b"), answered("b", "more")];
    turn(thread, messages);
    const [first] = thread.entries;
    const edited = messages.map((message, at) => (at === 2 ? answered("a", "edited") : message));
    const { added } = thread.ingest(edited, undefined);
    expect(JSON.stringify(thread.outgoingMessages)).toContain("edited");
    expect(thread.entries[0]).toBe(first);
    expect(added).toHaveLength(1);
  });

  it("after a rewrite, recognizes both the host's own list and the list that was returned", () => {
    for (const keepsItsOwn of [true, false]) {
      const thread = newThread();
      const own = [asked("go"), called("a"), answered("a", "text")];
      turn(thread, own);
      thread.rewrite(thread.entries.slice(0, 1));
      const returned = thread.toHostForm(own);
      expect(returned).toEqual([asked("go")]);
      const next = [...(keepsItsOwn ? own : returned), asked("next")];
      expect(turn(thread, next)).toEqual([asked("go"), asked("next")]);
      expect(thread.entries).toHaveLength(2);
    }
  });

  it("answers an open tool call with a placeholder, and later replaces the placeholder with the real result", () => {
    for (const keepsItsOwn of [true, false]) {
      const thread = newThread();
      const own: Message[] = [asked("go"), called("a"), asked("never mind")];
      const first = thread.ingest(own, undefined);
      expect(first.findings.map(({ rule }) => rule)).toContain("tool-use-unanswered");
      const returned = thread.toHostForm(own);
      expect(JSON.stringify(returned)).toContain("tool_result");
      const next = [...(keepsItsOwn ? own : returned), answered("a", "the real one")];
      const repaired = turn(thread, next);
      expect(JSON.stringify(repaired)).toContain("the real one");
      expect(repaired).toEqual(thread.outgoingMessages);
      expect(turn(thread, repaired)).toBe(repaired);
    }
  });

  it("creates an entry for a system message, but none for a value that is no message", () => {
    const thread = newThread();
    const odd = [null, 3, "x"] as unknown as ApiMessage[];
    const messages = [asked("go"), ...odd, { role: "system", content: "be brief" } as ApiMessage];
    expect(() => turn(thread, messages)).not.toThrow();
    expect(thread.entries).toHaveLength(2);
  });

  it("creates two entries for one message object that occurs twice in the host's list", () => {
    const thread = newThread();
    const again = asked("continue");
    turn(thread, [again, called("a"), answered("a", "x")]);
    turn(thread, [again, called("a"), answered("a", "x")]);
    const messages = [again, { role: "assistant", content: "done" } as ApiMessage, again];
    turn(thread, messages);
    expect(new Set(thread.entries.map(({ uuid }) => uuid)).size).toBe(3);
  });
});

describe("a conversation of entries", () => {
  it("returns entries to a host that passes entries, and sends nothing before the last boundary", () => {
    const c = new ConversationBuilder();
    c.user("old words");
    c.boundary();
    c.summary("what was");
    c.user("new words");
    const thread = newThread();
    expect(turn(thread, c.entries)).toBe(c.entries);
    expect(JSON.stringify(thread.outgoingMessages)).not.toContain("old words");
    expect(thread.entries).toHaveLength(3);
  });

  it("sends nothing before a boundary that the host adds", () => {
    const c = new ConversationBuilder();
    c.user("old words");
    const thread = newThread();
    turn(thread, [...c.entries]);
    c.boundary();
    c.summary("what was");
    turn(thread, [...c.entries]);
    expect(JSON.stringify(thread.outgoingMessages)).not.toContain("old words");
  });
});
