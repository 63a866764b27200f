import { describe, expect, it } from "vitest";
import { ConversationBuilder, image, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import type { Entry } from "../../messages/entry.ts";
import type { ContentBlock } from "../../messages/message.ts";
import { mediaOf, withOldMediaAsMarks } from "./shrink-messages.ts";

const picture = (name: string): ContentBlock => image(name.padEnd(1_000, "A"));
const PICTURE_BYTES = JSON.stringify(picture("x")).length;
const MARK = { type: "text", text: "[image]" };

describe("withOldMediaAsMarks", () => {
  it("keeps as many of the newest images as the limit allows, and replaces older images with [image]", () => {
    const c = new ConversationBuilder();
    c.user([picture("one"), { type: "text", text: "first" }]);
    c.user([picture("two"), picture("three")]);
    deepFreeze(c.entries);
    expect(withOldMediaAsMarks(c.entries, { maxBytes: 3 * PICTURE_BYTES })).toBe(c.entries);
    const [first, second] = withOldMediaAsMarks(c.entries, { maxBytes: 3 * PICTURE_BYTES - 1 }) as [
      Entry,
      Entry,
    ];
    expect(first).toEqual({
      ...c.entries[0],
      message: { role: "user", content: [MARK, { type: "text", text: "first" }] },
    });
    expect(second).toBe(c.entries[1]);
    expect(withOldMediaAsMarks(c.entries, { maxBytes: PICTURE_BYTES })[1]).toMatchObject({
      message: { content: [MARK, picture("three")] },
    });
  });

  it("replaces all images older than the first image that does not fit, even small ones", () => {
    const c = new ConversationBuilder();
    c.user([image("tiny")]);
    c.user([image("A".repeat(5_000))]);
    c.user([picture("new")]);
    const contents = withOldMediaAsMarks(c.entries, { maxBytes: 2 * PICTURE_BYTES }).map(
      (entry) => entry.type === "user" && entry.message.content,
    );
    expect(contents).toEqual([[MARK], [MARK], [picture("new")]]);
  });

  it("keeps the newest images even when several messages share the same image object", () => {
    const shared = picture("same");
    const c = new ConversationBuilder();
    for (let at = 0; at < 3; at++) c.user([shared]);
    const contents = withOldMediaAsMarks(deepFreeze(c.entries), { maxBytes: 2 * PICTURE_BYTES }).map(
      (entry) => entry.type === "user" && entry.message.content,
    );
    expect(contents).toEqual([[MARK], [shared], [shared]]);
  });

  it("replaces images in tool results and in messages queued while the agent worked", () => {
    const c = new ConversationBuilder();
    c.assistant([toolUse("t", "Read", {})]);
    c.user([
      toolResult("t", [{ type: "text", text: "shown" }, picture("in a result")]),
      toolResult("u", "x"),
    ]);
    c.attachment({ type: "queued_command", prompt: [picture("typed")], mode: "prompt" });
    const marked = withOldMediaAsMarks(deepFreeze(c.entries), { maxBytes: 0 });
    expect(marked[0]).toBe(c.entries[0]);
    expect(marked[1]).toMatchObject({
      message: {
        content: [
          { type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "shown" }, MARK] },
          toolResult("u", "x"),
        ],
      },
    });
    expect(marked[2]).toEqual({
      ...c.entries[2],
      attachment: { type: "queued_command", prompt: [MARK], mode: "prompt" },
    });
  });

  it("replaces documents with the text [document], and keeps media in assistant messages", () => {
    const c = new ConversationBuilder();
    const source = { type: "base64", media_type: "application/pdf", data: "A".repeat(100) };
    c.user([{ type: "document", source }]);
    const reply = c.assistant([picture("of the assistant")]);
    const marked = withOldMediaAsMarks(c.entries, { maxBytes: 0 });
    expect(marked[0]).toMatchObject({ message: { content: [{ type: "text", text: "[document]" }] } });
    expect(marked[1]).toBe(reply);
  });

  it("counts media in user messages toward the byte limit, but not text, and not media in assistant messages", () => {
    const c = new ConversationBuilder();
    c.user([picture("old"), { type: "text", text: "words" }]);
    c.user([toolResult("t", [{ type: "text", text: "A".repeat(2_000) }, picture("new")])]);
    c.assistant([picture("of the assistant")]);
    expect(withOldMediaAsMarks(c.entries, { maxBytes: 2 * PICTURE_BYTES })).toBe(c.entries);
    expect(mediaOf(c.entries[1] as Entry)).toEqual([picture("new")]);
    for (const odd of [null, { type: "user", message: { content: [null, 7] } }, c.entries[2]])
      expect(mediaOf(odd as unknown as Entry)).toEqual([]);
    for (const words of [c.user("words"), c.user([toolResult("t", "words")])])
      expect(mediaOf(words)).toEqual([]);
  });

  it("leaves malformed entries unchanged when it replaces old media", () => {
    const c = new ConversationBuilder();
    const odd = [null, 7, picture("x"), { type: "tool_result", content: [null, picture("y")] }];
    const entries = [
      null,
      7,
      { type: "attachment" },
      { type: "attachment", attachment: { type: "queued_command", prompt: "words" } },
      { type: "user" },
      { type: "user", message: { content: "words" } },
      { type: "user", message: { content: odd } },
      c.user([picture("new")]),
    ] as unknown as readonly Entry[];
    const marked = withOldMediaAsMarks(entries, { maxBytes: PICTURE_BYTES });
    expect(marked.slice(0, 6)).toEqual(entries.slice(0, 6));
    for (const [at, entry] of entries.entries()) if (at !== 6) expect(marked[at]).toBe(entry);
    const nested = { type: "tool_result", content: [null, MARK] };
    expect(marked[6]).toMatchObject({ message: { content: [null, 7, MARK, nested] } });
  });
});
