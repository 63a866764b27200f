import type { ContentBlock, Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, thinking, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { sessionArbitrary } from "../../../../test/transcript/session-generator.ts";
import { currentConversation, historyBefore } from "./relink.ts";

const uuids = (entries: readonly Entry[]): (string | undefined)[] => entries.map((entry) => entry.uuid);
const found = (entries: readonly Entry[]): (string | undefined)[] =>
  uuids(currentConversation(entries).entries);

describe("currentConversation", () => {
  it("rebuilds the agent's context after parallel calls, rewinds and compactions", () => {
    fc.assert(
      fc.property(sessionArbitrary, ({ lines, context }) => {
        expect(found(lines)).toEqual(uuids(context));
      }),
      { numRuns: 1_000 },
    );
  });

  it("returns the entries themselves, not copies", () => {
    const b = new ConversationBuilder();
    const first = b.user("hello");
    expect(currentConversation(b.entries).entries[0]).toBe(first);
  });

  it("returns an empty conversation for a file without messages", () => {
    expect(currentConversation([]).entries).toEqual([]);
    expect(
      currentConversation([{ type: "summary" as "(any other)", summary: "title" }]).leafUuid,
    ).toBeUndefined();
  });

  it("leaves out a branch that the user rewound from", () => {
    const b = new ConversationBuilder();
    const first = b.user("start");
    const left = b.user("wrong way");
    b.assistant("left behind");
    const again = b.user("right way", { parentUuid: first.uuid });
    expect(found(b.entries)).toEqual([first.uuid, again.uuid]);
    expect(found(b.entries)).not.toContain(left.uuid);
  });

  it("treats the sidechain entries in a subagent's own file as its main conversation", () => {
    const b = new ConversationBuilder();
    b.user("task", { isSidechain: true });
    b.assistant("done", { isSidechain: true });
    expect(found(b.entries)).toEqual(["e-1", "e-2"]);
  });

  it("leaves subagent entries out of the main conversation", () => {
    const b = new ConversationBuilder();
    b.user("main");
    b.push({ ...b.user("sub", { isSidechain: true, parentUuid: null }) });
    expect(found(b.entries)).toEqual(["e-1"]);
  });

  it("ignores a boundary whose writer died before the summary, so that no message is lost", () => {
    const b = new ConversationBuilder();
    b.user("one");
    b.assistant("two");
    b.boundary();
    expect(found(b.entries)).toEqual(["e-1", "e-2"]);
  });

  it("ignores a boundary on an abandoned branch", () => {
    const b = new ConversationBuilder();
    const first = b.user("one");
    b.assistant("two");
    b.boundary();
    b.summary("summary");
    const again = b.user("back before the compaction", { parentUuid: first.uuid });
    expect(found(b.entries)).toEqual([first.uuid, again.uuid]);
    expect(currentConversation(b.entries).boundary).toBeUndefined();
  });
});

describe("missing and circular parent links", () => {
  it("treats the line above an entry as its parent if the parent is missing, and reports the missing parent", () => {
    const b = new ConversationBuilder();
    b.user("one");
    b.assistant("two");
    b.user("three", { parentUuid: "in-no-line" });
    const conversation = currentConversation(b.entries);
    expect(uuids(conversation.entries)).toEqual(["e-1", "e-2", "e-3"]);
    expect(conversation.bridgedUuids).toEqual(["e-3"]);
  });

  it("begins the conversation with the first line if the file begins in the middle of a session", () => {
    const b = new ConversationBuilder();
    b.assistant("first line of the slice", { parentUuid: "before-the-slice" });
    b.user("next");
    const conversation = currentConversation(b.entries);
    expect(uuids(conversation.entries)).toEqual(["e-1", "e-2"]);
    expect(conversation.bridgedUuids).toEqual([]);
  });

  it("follows circular parent links without looping", () => {
    const b = new ConversationBuilder();
    b.user("zero");
    b.user("one", { parentUuid: "e-3" });
    b.user("two", { parentUuid: "e-2" });
    b.user("own parent", { parentUuid: "e-4" });
    expect(found(b.entries)).toEqual(["e-1", "e-2", "e-3", "e-4"]);
  });

  it("follows a parent link to a later line", () => {
    const b = new ConversationBuilder();
    const late = { ...b.user("parent"), uuid: "late", parentUuid: null };
    b.entries.length = 0;
    b.assistant("child", { parentUuid: "late" });
    b.push(late);
    b.user("leaf", { parentUuid: "e-2" });
    expect(found(b.entries)).toEqual(["late", "e-2", "e-3"]);
  });
});

describe("kept messages that a boundary names by their first and last line", () => {
  const kept = (): ConversationBuilder => {
    const b = new ConversationBuilder();
    b.user("old");
    b.assistant("old answer");
    b.user("kept question");
    b.assistant("kept answer");
    b.boundary({ preservedSegment: { headUuid: "e-3", anchorUuid: "e-6", tailUuid: "e-4" } });
    b.summary("summary");
    return b;
  };

  it("puts kept messages after the summary even if no line follows the summary", () => {
    const b = kept();
    expect(found(b.entries)).toEqual(["e-5", "e-6", "e-3", "e-4"]);
    expect(currentConversation(b.entries).leafUuid).toBe("e-4");
  });

  it("puts kept messages before the summary if the compaction kept the oldest messages", () => {
    const b = new ConversationBuilder();
    b.user("kept question");
    b.assistant("kept answer");
    b.user("summarized");
    b.boundary({ preservedSegment: { headUuid: "e-1", anchorUuid: "e-4", tailUuid: "e-2" } });
    b.summary("summary");
    b.user("later");
    expect(found(b.entries)).toEqual(["e-4", "e-1", "e-2", "e-5", "e-6"]);
    b.user("hung on the last kept", { parentUuid: "e-2" });
    expect(found(b.entries)).toEqual(["e-4", "e-1", "e-2", "e-5", "e-7"]);
  });

  it("if two compactions kept the same messages, puts these messages before the newer summary and only there", () => {
    const b = new ConversationBuilder();
    b.user("kept question");
    b.assistant("kept answer");
    b.user("summarized");
    b.boundary({ preservedSegment: { headUuid: "e-1", anchorUuid: "e-4", tailUuid: "e-2" } });
    b.summary("summary");
    b.user("later");
    b.boundary({ preservedSegment: { headUuid: "e-1", anchorUuid: "e-7", tailUuid: "e-2" } });
    b.summary("summary of that summary and what came later");
    expect(found(b.entries)).toEqual(["e-7", "e-1", "e-2", "e-8"]);
  });

  it("puts kept messages after a summary that the provider wrote", () => {
    const b = new ConversationBuilder();
    b.user("old");
    b.assistant("old answer");
    b.user("kept question");
    b.boundary({ preservedSegment: { headUuid: "e-3", anchorUuid: "e-5", tailUuid: "e-3" } });
    const block = { type: "compaction", content: "so far", signature: "s" } as unknown as ContentBlock;
    b.push({ ...b.assistant([block], { parentUuid: "e-4" }), isCompactSummary: true } as Entry);
    b.entries.splice(4, 1);
    expect(found(b.entries)).toEqual(["e-4", "e-5", "e-3"]);
  });

  it("drops thinking from kept messages up to the message that the boundary names", () => {
    const b = new ConversationBuilder();
    b.user("old");
    b.assistant([thinking("gone"), { type: "text", text: "kept" }]);
    const knowledge = { overheadTokens: 0, tokenRatio: 1, withoutThinkingUpTo: "e-2" };
    b.boundary({
      longhaul: knowledge,
      preservedSegment: { headUuid: "e-2", anchorUuid: "e-4", tailUuid: "e-2" },
    });
    b.summary("summary");
    const later = b.assistant([thinking("valid"), { type: "text", text: "later" }], { parentUuid: "e-2" });
    const { entries } = currentConversation(b.entries);
    expect(JSON.stringify(entries)).not.toContain("gone");
    expect(entries.at(-1)).toBe(later);
  });

  it("the kept messages end with the message that the user rewound to", () => {
    const b = kept();
    b.user("back to the kept question", { parentUuid: "e-3" });
    expect(found(b.entries)).toEqual(["e-5", "e-6", "e-3", "e-7"]);
  });

  it("puts kept messages after the summary even if the line that they should follow does not exist", () => {
    const b = kept();
    const boundary = b.entries[4];
    if (boundary?.type !== "system" || boundary.subtype !== "compact_boundary")
      throw new Error("no boundary");
    const preservedSegment = { headUuid: "e-3", anchorUuid: "nowhere", tailUuid: "e-4" };
    b.entries[4] = { ...boundary, compactMetadata: { ...boundary.compactMetadata, preservedSegment } };
    b.user("later", { parentUuid: "e-4" });
    expect(found(b.entries)).toEqual(["e-5", "e-6", "e-3", "e-4", "e-7"]);
  });

  it("reads kept messages without looping if their parents include a later line", () => {
    const b = new ConversationBuilder();
    b.user("head");
    b.user("tail", { parentUuid: "e-5" });
    b.boundary({ preservedSegment: { headUuid: "e-1", anchorUuid: "e-4", tailUuid: "e-2" } });
    b.summary("summary");
    b.user("mislinked", { parentUuid: "e-1" });
    b.user("leaf", { parentUuid: "e-2" });
    expect(found(b.entries)).toEqual(["e-3", "e-4", "e-1", "e-5", "e-2", "e-6"]);
  });

  it("starts the kept messages at their first line even if that line is not an ancestor of the last line", () => {
    const b = new ConversationBuilder();
    b.user("old");
    b.assistant([toolUse("a", "Read", {})], { id: "m" });
    b.user([toolResult("a", "side result")]);
    b.assistant([toolUse("b", "Read", {})], { id: "m", parentUuid: "e-2" });
    b.user([toolResult("b", "last result")]);
    b.boundary({ preservedSegment: { headUuid: "e-3", anchorUuid: "e-7", tailUuid: "e-5" } });
    b.summary("summary");
    expect(found(b.entries)).toEqual(["e-6", "e-7", "e-3", "e-4", "e-5"]);
  });
});

describe("kept messages that the boundary lists", () => {
  /** Builds a round of parallel calls, e-2 to e-5. The boundary keeps the whole round. */
  const round = (preservedMessages: unknown, anchorUuid = "e-7"): ConversationBuilder => {
    const b = new ConversationBuilder();
    b.user("old");
    b.assistant([toolUse("a", "Read", {})], { id: "m" });
    b.assistant([toolUse("b", "Read", {})], { id: "m" });
    b.user([toolResult("b", "second")]);
    b.user([toolResult("a", "first")], { parentUuid: "e-2" });
    const preservedSegment = { headUuid: "e-2", anchorUuid, tailUuid: "e-5" };
    b.boundary({ preservedSegment, preservedMessages } as object);
    b.summary("summary");
    return b;
  };
  const listed = (...uuids: unknown[]): unknown => ({ anchorUuid: "e-7", uuids, allUuids: uuids });

  it("includes all kept messages that the boundary lists, in the order of the list", () => {
    const b = round(listed("e-2", "e-3", "e-5", "e-4"));
    expect(found(b.entries)).toEqual(["e-6", "e-7", "e-2", "e-3", "e-5", "e-4"]);
    b.user("later", { parentUuid: "e-4" });
    expect(found(b.entries)).toEqual(["e-6", "e-7", "e-2", "e-3", "e-5", "e-4", "e-8"]);
  });

  it("finds kept messages by the boundary's list even if the boundary does not name the first and last line", () => {
    const b = new ConversationBuilder();
    b.user("kept");
    b.boundary({ preservedMessages: { anchorUuid: "e-3", uuids: ["e-1"] } });
    b.summary("summary");
    expect(found(b.entries)).toEqual(["e-2", "e-3", "e-1"]);
  });

  it("leaves out lines above the boundary that the list of kept messages omits", () => {
    const b = round(listed("e-2", "e-5"));
    expect(found(b.entries)).toEqual(["e-6", "e-7", "e-2", "e-5"]);
  });

  it("keeps an earlier summary and its kept messages if the list of kept messages names them", () => {
    const b = new ConversationBuilder();
    b.user("old");
    b.user("kept");
    b.boundary({ preservedMessages: { anchorUuid: "e-4", uuids: ["e-2"] } });
    b.summary("first summary");
    b.user("later", { parentUuid: "e-2" });
    b.boundary({ preservedMessages: { anchorUuid: "e-6", uuids: ["e-4", "e-2"] } });
    b.summary("second summary");
    expect(found(b.entries)).toEqual(["e-6", "e-4", "e-2", "e-7"]);
  });

  it.each([
    ["is not an object", "e-2"],
    ["has no uuids", { anchorUuid: "e-7" }],
    ["has uuids that are not an array", { anchorUuid: "e-7", uuids: { 0: "e-2", length: 1 } }],
    ["is empty", listed()],
    ["contains values other than ids", listed("e-2", 3)],
    ["names a line twice", listed("e-2", "e-3", "e-2")],
    ["names a line that is not in the file", listed("e-2", "nowhere")],
    ["names its own summary", listed("e-2", "e-7")],
    ["names its own boundary", listed("e-6", "e-2")],
    ["has 50,000 unknown ids", listed(...Array.from({ length: 50_000 }, (_, nth) => `x-${nth}`))],
  ])(
    "finds kept messages by their first and last line if the list of kept messages %s",
    (_, preservedMessages) => {
      expect(found(round(preservedMessages).entries)).toEqual(["e-6", "e-7", "e-2", "e-3", "e-4", "e-5"]);
    },
  );

  it("keeps the order of messages that a fork copied, even after a rewind to one of them", () => {
    for (const preservedMessages of [listed("e-3", "e-4", "e-5"), undefined]) {
      const b = new ConversationBuilder();
      const preservedSegment = { headUuid: "e-3", anchorUuid: "e-2", tailUuid: "e-5" };
      b.boundary({ preservedSegment, preservedMessages } as object);
      b.summary("summary");
      b.user("kept");
      b.assistant("kept answer");
      b.user("kept too");
      expect(found(b.entries)).toEqual(["e-1", "e-2", "e-3", "e-4", "e-5"]);
      b.user("another way", { parentUuid: "e-4" });
      expect(found(b.entries)).toEqual(["e-1", "e-2", "e-3", "e-4", "e-6"]);
    }
  });

  it("leaves kept messages out if the boundary names only lines that are not in the file", () => {
    const b = new ConversationBuilder();
    b.user("old");
    const nowhere = { headUuid: "x", anchorUuid: 5, tailUuid: [] };
    b.boundary({ preservedSegment: nowhere, preservedMessages: { uuids: ["y"] } } as object);
    b.summary("summary");
    b.user("later");
    expect(found(b.entries)).toEqual(["e-2", "e-3", "e-4"]);
  });
});

describe("attachments between the boundary and the summary of a compaction", () => {
  const automatic = (): ConversationBuilder => {
    const b = new ConversationBuilder();
    b.user("old");
    b.user("kept");
    b.boundary({ preservedSegment: { headUuid: "e-2", anchorUuid: "e-6", tailUuid: "e-2" } });
    b.attachment({ type: "session_context" });
    b.attachment({ type: "date" });
    b.summary("summary");
    return b;
  };

  it("puts a summary before the kept messages even if attachments precede the summary", () => {
    const b = automatic();
    expect(found(b.entries)).toEqual(["e-3", "e-4", "e-5", "e-6", "e-2"]);
    b.attachment({ type: "file" });
    expect(found(b.entries)).toEqual(["e-3", "e-4", "e-5", "e-6", "e-2", "e-7"]);
  });

  it("ignores a boundary with attachments but without summary, so that no message is lost", () => {
    const b = automatic();
    b.entries.pop();
    expect(found(b.entries)).toEqual(["e-1", "e-2"]);
  });
});

describe("historyBefore", () => {
  it("finds the messages before a compaction through the boundary's logicalParentUuid", () => {
    const b = new ConversationBuilder();
    b.user("one");
    b.assistant("two");
    const boundary = b.boundary();
    b.summary("summary");
    b.user("later");
    expect(uuids(historyBefore(b.entries, boundary).entries)).toEqual(["e-1", "e-2"]);
  });

  it("returns the agent's context before every compaction of a generated session", () => {
    fc.assert(
      fc.property(sessionArbitrary, ({ lines, compactions }) => {
        for (const { boundary, before } of compactions) {
          expect(uuids(historyBefore(lines, boundary).entries)).toEqual(uuids(before));
        }
      }),
      { numRuns: 500 },
    );
  });

  it("returns no messages before a boundary that the session does not contain", () => {
    const boundary = new ConversationBuilder("other").boundary();
    expect(historyBefore(new ConversationBuilder().entries, boundary).entries).toEqual([]);
  });
});
