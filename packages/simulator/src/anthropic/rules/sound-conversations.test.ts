import { describe, expect, it } from "vitest";
import {
  assistant,
  type CallFields,
  compaction,
  image,
  long,
  refusalOf,
  result,
  search,
  short,
  system,
  text,
  thinking,
  use,
  user,
} from "./rule-bench.case.ts";

const SOUND: readonly [string, object, CallFields?][] = [
  ["only text", { messages: [user(), assistant("hi"), user([text("more")])] }],
  [
    "calls and results",
    {
      messages: [
        user(),
        assistant([thinking, use("a"), use("b")]),
        user([result("b"), result("a"), text("and")]),
      ],
    },
  ],
  [
    "results in separate messages",
    { messages: [user(), assistant([use("a"), use("b")]), user([result("a")]), user([result("b")])] },
  ],
  [
    "images and documents",
    {
      messages: [
        user([
          image,
          {
            type: "document",
            source: { type: "text", media_type: "text/plain", data: "x" },
            citations: { enabled: true },
          },
        ]),
      ],
    },
  ],
  [
    "four cache marks with one-hour marks first",
    { system: [text("s", long)], messages: [user([text("a", long), text("b", short)])], ...short },
  ],
  ["an automatic mark that repeats the last mark", { messages: [user([text("a", short)])], ...short }],
  ["a prefill", { messages: [user(), assistant("So")] }],
  ["an empty prefill", { messages: [user(), assistant("")] }],
  ["a paused turn", { messages: [user(), assistant([search])] }, { model: "claude-opus-5" }],
  [
    "a system message",
    { messages: [user(), system(), assistant("hi"), user(), system([text("a")])] },
    { model: "claude-opus-5" },
  ],
  [
    "a first message that sets the effort",
    { messages: [{ role: "system", output_config: { effort: "low" } }, user()] },
    { model: "claude-opus-5" },
  ],
  [
    "a change of the tools",
    {
      tools: [{ name: "Read", input_schema: { type: "object" } }],
      messages: [user(), system([{ type: "tool_removal", tool: { type: "tool_reference", name: "Read" } }])],
    },
    { model: "claude-opus-5" },
  ],
  [
    "a signed summary followed by kept messages",
    { messages: [assistant([compaction({ signature: "s" })]), assistant([thinking, text("kept")]), user()] },
    { model: "claude-opus-5" },
  ],
  [
    "a threshold summary that is sent back at once",
    { messages: [user(), assistant([compaction()])] },
    { model: "claude-opus-5" },
  ],
  [
    "several threshold summaries",
    {
      messages: [
        user(),
        assistant([compaction(), text("a")]),
        user(),
        assistant([compaction(), text("b")]),
        user(),
      ],
    },
    { model: "claude-opus-5" },
  ],
  [
    "a failed compaction",
    { messages: [user(), assistant([compaction({ content: null }), text("a")]), user()] },
    { model: "claude-opus-5" },
  ],
];

describe("valid conversations under both API versions", () => {
  it.each(SOUND)("accepts a conversation with %s", (_, body, call) => {
    for (const version of ["2023-06-01", "2026-10-21"] as const) {
      expect(refusalOf(body, { ...call, version })).toBe("accepted");
      expect(refusalOf(body, { ...call, version, endpoint: "count_tokens" })).toBe("accepted");
    }
  });

  it("accepts an assistant message after a summary by the assistant, even if roles must alternate", () => {
    const messages = [assistant([compaction()]), assistant("kept"), user()];
    const switches = { consecutiveRoles: "refused" } as const;
    expect(refusalOf({ messages }, { model: "claude-opus-5", switches })).toBe("accepted");
  });

  it("accepts documents of the assistant and citations of the user under the older API version", () => {
    const document = { type: "document", source: { type: "file", file_id: "f" } };
    const cited = text("as said", { citations: [{ type: "char_location" }] });
    const body = { messages: [user([cited]), assistant([document])] };
    expect(refusalOf(body, { version: "2023-06-01" })).toBe("accepted");
  });
});
