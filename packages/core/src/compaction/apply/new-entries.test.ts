import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolUse } from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { countingPorts } from "../../../../../test/support/long-session.ts";
import type { CompactBoundaryEntry, Entry } from "../../messages/entry.ts";
import type { ContentBlock } from "../../messages/message.ts";
import { createBoundary, createMetaEntry, createSummaryEntry, withPreservedMessages } from "./new-entries.ts";

const TITLE = { type: "summary", summary: "a title" } as unknown as Entry;
const KNOWLEDGE = { overheadTokens: 5, tokenRatio: 1 };

const boundaryAfter = (entries: readonly Entry[]): CompactBoundaryEntry =>
  createBoundary(
    {
      trigger: "manual",
      preTokens: 900,
      postTokens: 90,
      longhaul: KNOWLEDGE,
      messagesSummarized: 3,
    },
    deepFreeze(entries),
    countingPorts(),
  );

describe("createBoundary", () => {
  it("createBoundary records what a compaction did, and lists no tools when none was used", () => {
    const c = new ConversationBuilder();
    c.user("hi");
    expect(boundaryAfter(c.entries)).toEqual({
      uuid: "new-1",
      parentUuid: null,
      timestamp: "2026-06-01T00:00:00.000Z",
      sessionId: "session-1",
      cwd: "/project",
      logicalParentUuid: "e-1",
      type: "system",
      subtype: "compact_boundary",
      content: "Conversation compacted",
      isMeta: false,
      level: "info",
      compactMetadata: {
        trigger: "manual",
        preTokens: 900,
        postTokens: 90,
        longhaul: KNOWLEDGE,
        messagesSummarized: 3,
      },
    });
  });

  it("links a boundary to the newest entry that has an id, or to no entry", () => {
    const c = new ConversationBuilder();
    c.user("hi");
    expect(boundaryAfter([...c.entries, TITLE]).logicalParentUuid).toBe("e-1");
    expect(boundaryAfter([TITLE]).logicalParentUuid).toBeNull();
    expect(boundaryAfter([]).logicalParentUuid).toBeNull();
  });

  it("a boundary lists each tool used so far once, sorted, including tools that earlier boundaries list", () => {
    const c = new ConversationBuilder();
    c.boundary({ preCompactDiscoveredTools: ["Write", "Bash"] });
    c.push({ type: "system", subtype: "compact_boundary", uuid: "odd" } as unknown as Entry);
    c.boundary();
    c.user("no boundary", { compactMetadata: { preCompactDiscoveredTools: ["Fake"] } } as object);
    c.tool("a", "Read", {}, "one");
    c.tool("b", "Bash", {}, "two");
    c.assistant([{ type: "tool_use", id: "c", input: {} } as unknown as ContentBlock]);
    const { compactMetadata } = boundaryAfter(c.entries);
    expect(compactMetadata.preCompactDiscoveredTools).toEqual(["Bash", "Read", "Write"]);
  });
});

describe("summary entries", () => {
  const boundary = { ...new ConversationBuilder().boundary(), uuid: "boundary" };
  const link = { uuid: "new-1", parentUuid: "boundary", timestamp: "2026-06-01T00:00:00.000Z" };

  it("creates a summary entry that the model reads and that the user sees only in the transcript", () => {
    expect(createSummaryEntry({ text: "so far" }, boundary, [], countingPorts())).toEqual({
      ...link,
      type: "user",
      message: { role: "user", content: "so far" },
      isVisibleInTranscriptOnly: true,
      isCompactSummary: true,
    });
  });

  it("creates a provider-signed summary as an assistant message, which names the model if the model is known", () => {
    const block = toolUse("any", "block", {});
    const entryOf = (model: string | undefined): Entry =>
      createSummaryEntry({ text: "", block: { content: block, model } }, boundary, [], countingPorts());
    expect(entryOf("claude-opus-5-5")).toStrictEqual({
      ...link,
      type: "assistant",
      message: { role: "assistant", content: [block], model: "claude-opus-5-5" },
      isCompactSummary: true,
    });
    expect(entryOf(undefined)).not.toHaveProperty("message.model");
  });

  it("marks the text after a signed summary as a meta message, because no user wrote it", () => {
    expect(createMetaEntry("words", "before", [], countingPorts())).toEqual({
      ...link,
      parentUuid: "before",
      type: "user",
      message: { role: "user", content: "words" },
      isMeta: true,
    });
  });
});

describe("record of kept messages on a boundary", () => {
  it("records on the boundary the ids of all kept messages, or nothing when no kept message has an id", () => {
    const boundary = deepFreeze(boundaryAfter([]));
    const c = new ConversationBuilder();
    c.user("one");
    c.user("two");
    const marked = withPreservedMessages(boundary, "anchor", [TITLE, ...c.entries, TITLE]);
    expect(marked).toEqual({
      ...boundary,
      compactMetadata: {
        ...boundary.compactMetadata,
        preservedSegment: { headUuid: "e-1", anchorUuid: "anchor", tailUuid: "e-2" },
        preservedMessages: { anchorUuid: "anchor", uuids: ["e-1", "e-2"], allUuids: ["e-1", "e-2"] },
      },
    });
    expect(withPreservedMessages(boundary, "anchor", [TITLE])).toBe(boundary);
    expect(withPreservedMessages(boundary, "anchor", [])).toBe(boundary);
  });
});
