import { describe, expect, it } from "vitest";
import {
  assistant,
  type CallFields,
  long,
  refusalOf,
  result,
  short,
  text,
  thinking,
  use,
  user,
} from "./rule-bench.case.ts";

type Row = [rule: string, body: object, expected: string, call?: CallFields];

const MARKS: readonly Row[] = [
  [
    "five cache marks",
    { messages: [user(["a", "b", "c", "d"].map((value) => text(value, short)))], ...short },
    "A maximum of 4 blocks with cache_control may be provided. Found 5.",
  ],
  [
    "five cache marks spread over tools, system, messages and tool results",
    {
      tools: [{ name: "Read", input_schema: { type: "object" }, ...short }],
      system: [text("s", short)],
      messages: [
        user([text("a", short)]),
        assistant([use("t")]),
        user([{ ...result("t", [text("b", short)]), ...short }]),
      ],
    },
    "A maximum of 4 blocks with cache_control may be provided. Found 5.",
  ],
  [
    "a cache mark on an empty text",
    { messages: [user([text("a"), text("", short)])] },
    "messages.0.content.1.text: cache_control cannot be set for empty text blocks",
  ],
  [
    "a cache mark on an empty text of the system prompt",
    { system: [text("", short)] },
    "system.0: cache_control cannot be set for empty text blocks",
  ],
  [
    "a one-hour mark after a five-minute mark",
    {
      messages: [user([text("a", short)]), assistant([use("t")]), user([result("t", [text("b", long)])])],
    },
    "messages.2.content.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
  ],
  [
    "an automatic one-hour mark after a five-minute mark",
    { messages: [user([text("a", short), text("b")])], ...long },
    "cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
  ],
  [
    "an automatic mark with another lifetime than the last block",
    { messages: [user([text("a", long)])], ...short },
    "cache_control.ttl: the last block already has a cache_control with a different ttl",
  ],
  [
    "a cache mark on thinking",
    { messages: [user(), assistant([{ ...thinking, ...short }, text("a")]), user()] },
    "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
  ],
];

describe("rules of cache marks", () => {
  it.each(MARKS)("refuses a request with %s", (_, body, expected, call) => {
    expect(refusalOf(body, call)).toBe(expected);
  });
});
