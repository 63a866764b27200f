import { describe, expect, it } from "vitest";
import { image, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import type { ApiMessage, ApiRequest, ContentBlock } from "../../messages/message.ts";
import { checkRequest } from "./check.ts";
import { CheckedMessages } from "./growing-check.ts";
import type { CheckOptions } from "./rule.ts";

const text = (words: string): ContentBlock => ({ type: "text", text: words });
const user = (...content: ContentBlock[]): ApiMessage => ({ role: "user", content });
const assistant = (...content: ContentBlock[]): ApiMessage => ({ role: "assistant", content });
const marked = (words: string, ttl: "5m" | "1h" = "5m"): ContentBlock => ({
  type: "text",
  text: words,
  cache_control: { type: "ephemeral", ttl },
});
const compaction = (fields: object): ContentBlock =>
  ({ type: "compaction", content: "what was said", ...fields }) as unknown as ContentBlock;
const serverUse = {
  type: "server_tool_use",
  id: "srv",
  name: "web_search",
  input: {},
} as unknown as ContentBlock;
const serverResult = {
  type: "web_search_tool_result",
  tool_use_id: "srv",
  content: [],
} as unknown as ContentBlock;

/** Appends one message at a time. After every step, the result must equal a check of all messages at once. */
function grow(
  messages: readonly ApiMessage[],
  options: CheckOptions = {},
  frame: Omit<ApiRequest, "messages"> = {},
): CheckedMessages {
  const checked = new CheckedMessages(options, frame);
  for (const [index, message] of messages.entries()) {
    checked.append([message]);
    const whole = checkRequest({ ...frame, messages: messages.slice(0, index + 1) }, options);
    expect(checked.messages).toEqual(whole.request.messages);
    expect(checked.findings).toEqual(expect.arrayContaining([...whole.findings]));
    expect(checked.findings).toHaveLength(whole.findings.length);
  }
  return checked;
}

const turns = (...asked: readonly ContentBlock[][]): ApiMessage[] => [
  user(text("begin")),
  ...asked.flatMap((content) => [assistant(text("answer")), user(...content)]),
];

describe("rules that need the whole of a growing conversation", () => {
  it("removes the oldest cache marks when appended messages contain new cache marks", () => {
    const six = Array.from({ length: 6 }, (_, index) => [marked(`asked ${index}`)]);
    const { messages } = grow(turns(...six));
    expect(JSON.stringify(messages).match(/cache_control/g)).toHaveLength(4);
  });

  it("shortens a one-hour cache mark in an appended message after a five-minute mark", () => {
    grow(turns([marked("short")], [marked("long", "1h")]));
    grow(turns([marked("short")], [text("none")], [marked("long", "1h")]));
    grow([user(text("begin")), assistant(marked("a")), user(text("b")), assistant(marked("c", "1h"))]);
  });

  it("restores the automatic cache mark when the block with a conflicting mark is no longer the last", () => {
    const frame = { cache_control: { type: "ephemeral" } };
    const checked = grow(turns([marked("long", "1h")], [text("more")]), {}, frame);
    expect(checked.frame.cache_control).toEqual(frame.cache_control);
  });

  it("reports a second compaction block after a signed one, even many messages later", () => {
    const signed = assistant(compaction({ signature: "s" }), text("kept"));
    const later = assistant(compaction({}), text("then"));
    const { findings } = grow([signed, user(text("a")), assistant(text("b")), user(text("c")), later]);
    expect(findings.map(({ rule }) => rule)).toContain("compaction-repeated");
  });

  it("a repeated tool id in an appended message gets the same repair as in a check of all messages", () => {
    const call = (id: string): ApiMessage[] => [
      assistant(toolUse(id, "Read", {})),
      user(toolResult(id, "ok")),
    ];
    const middle = turns([text("x")], [text("y")]).slice(1);
    grow([user(text("begin")), ...call("same"), ...middle, ...call("same"), ...middle, ...call("same_2")]);
  });

  it("never generates a tool id that a much earlier message uses", () => {
    const calls = (...ids: string[]): ApiMessage[] => [
      assistant(...ids.map((id, index) => toolUse(id, "Read", { index }))),
      user(...ids.map((id) => toolResult(id, "ok"))),
    ];
    const middle = turns([text("x")], [text("y")]).slice(1);
    grow([user(text("begin")), ...calls("a_b", "c_2"), ...middle, ...calls("a b"), ...calls("c", "c")]);
  });

  it("the image and byte limits give the same result for appended messages as in a check of all messages", () => {
    const pictures = Array.from({ length: 6 }, (_, index) => [image("A".repeat(400)), text(`look ${index}`)]);
    const largeFirst = [[image("A".repeat(1_500)), text("large")], ...pictures];
    for (let maxRequestBytes = 1_600; maxRequestBytes < 4_000; maxRequestBytes += 200) {
      grow(turns(...largeFirst), { maxRequestBytes, maxMedia: 3 });
      grow(turns(...largeFirst), { maxRequestBytes, maxMedia: 4 });
    }
  });

  it("keeps a server tool call when its result arrives after a user message that the checker had added", () => {
    const frame = { model: "claude-opus-4-6" };
    const paused = [
      user(text("begin")),
      assistant(serverUse, toolUse("own", "Read", {})),
      user(toolResult("own", "ok")),
      assistant(text("half")),
    ];
    const rest = [assistant(serverResult, text("found"))];
    const checked = grow([...paused, ...rest], { prefill: "add-user-message" }, frame);
    expect(JSON.stringify(checked.messages)).toContain("web_search_tool_result");
  });
});
