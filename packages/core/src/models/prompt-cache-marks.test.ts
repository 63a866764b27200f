import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryRequest } from "../../../../test/support/arbitrary-request.ts";
import { deepFreeze } from "../../../../test/support/deep-freeze.ts";
import type { ApiMessage } from "../messages/message.ts";
import { checkRequest } from "../request/check/check.ts";
import type { ModelRequest } from "./port.ts";
import { findMarks, isBefore, withCacheMarks, withoutMarks } from "./prompt-cache-marks.ts";

const mark = { type: "ephemeral" } as const;
const tool = (name: string, fields: object = {}): never =>
  ({ name, input_schema: { type: "object" }, ...fields }) as never;
const turns: readonly ApiMessage[] = [
  { role: "user", content: "Count the boats." },
  { role: "assistant", content: [{ type: "tool_use", id: "t", name: "look", input: {} }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "nine" }] },
];

describe("withCacheMarks", () => {
  it("puts cache marks at the end of the tools, the system prompt, the previous request and this request", () => {
    const request = deepFreeze<ModelRequest>({
      tools: [tool("look"), tool("rare", { defer_loading: true })],
      system: "You count boats.",
      messages: turns,
    });
    expect(withCacheMarks(request)).toEqual({
      tools: [tool("look", { cache_control: mark }), tool("rare", { defer_loading: true })],
      system: [{ type: "text", text: "You count boats.", cache_control: mark }],
      messages: [
        { role: "user", content: [{ type: "text", text: "Count the boats.", cache_control: mark }] },
        turns[1],
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "t", content: "nine", cache_control: mark }],
        },
      ],
    });
  });

  it("puts a cache mark on the block before thinking or blank text, which cannot have a cache mark", () => {
    const messages: readonly ApiMessage[] = [
      { role: "user", content: "Hello." },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Yes." },
          { type: "text", text: " " },
          { type: "thinking", thinking: "Hm.", signature: "s" },
        ],
      },
    ];
    expect(findMarks(withCacheMarks({ messages })).map(({ place }) => place)).toEqual([
      [2, 0, 0, 0],
      [2, 1, 0, 0],
    ]);
  });

  it.each(["5m", "1h"] as const)(
    "moves the last two cache marks along with a growing conversation (%s)",
    (ttl) => {
      let request = withCacheMarks({ tools: [tool("look")], system: "You count.", messages: turns }, { ttl });
      for (let turn = 0; turn < 6; turn += 1) {
        const more: readonly ApiMessage[] = [
          { role: "assistant", content: "Nine." },
          { role: "user", content: [{ type: "text", text: `And now, for the ${turn}. time?` }] },
        ];
        request = withCacheMarks({ ...request, messages: [...request.messages, ...more] }, { ttl });
        const last = request.messages.length - 1;
        expect(findMarks(request).map(({ place: [section, index] }) => [section, index])).toEqual([
          [0, 0],
          [1, 0],
          [2, last - 2],
          [2, last],
        ]);
      }
    },
  );

  it("keeps the caller's own cache mark and adds further marks up to a total of four", () => {
    const marked = { type: "text", text: "A long table.", cache_control: mark } as const;
    const request: ModelRequest = {
      tools: [tool("look")],
      system: "You count.",
      messages: [{ role: "user", content: [marked, { type: "text", text: "Count." }] }, ...turns.slice(1)],
    };
    const places = findMarks(withCacheMarks(request)).map(({ place }) => place);
    expect(places).toContainEqual([2, 0, 0, 0]);
    expect(places).toHaveLength(4);
  });

  it("gives new cache marks a ttl that existing marks allow: no one-hour mark after a five-minute mark", () => {
    const long = { type: "ephemeral", ttl: "1h" } as const;
    const hours: ModelRequest = {
      system: "You count.",
      messages: [{ role: "user", content: [{ type: "text", text: "Hello.", cache_control: long }] }],
    };
    expect(findMarks(withCacheMarks(hours)).map(({ ttl }) => ttl)).toEqual(["1h", "1h"]);
    const minutes: ModelRequest = {
      system: [{ type: "text", text: "You count.", cache_control: mark }],
      messages: turns,
    };
    expect(findMarks(withCacheMarks(minutes, { ttl: "1h" })).map(({ ttl }) => ttl)).toEqual([
      "5m",
      "5m",
      "5m",
    ]);
    expect(findMarks(withCacheMarks({ messages: turns }, { ttl: "1h" })).map(({ ttl }) => ttl)).toEqual([
      "1h",
      "1h",
    ]);
  });

  it("adds no cache mark at the end of a request with automatic caching, which counts as one mark", () => {
    const request: ModelRequest = { messages: turns, system: "S", tools: [tool("a")], cache_control: mark };
    expect(findMarks(withCacheMarks(request)).map(({ place }) => place)).toEqual([
      [0, 0, 0, 0],
      [1, 0, 0, 0],
      [2, 0, 0, 0],
    ]);
  });

  it("never puts more than four cache marks in a request, including the automatic one", () => {
    const marked = turns.map((turn) => ({
      ...turn,
      content: [{ type: "text", text: "x", cache_control: mark } as const],
    }));
    const request: ModelRequest = { messages: marked, system: "S", cache_control: mark };
    expect(withCacheMarks(request)).toBe(request);
  });

  it("adds cache marks up to a total of four, keeps existing marks, changes nothing else and is idempotent", () => {
    const requests = arbitraryRequest().filter((request) =>
      checkRequest(request).findings.every(({ rule }) => !/shape|role|mark|cache/.test(rule)),
    );
    fc.assert(
      fc.property(requests, (raw) => {
        const request = deepFreeze(checkRequest(raw).request) as ModelRequest;
        const marked = withCacheMarks(request);
        const before = findMarks(request);
        const after = findMarks(marked);
        const automatic = request.cache_control ? 1 : 0;
        expect(after.length + automatic).toBeLessThanOrEqual(Math.max(4, before.length + automatic));
        for (const one of before) expect(after).toContainEqual(one);
        for (const [index, one] of after.entries()) {
          const next = after[index + 1];
          if (next !== undefined) expect(isBefore(one.place, next.place)).toBe(true);
        }
        expect(plain(withoutMarks(marked))).toEqual(plain(withoutMarks(request)));
        expect(withCacheMarks(marked)).toBe(marked);
      }),
    );
  });
});

/** Treats a string and a single text block as equal. */
function plain(request: ModelRequest): unknown {
  return JSON.parse(JSON.stringify(request), (name, value: unknown) =>
    (name === "content" || name === "system") && typeof value === "string"
      ? [{ type: "text", text: value }]
      : value,
  );
}
