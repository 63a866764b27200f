import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@longhaul/core/messages";
import { withClearedResults } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse, usage } from "../../../../test/support/builders.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { loadSession } from "./load.ts";
import { currentConversation, historyBefore } from "./relink.ts";
import { dedupeAcrossFiles, lastUsageOfMessage, responses } from "./responses.ts";
import { linesOf } from "./whole-file.ts";

const uuids = (entries: readonly Entry[]): (string | undefined)[] => entries.map((entry) => entry.uuid);
const folder = temporaryFolder();

describe("ten facts of session files that break naive tools", () => {
  it("1: one response is split into several lines, which all have its message id", () => {
    const b = new ConversationBuilder();
    b.assistant([{ type: "text", text: "one" }], { id: "m" });
    b.assistant([toolUse("a", "Read", {})], { id: "m" });
    b.user([toolResult("a", "content")]);
    b.assistant([toolUse("b", "Read", {})], { id: "m" });
    b.assistant("next", { id: "n" });
    expect(responses(b.entries).map(({ id, entries }) => [id, uuids(entries)])).toEqual([
      ["m", ["e-1", "e-2", "e-4"]],
      ["n", ["e-5"]],
    ]);
  });

  it("2: every line of a response reports usage, and only the usage of the last line counts", () => {
    const b = new ConversationBuilder();
    b.assistant("one", { id: "m", usage: usage(100, 1) });
    b.assistant("two", { id: "m", usage: usage(100, 250) });
    expect(responses(b.entries).map((response) => response.usage)).toEqual([usage(100, 250)]);
    expect(lastUsageOfMessage(b.entries, "m")).toEqual(usage(100, 250));
    expect(lastUsageOfMessage(b.entries, "other")).toBeUndefined();
  });

  it("3: walking parentUuid loses parallel results, so the reader restores them beside their calls", () => {
    const b = new ConversationBuilder();
    b.user("question");
    b.assistant([toolUse("a", "Read", {})], { id: "m" });
    b.assistant([toolUse("b", "Read", {})], { id: "m" });
    b.user([toolResult("a", "first")], { parentUuid: "e-2" });
    b.user([toolResult("b", "second")], { parentUuid: "e-3" });
    b.assistant("both read", { id: "n" });
    expect(uuids(currentConversation(b.entries).entries)).toEqual(["e-1", "e-2", "e-3", "e-4", "e-5", "e-6"]);
  });

  it("4: kept messages have parents above the boundary, so the reader puts them after the summary", () => {
    const b = new ConversationBuilder();
    b.user("old");
    b.assistant("old answer");
    b.user("kept question");
    b.assistant("kept answer");
    b.boundary({ preservedSegment: { headUuid: "e-3", anchorUuid: "e-6", tailUuid: "e-4" } });
    b.summary("summary");
    b.user("later", { parentUuid: "e-4" });
    expect(uuids(currentConversation(b.entries).entries)).toEqual(["e-5", "e-6", "e-3", "e-4", "e-7"]);
  });

  it("4: if the kept messages are not in the file, as in a fork, only the summary remains", () => {
    const b = new ConversationBuilder();
    b.boundary({ preservedSegment: { headUuid: "gone-1", anchorUuid: "e-2", tailUuid: "gone-2" } });
    b.summary("summary");
    b.user("later");
    expect(uuids(currentConversation(b.entries).entries)).toEqual(["e-1", "e-2", "e-3"]);
  });

  it("5: if logicalParentUuid names no line, the line above the boundary is the boundary's parent", () => {
    const b = new ConversationBuilder();
    b.user("one");
    b.assistant("two");
    const boundary = { ...b.boundary(), logicalParentUuid: "in-no-line" };
    b.entries[2] = boundary;
    b.summary("summary");
    expect(uuids(historyBefore(b.entries, boundary).entries)).toEqual(["e-1", "e-2"]);
  });

  it("6: the file keeps every message, even compacted and cleared ones", async () => {
    const b = new ConversationBuilder();
    b.user("compacted away");
    b.boundary();
    b.summary("summary");
    b.tool("a", "Read", {}, "cleared in memory only");
    b.push({
      ...b.link(),
      type: "system",
      subtype: "microcompact_boundary",
      microcompactMetadata: { compactedToolIds: ["a"] },
    });
    const path = join(folder, "everything.jsonl");
    writeFileSync(path, linesOf(b.entries));
    const session = await loadSession(path);
    expect(session.entries).toEqual(b.entries);
    expect(session.conversation).toEqual(b.entries.slice(1));
    expect(session.clearedToolUseIds).toEqual(new Set(["a"]));
    const sentEntries = withClearedResults(session.conversation, session.clearedToolUseIds);
    expect(JSON.stringify(sentEntries)).not.toContain("cleared in memory only");
  });

  it("6: results that were cleared before the last boundary do not affect the conversation", () => {
    const b = new ConversationBuilder();
    b.push({
      ...b.link(),
      type: "system",
      subtype: "microcompact_boundary",
      microcompactMetadata: { compactedToolIds: ["old"] },
    });
    b.boundary();
    b.summary("summary");
    expect(currentConversation(b.entries).clearedToolUseIds.size).toBe(0);
  });

  it("7: forks copy history under a new session id, and each copied message counts once", () => {
    const b = new ConversationBuilder();
    b.user("shared");
    b.assistant("shared", { id: "m", usage: usage(10, 10) });
    b.assistant("shared too", { id: "m", usage: usage(10, 10) });
    const original = { id: "original", entries: [...b.entries] };
    const own = b.user("only in the fork");
    const copies = b.entries.map((entry) => ({ ...entry, sessionId: "fork" }));
    const [kept, fork] = dedupeAcrossFiles([original, { id: "fork", entries: copies }]);
    expect(kept).toBe(original);
    expect(uuids(fork?.entries ?? [])).toEqual([own.uuid]);
  });

  it("7: copies with new uuids are recognized by message id and request id", () => {
    const original = new ConversationBuilder("a");
    original.assistant("answer", { id: "m", usage: usage(10, 10) });
    const copy = new ConversationBuilder("b");
    copy.assistant("answer", { id: "m", usage: usage(10, 10) });
    const sessions = dedupeAcrossFiles([{ entries: original.entries }, { entries: copy.entries }]);
    expect(sessions.flatMap(({ entries }) => responses(entries))).toHaveLength(1);
  });

  it("8: token counts cannot be derived from characters, so each response contains its reported usage", () => {
    const b = new ConversationBuilder();
    b.user("x".repeat(4_000));
    b.assistant("first", { id: "m", usage: usage(3, 7, 1_500, 90) });
    b.push({ ...b.assistant("API Error", { id: "synthetic" }), isApiErrorMessage: true });
    const [first, failed] = responses(b.entries);
    expect(first?.usage).toEqual(usage(3, 7, 1_500, 90));
    expect(failed?.usage).toBeUndefined();
  });

  it("9: lines can be invalid JSON, so the reader recovers glued lines, skips comments and reports both", async () => {
    const b = new ConversationBuilder();
    const [one, two, three] = [b.user("one"), b.user("two"), b.user("three")];
    const path = join(folder, "glued.jsonl");
    writeFileSync(
      path,
      `// comment\n${JSON.stringify(one)}${JSON.stringify(two)}\n${JSON.stringify(three)}\n`,
    );
    const session = await loadSession(path);
    expect(session.conversation).toEqual([one, two, three]);
    expect(session.damage.map(({ kind, line }) => [kind, line])).toEqual([
      ["broken-line", 1],
      ["glued-lines", 2],
    ]);
  });

  it("10: entry types differ between versions, so the reader passes unknown types through", async () => {
    const b = new ConversationBuilder();
    b.user("one");
    const linked: Entry = {
      ...b.link(),
      type: "thought-bubble" as "(any other)",
      bubble: { of: ["anything"] },
    };
    b.push(linked);
    b.user("two");
    const loose: Entry = { type: "weather" as "(any other)", degrees: 21 };
    const path = join(folder, "unknown.jsonl");
    writeFileSync(path, linesOf([...b.entries, loose]));
    const session = await loadSession(path);
    expect(session.entries).toEqual([...b.entries, loose]);
    expect(session.conversation).toEqual(b.entries);
    expect(session.damage).toEqual([]);
  });

  it("10: a line of type summary is the title of a branch, not a compaction", () => {
    const b = new ConversationBuilder();
    b.user("one");
    b.entries.push({ type: "summary" as "(any other)", summary: "a title", leafUuid: "e-1" });
    b.user("two", { parentUuid: "e-1" });
    const conversation = currentConversation(b.entries);
    expect(uuids(conversation.entries)).toEqual(["e-1", "e-2"]);
    expect(conversation.boundary).toBeUndefined();
  });
});
