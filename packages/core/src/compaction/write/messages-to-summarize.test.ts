import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import {
  ConversationBuilder,
  image,
  thinking,
  toolResult,
  toolUse,
} from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { checkRequest } from "../../request/check/check.ts";
import { messagesToSummarize } from "./ask-model.ts";

describe("messagesToSummarize", () => {
  it("replaces images and documents with short texts, also inside tool results", () => {
    const built = new ConversationBuilder();
    built.user([
      image(),
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBE" } },
    ]);
    built.assistant([toolUse("t1", "Read", {})]);
    built.user([toolResult("t1", [image(), { type: "text", text: "a picture" }])]);
    const messages = messagesToSummarize(built.entries);
    expect(messages[0]?.content).toEqual([
      { type: "text", text: "[image]" },
      { type: "text", text: "[document]" },
    ]);
    expect(messages[2]?.content).toMatchObject([{ content: [{ text: "[image]" }, { text: "a picture" }] }]);
  });

  it("a summary request leaves out thinking, which the provider would refuse after a changed history", () => {
    const built = new ConversationBuilder();
    built.user("why?");
    built.assistant([thinking("hm"), { type: "text", text: "because" }]);
    built.user("I see");
    const messages = messagesToSummarize(built.entries);
    expect(messages[1]?.content).toEqual([{ type: "text", text: "because" }]);
  });

  it("leaves out attachments that the agent adds again after a compaction", () => {
    const built = new ConversationBuilder();
    built.user("go");
    built.attachment({ type: "skill_listing", content: "- a-skill: does things" });
    expect(JSON.stringify(messagesToSummarize(built.entries))).not.toContain("a-skill");
  });

  it("a summary request contains cleared tool results without their old content", () => {
    const built = new ConversationBuilder();
    built.user("go");
    built.tool("t1", "Read", {}, "long file");
    expect(JSON.stringify(messagesToSummarize(built.entries, new Set(["t1"])))).not.toContain("long file");
  });

  it("builds valid messages for a summary request from any entries and leaves the entries unchanged", () => {
    fc.assert(
      fc.property(arbitraryEntries(), (entries) => {
        const messages = messagesToSummarize(deepFreeze(entries));
        if (messages.length === 0) return;
        const { findings } = checkRequest({ messages });
        expect(findings).toEqual([]);
        expect(JSON.stringify(messages)).not.toMatch(
          /"type":"(?:image|document|thinking|redacted_thinking)"/,
        );
      }),
    );
  });
});
