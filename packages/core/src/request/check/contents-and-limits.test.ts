import { describe, expect, it } from "vitest";
import { image, PNG, thinking, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import type { ApiMessage, ApiRequest, ContentBlock } from "../../messages/message.ts";
import { checkRequest } from "./check.ts";
import { MAX_MEDIA, MAX_MEDIA_SMALL_WINDOW, MAX_MESSAGES, MAX_REQUEST_BYTES } from "./limits.ts";

const text = (value: string): ContentBlock => ({ type: "text", text: value });
const user = (content: ApiMessage["content"] = "go"): ApiMessage => ({ role: "user", content });
const assistant = (content: ApiMessage["content"] = "done"): ApiMessage => ({ role: "assistant", content });
const marked = (value: string, ttl?: "5m" | "1h"): ContentBlock => ({
  type: "text",
  text: value,
  cache_control: ttl ? { type: "ephemeral", ttl } : { type: "ephemeral" },
});
const rules = (request: ApiRequest): string[] =>
  checkRequest(request).findings.map((finding) => finding.rule);

describe("empty texts and messages", () => {
  it("removes empty and blank text, also inside tool results and in the system prompt", () => {
    const result = toolResult("a", [text(""), text("kept")]);
    const messages = [
      user([text("go"), text(" \n")]),
      assistant([text(""), toolUse("a", "Read", {})]),
      user([result]),
    ];
    const { request, findings } = checkRequest({ messages, system: [text(" "), text("be kind")] });
    expect(request.system).toEqual([text("be kind")]);
    expect(request.messages).toEqual([
      user([text("go")]),
      assistant([toolUse("a", "Read", {})]),
      user([toolResult("a", [text("kept")])]),
    ]);
    expect(findings.map(({ rule, path }) => `${rule} ${path}`)).toEqual([
      "text-blank messages.0.content.1",
      "text-empty messages.1.content.0",
      "text-empty messages.2.content.0",
      "text-blank system.0",
    ]);
  });

  it("removes a message without content, except an empty assistant message at the end", () => {
    expect(rules({ messages: [user(), assistant([]), user("b")] })).toEqual(["message-empty", "same-role"]);
    expect(rules({ messages: [user(), assistant("")] })).toEqual([]);
  });

  it("removes empty text together with its cache mark", () => {
    expect(rules({ messages: [user([text("go"), marked("")])] })).toEqual(["cache-mark-on-empty-text"]);
  });
});

describe("images and documents", () => {
  const document = (data = "JVBERi0="): ContentBlock => ({
    type: "document",
    source: { type: "base64", media_type: "application/pdf", data },
  });

  it("keeps a PDF whose data has line breaks, whatever the length of the lines", () => {
    const data = btoa(`%PDF-1.7\n${"0".repeat(3_000)}`);
    for (let length = 60; length <= 80; length++) {
      const lines = data.match(new RegExp(`.{1,${length}}`, "g")) ?? [];
      const messages = [user([document(lines.join("\n"))])];
      expect(checkRequest({ messages }).request.messages).toBe(messages);
    }
  });

  it("above the API's limit, replaces the oldest images and documents with markers", () => {
    const messages = [
      user([image("a"), document()]),
      assistant([toolUse("t", "Read", {})]),
      user([toolResult("t", [image("c")]), image("d")]),
    ];
    const { request, findings } = checkRequest({ messages }, { maxMedia: 1 });
    expect(request.messages[0]).toEqual(user([text("[image]"), text("[document]")]));
    expect(request.messages[2]).toEqual(user([toolResult("t", [text("[image]")]), image("d")]));
    expect(findings.map(({ rule, path }) => `${rule} ${path}`)).toEqual([
      "media-count messages.0.content.0",
      "media-count messages.0.content.1",
      "media-count messages.2.content.0",
    ]);
  });

  it("accepts 600 images by default, or 100 when the caller sets that limit", () => {
    const pictures = (count: number): ApiRequest => ({
      messages: [user(Array.from({ length: count }, (_, at) => image(`i${at}`)))],
    });
    expect(checkRequest(pictures(MAX_MEDIA)).valid).toBe(true);
    expect(rules(pictures(MAX_MEDIA + 1))).toEqual(["media-count"]);
    expect(checkRequest(pictures(101), { maxMedia: MAX_MEDIA_SMALL_WINDOW }).findings).toHaveLength(1);
  });

  it("replaces the oldest images first to keep the request under the byte limit", () => {
    const big = image("A".repeat(MAX_REQUEST_BYTES / 4));
    const { request, findings } = checkRequest({
      messages: [user([big, big, big, big, image("small")])],
    });
    expect(request.messages[0]).toEqual(user([text("[image]"), big, big, big, image("small")]));
    expect(findings).toMatchObject([
      { rule: "request-bytes", path: "messages.0.content.0", action: "replaced-by-text" },
    ]);
  });

  it("reports a request whose text alone is over the byte limit", () => {
    const { request, findings } = checkRequest(
      { messages: [user("语".repeat(100))] },
      { maxRequestBytes: 300 },
    );
    expect(findings).toMatchObject([{ rule: "request-bytes", action: "reported", detail: { limit: 300 } }]);
    expect(request.messages[0]?.content).toHaveLength(100);
    expect(checkRequest({ messages: [user("a".repeat(100))] }, { maxRequestBytes: 300 }).valid).toBe(true);
  });

  it("replaces an image without data or of an unsupported type with a marker", () => {
    const tiff: ContentBlock = {
      type: "image",
      source: { type: "base64", media_type: "image/tiff", data: "x" },
    };
    const linked: ContentBlock = {
      type: "image",
      source: { type: "url", url: "https://example.com/a.tiff" },
    };
    const { request, findings } = checkRequest({ messages: [user([image(""), tiff, linked])] });
    expect(request.messages[0]).toEqual(user([text("[image]"), text("[image]"), linked]));
    expect(findings.map((finding) => finding.rule)).toEqual(["media-source", "media-source"]);
  });

  it("replaces an image whose data is no image of a known format with a marker", () => {
    const garbage: ContentBlock = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "bm90IGFuIGltYWdlIGF0IGFsbA==" },
    };
    const noBase64: ContentBlock = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "not base64!" },
    };
    const { request, findings } = checkRequest({ messages: [user([garbage, toolResult("t", [noBase64])])] });
    expect(JSON.stringify(request)).not.toContain("base64");
    expect(findings.filter(({ rule }) => rule === "media-source")).toHaveLength(2);
  });

  it("corrects the media type of an image that has another format", () => {
    const mislabeled: ContentBlock = {
      type: "image",
      source: { type: "base64", media_type: "image/jpeg", data: PNG },
    };
    const { request, findings } = checkRequest({ messages: [user([mislabeled])] });
    expect(request.messages[0]).toEqual(user([image(PNG)]));
    expect(findings).toMatchObject([{ rule: "media-source", action: "rewritten" }]);
    expect(checkRequest(request).findings).toEqual([]);
  });

  it("keeps documents out of assistant messages", () => {
    const { request, findings } = checkRequest({ messages: [user(), assistant([document()])] });
    expect(request.messages[1]).toEqual(assistant([text("[document]")]));
    expect(findings).toMatchObject([{ rule: "media-in-assistant", action: "replaced-by-text" }]);
  });
});

