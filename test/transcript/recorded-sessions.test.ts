import { basename } from "node:path";
import type { Entry } from "@longhaul/core";
import type { AssistantEntry, UserEntry } from "@longhaul/core/messages";
import { historyBefore, loadSession, responses } from "@longhaul/sessions";
import { expect, it } from "vitest";
import { claudeCodeSessions, describeRecorded, realSessionPath } from "../support/real-sessions.ts";

const blockIds = (entry: UserEntry | AssistantEntry, kind: "tool_use" | "tool_result"): string[] => {
  const { content } = entry.message;
  if (typeof content === "string") return [];
  return content.flatMap((block) => {
    if (kind === "tool_use") return block.type === "tool_use" ? [block.id] : [];
    return block.type === "tool_result" ? [block.tool_use_id] : [];
  });
};

const idsIn = (entries: readonly Entry[], kind: "tool_use" | "tool_result"): string[] =>
  entries.flatMap((entry) =>
    entry.type === "user" || entry.type === "assistant" ? blockIds(entry, kind) : [],
  );

const recorded = claudeCodeSessions().map((path) => [basename(path), path] as const);

describeRecorded("recorded sessions", () => {
  it.each(recorded)("every tool call in the conversation of %s has its result", async (_, path) => {
    const { conversation, entries } = await loadSession(path);
    expect(conversation.length).toBeGreaterThan(0);
    const calls = new Set(idsIn(conversation, "tool_use"));
    const results = idsIn(conversation, "tool_result");
    const answered = idsIn(entries, "tool_result").filter((id) => calls.has(id));
    expect(new Set(results.filter((id) => calls.has(id)))).toEqual(new Set(answered));
    expect(new Set(results).size).toBe(results.length);
  });

  it.each(recorded)(
    "loading %s keeps all tool calls of a response or none, and duplicates nothing",
    async (_, path) => {
      const { conversation, entries } = await loadSession(path);
      const inConversation = new Set(conversation);
      expect(inConversation.size).toBe(conversation.length);
      for (const response of responses(entries)) {
        const calls = response.entries.filter((entry) => blockIds(entry, "tool_use").length > 0);
        const present = calls.filter((entry) => inConversation.has(entry));
        expect([0, calls.length]).toContain(present.length);
      }
    },
  );

  it("loading a session separates two lines that were joined by mistake, and counts them", async () => {
    const { damage, entries } = await loadSession(realSessionPath("entireio-cli__86cc3044.jsonl"));
    const glued = damage.filter(({ kind }) => kind === "glued-lines");
    expect(glued.map(({ line, bytes }) => [line, bytes])).toEqual([
      [115, 0],
      [241, 0],
    ]);
    // The file has 275 complete lines, and two lines that each join two entries. One entry of each pair is
    // written again in the next line.
    expect(damage.filter(({ kind }) => kind === "duplicate-uuid")).toHaveLength(2);
    expect(entries).toHaveLength(277);
  });

  it("loading a session returns boundary, summary, kept and later messages without the old history", async () => {
    const { conversation, boundaries, entries } = await loadSession(
      realSessionPath("oh-my-posh__6c0a282a.jsonl"),
    );
    const [boundary, summary, head, tail, ...later] = conversation;
    const segment = boundaries[0]?.boundary.compactMetadata.preservedSegment;
    expect(boundary).toBe(boundaries[0]?.boundary);
    expect(summary).toMatchObject({ type: "user", isCompactSummary: true, uuid: segment?.anchorUuid });
    expect([head?.uuid, tail?.uuid]).toEqual([segment?.headUuid, segment?.tailUuid]);
    const start = boundaries[0]?.index ?? 0;
    expect(Math.min(...later.map((entry) => entries.indexOf(entry)))).toBeGreaterThan(start + 1);
  });

  it("loading a session counts comment lines as damage and reads the other lines", async () => {
    for (const name of ["images-in-tool-results", "images-in-user-messages"]) {
      const { damage, conversation } = await loadSession(realSessionPath(`session-share__${name}.jsonl`));
      expect(damage.map(({ kind, line }) => [kind, line])).toEqual([
        ["broken-line", 1],
        ["broken-line", 2],
      ]);
      expect(conversation.length).toBeGreaterThan(0);
    }
  });

  it("historyBefore finds the messages before every compaction, even if a boundary names a missing line", async () => {
    for (const path of claudeCodeSessions()) {
      const { boundaries, entries } = await loadSession(path);
      for (const { boundary, index } of boundaries) {
        const before = historyBefore(entries, boundary);
        expect(before.entries.length).toBeGreaterThan(2);
        expect(entries.indexOf(before.entries.at(-1) as Entry)).toBeLessThan(index);
      }
    }
  });
});
