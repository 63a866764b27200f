import type { ContentBlock, Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, thinking, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { sessionArbitrary } from "../../../../test/transcript/session-generator.ts";
import { currentConversation, historyBefore } from "./relink.ts";

const uuids = (entries: readonly Entry[]): (string | undefined)[] => entries.map((entry) => entry.uuid);
const found = (entries: readonly Entry[]): (string | undefined)[] =>
  uuids(currentConversation(entries).entries);

describe("the current conversation", () => {
  it("is what the agent had in its memory, whatever was said, called in parallel, gone back to or compacted", () => {
    fc.assert(
      fc.property(sessionArbitrary, ({ lines, context }) => {
        expect(found(lines)).toEqual(uuids(context));
      }),
      { numRuns: 1_000 },
    );
  });

  it("keeps the entries themselves, not copies", () => {
    const b = new ConversationBuilder();
    const first = b.user("hello");
    expect(currentConversation(b.entries).entries[0]).toBe(first);
  });

  it("is empty where nothing was said", () => {
    expect(currentConversation([]).entries).toEqual([]);
    expect(
      currentConversation([{ type: "summary" as "(any other)", summary: "title" }]).leafUuid,
    ).toBeUndefined();
  });

  it("leaves out a branch that the user went back from", () => {
    const b = new ConversationBuilder();
    const first = b.user("start");
    const left = b.user("wrong way");
    b.assistant("left behind");
    const again = b.user("right way", { parentUuid: first.uuid });
    expect(found(b.entries)).toEqual([first.uuid, again.uuid]);
    expect(found(b.entries)).not.toContain(left.uuid);
  });

  it("takes the sidechain for the main thread in a subagent's own file", () => {
    const b = new ConversationBuilder();
    b.user("task", { isSidechain: true });
    b.assistant("done", { isSidechain: true });
    expect(found(b.entries)).toEqual(["e-1", "e-2"]);
  });

  it("leaves subagents' entries out of the main conversation", () => {
    const b = new ConversationBuilder();
    b.user("main");
    b.push({ ...b.user("sub", { isSidechain: true, parentUuid: null }) });
    expect(found(b.entries)).toEqual(["e-1"]);
  });

  it("goes past a boundary whose writer died before the summary: nothing is lost", () => {
    const b = new ConversationBuilder();
    b.user("one");
    b.assistant("two");
    b.boundary();
    expect(found(b.entries)).toEqual(["e-1", "e-2"]);
  });

  it("does not take a boundary on a branch that was left for the last one", () => {
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

describe("links that lead nowhere", () => {
  it("are bridged to the line above, and named, so that nothing is lost silently", () => {
    const b = new ConversationBuilder();
    b.user("one");
    b.assistant("two");
    b.user("three", { parentUuid: "in-no-line" });
    const conversation = currentConversation(b.entries);
    expect(uuids(conversation.entries)).toEqual(["e-1", "e-2", "e-3"]);
    expect(conversation.bridgedUuids).toEqual(["e-3"]);
  });

  it("end the conversation where the file begins in the middle of a session", () => {
    const b = new ConversationBuilder();
    b.assistant("first line of the slice", { parentUuid: "before-the-slice" });
    b.user("next");
    const conversation = currentConversation(b.entries);
    expect(uuids(conversation.entries)).toEqual(["e-1", "e-2"]);
    expect(conversation.bridgedUuids).toEqual([]);
  });

  it("never run in a circle", () => {
    const b = new ConversationBuilder();
    b.user("zero");
    b.user("one", { parentUuid: "e-3" });
    b.user("two", { parentUuid: "e-2" });
    b.user("own parent", { parentUuid: "e-4" });
    expect(found(b.entries)).toEqual(["e-1", "e-2", "e-3", "e-4"]);
  });

  it("may lead to a line further down", () => {
    const b = new ConversationBuilder();
    const late = { ...b.user("parent"), uuid: "late", parentUuid: null };
    b.entries.length = 0;
    b.assistant("child", { parentUuid: "late" });
    b.push(late);
    b.user("leaf", { parentUuid: "e-2" });
    expect(found(b.entries)).toEqual(["late", "e-2", "e-3"]);
  });
});

describe("kept messages", () => {
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

  it("stand after the summary when nothing has been written since", () => {
    const b = kept();
    expect(found(b.entries)).toEqual(["e-5", "e-6", "e-3", "e-4"]);
    expect(currentConversation(b.entries).leafUuid).toBe("e-4");
  });

  it("stand before the summary when the oldest were kept", () => {
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

  it("stand before the newer summary alone when the same oldest ones were kept a second time", () => {
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

  it("follow a summary of the provider's own as they follow one of ours", () => {
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

  it("come without the thinking that the boundary says is no longer sent, up to the message it names", () => {
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

  it("are cut where the user went back to one of them", () => {
    const b = kept();
    b.user("back to the kept question", { parentUuid: "e-3" });
    expect(found(b.entries)).toEqual(["e-5", "e-6", "e-3", "e-7"]);
  });

  it("follow the summary also when the field names an anchor that is in no line", () => {
    const b = kept();
    const boundary = b.entries[4];
    if (boundary?.type !== "system" || boundary.subtype !== "compact_boundary")
      throw new Error("no boundary");
    const preservedSegment = { headUuid: "e-3", anchorUuid: "nowhere", tailUuid: "e-4" };
    b.entries[4] = { ...boundary, compactMetadata: { ...boundary.compactMetadata, preservedSegment } };
    b.user("later", { parentUuid: "e-4" });
    expect(found(b.entries)).toEqual(["e-5", "e-6", "e-3", "e-4", "e-7"]);
  });

  it("whose links run through what came after the compaction do not send the reader in circles", () => {
    const b = new ConversationBuilder();
    b.user("head");
    b.user("tail", { parentUuid: "e-5" });
    b.boundary({ preservedSegment: { headUuid: "e-1", anchorUuid: "e-4", tailUuid: "e-2" } });
    b.summary("summary");
    b.user("mislinked", { parentUuid: "e-1" });
    b.user("leaf", { parentUuid: "e-2" });
    expect(found(b.entries)).toEqual(["e-3", "e-4", "e-1", "e-5", "e-2", "e-6"]);
  });

  it("begin at a head that hangs beside the line of the tail", () => {
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
  /** A round of parallel calls that the boundary keeps in full: e-2 to e-5. */
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

  it("are all part of the conversation, in the order of the list", () => {
    const b = round(listed("e-2", "e-3", "e-5", "e-4"));
    expect(found(b.entries)).toEqual(["e-6", "e-7", "e-2", "e-3", "e-5", "e-4"]);
    b.user("later", { parentUuid: "e-4" });
    expect(found(b.entries)).toEqual(["e-6", "e-7", "e-2", "e-3", "e-5", "e-4", "e-8"]);
  });

  it("need no segment beside the list", () => {
    const b = new ConversationBuilder();
    b.user("kept");
    b.boundary({ preservedMessages: { anchorUuid: "e-3", uuids: ["e-1"] } });
    b.summary("summary");
    expect(found(b.entries)).toEqual(["e-2", "e-3", "e-1"]);
  });

  it("are the only lines above the boundary that count: what the list leaves out is not put back", () => {
    const b = round(listed("e-2", "e-5"));
    expect(found(b.entries)).toEqual(["e-6", "e-7", "e-2", "e-5"]);
  });

  it("may be an earlier summary and what was kept with it, which stand above one another in the file", () => {
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
    ["is no object", "e-2"],
    ["has no list", { anchorUuid: "e-7" }],
    ["has something else for a list", { anchorUuid: "e-7", uuids: { 0: "e-2", length: 1 } }],
    ["is empty", listed()],
    ["holds something else than ids", listed("e-2", 3)],
    ["names a line twice", listed("e-2", "e-3", "e-2")],
    ["names a line that is not in the file", listed("e-2", "nowhere")],
    ["names its own summary", listed("e-2", "e-7")],
    ["names its own boundary", listed("e-6", "e-2")],
    ["is endless", listed(...Array.from({ length: 50_000 }, (_, nth) => `x-${nth}`))],
  ])("are found by the segment when the list %s", (_, preservedMessages) => {
    expect(found(round(preservedMessages).entries)).toEqual(["e-6", "e-7", "e-2", "e-3", "e-4", "e-5"]);
  });

  it("stand where a fork has copied them, also when the user then goes back to one of them", () => {
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

  it("are left out, and the summary stands alone, when neither list nor segment leads to them", () => {
    const b = new ConversationBuilder();
    b.user("old");
    const nowhere = { headUuid: "x", anchorUuid: 5, tailUuid: [] };
    b.boundary({ preservedSegment: nowhere, preservedMessages: { uuids: ["y"] } } as object);
    b.summary("summary");
    b.user("later");
    expect(found(b.entries)).toEqual(["e-2", "e-3", "e-4"]);
  });
});

describe("a summary that attachments part from its boundary", () => {
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

  it("stands before the messages that were kept after it", () => {
    const b = automatic();
    expect(found(b.entries)).toEqual(["e-3", "e-4", "e-5", "e-6", "e-2"]);
    b.attachment({ type: "file" });
    expect(found(b.entries)).toEqual(["e-3", "e-4", "e-5", "e-6", "e-2", "e-7"]);
  });

  it("does not count while only the attachments are written: its writer died, and nothing is lost", () => {
    const b = automatic();
    b.entries.pop();
    expect(found(b.entries)).toEqual(["e-1", "e-2"]);
  });
});

describe("going back across a compaction", () => {
  it("follows logicalParentUuid", () => {
    const b = new ConversationBuilder();
    b.user("one");
    b.assistant("two");
    const boundary = b.boundary();
    b.summary("summary");
    b.user("later");
    expect(uuids(historyBefore(b.entries, boundary).entries)).toEqual(["e-1", "e-2"]);
  });

  it("gives the agent's memory right before every compaction", () => {
    fc.assert(
      fc.property(sessionArbitrary, ({ lines, compactions }) => {
        for (const { boundary, before } of compactions) {
          expect(uuids(historyBefore(lines, boundary).entries)).toEqual(uuids(before));
        }
      }),
      { numRuns: 500 },
    );
  });

  it("finds nothing before a boundary that is not of this session", () => {
    const boundary = new ConversationBuilder("other").boundary();
    expect(historyBefore(new ConversationBuilder().entries, boundary).entries).toEqual([]);
  });
});