describe("cache marks", () => {
  it("keeps four cache marks per request and removes the oldest marks in messages first", () => {
    const request: ApiRequest = {
      tools: [{ name: "Read", cache_control: { type: "ephemeral" } }],
      system: [marked("s")],
      messages: [
        user([marked("a")]),
        assistant([toolUse("t", "Read", {})]),
        user([toolResult("t", [marked("b")]), marked("c")]),
      ],
    };
    const { request: after, findings } = checkRequest(request);
    expect(findings).toMatchObject([
      { rule: "cache-mark-count", path: "messages.0.content.0", action: "dropped" },
    ]);
    expect(after.messages[0]).toEqual(user([text("a")]));
    expect([after.tools, after.system, after.messages[2]]).toEqual([
      request.tools,
      request.system,
      request.messages[2],
    ]);
  });

  it("counts the automatic cache mark of the request toward the limit", () => {
    const messages = [user([marked("a"), marked("b"), marked("c"), marked("d")])];
    expect(rules({ messages })).toEqual([]);
    expect(rules({ messages, cache_control: { type: "ephemeral" } })).toEqual(["cache-mark-count"]);
  });

  it("removes a cache mark from thinking and keeps the rest of the block", () => {
    const thought = { ...thinking("hm"), cache_control: { type: "ephemeral" } } as unknown as ContentBlock;
    const { request, findings } = checkRequest({
      messages: [user(), assistant([thought, text("hi")]), user()],
    });
    expect(request.messages[1]).toEqual(assistant([thinking("hm"), text("hi")]));
    expect(findings).toMatchObject([{ rule: "cache-mark-on-thinking", path: "messages.1.content.0" }]);
  });

  it("shortens a one-hour cache mark after a five-minute mark to five minutes", () => {
    const request: ApiRequest = {
      system: [marked("s", "1h")],
      messages: [user([marked("a"), marked("b", "1h")])],
    };
    const { request: after, findings } = checkRequest(request);
    expect(after.messages[0]).toEqual(user([marked("a"), marked("b", "5m")]));
    expect(after.system).toBe(request.system);
    expect(findings).toMatchObject([
      { rule: "cache-ttl-order", path: "messages.0.content.1", action: "rewritten" },
    ]);
  });
});

describe("message count and citations", () => {
  it("reports a request with more messages than the API allows", () => {
    const messages = Array.from({ length: MAX_MESSAGES + 1 }, (_, at) =>
      at % 2 === 0 ? user() : assistant(),
    );
    const { request, findings } = checkRequest({ messages });
    expect(findings).toMatchObject([
      { rule: "message-count", action: "reported", detail: { count: MAX_MESSAGES + 1 } },
    ]);
    expect(request.messages).toBe(messages);
  });

  it("removes citations from user text and keeps them in assistant text", () => {
    const cited: ContentBlock = { type: "text", text: "as said", citations: [{ type: "char_location" }] };
    const { request, findings } = checkRequest({ messages: [user([cited]), assistant([cited]), user()] });
    expect(request.messages.slice(0, 2)).toEqual([user([text("as said")]), assistant([cited])]);
    expect(findings).toMatchObject([{ rule: "citations-in-user", path: "messages.0.content.0" }]);
  });
});
