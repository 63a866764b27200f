import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { countingPorts } from "../../../../../test/support/long-session.ts";
import type { Entry } from "../../messages/entry.ts";
import { newestLine } from "../../messages/lines.ts";
import { createSnipMarker } from "./snip.ts";

const RECORD = { messages: 2, uuids: ["a", "b"] };

describe("snip markers", () => {
  it("a snip marker is a meta message that names the number of removed messages and the transcript", () => {
    const c = new ConversationBuilder();
    c.user("older");
    const newest = c.user("newest", { cwd: "/elsewhere" });
    const entries = [...c.entries, { type: "summary" }, null] as unknown as readonly Entry[];
    expect(createSnipMarker(RECORD, "/s.jsonl", newestLine(entries), countingPorts())).toEqual({
      uuid: "new-1",
      parentUuid: newest.uuid,
      timestamp: "2026-06-01T00:00:00.000Z",
      sessionId: "session-1",
      cwd: "/elsewhere",
      type: "user",
      message: {
        role: "user",
        content: "[2 messages were removed here to make room. Their text is in the transcript: /s.jsonl]",
      },
      isMeta: true,
      snipped: RECORD,
    });
  });

  it("a snip marker links to the newest transcript line, even if that line is a marker earlier in the conversation", () => {
    const c = new ConversationBuilder();
    const [first, last] = [c.user("first"), c.user("last")];
    const ports = countingPorts();
    const one = createSnipMarker(RECORD, undefined, last, ports);
    const two = createSnipMarker(RECORD, undefined, one, ports);
    expect(newestLine([two, first, one, last])).toBe(two);
    const later = c.user("later", { parentUuid: two.uuid });
    expect(newestLine([two, first, one, last, later])).toBe(later);
    expect(newestLine([{ ...one, parentUuid: one.uuid }])).toBeDefined();
  });

  it("a snip marker names no transcript if there is none, and has no parent in an empty conversation", () => {
    const marker = createSnipMarker({ messages: 1, uuids: [] }, undefined, newestLine([]), countingPorts());
    expect(marker.message.content).toBe("[1 message was removed here to make room.]");
    expect(marker.parentUuid).toBeNull();
  });
});
