import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryRequest } from "../../../../test/support/arbitrary-request.ts";
import { deepFreeze } from "../../../../test/support/deep-freeze.ts";
import type { ApiMessage } from "../messages/message.ts";
import { checkRequest } from "../request/check/check.ts";
import type { ModelRequest } from "./port.ts";
import { findMarks, withCacheMarks, withoutMarks, withReadMarkOnly } from "./prompt-cache-marks.ts";

const turns: readonly ApiMessage[] = [
  { role: "user", content: "Count the boats." },
  { role: "assistant", content: [{ type: "tool_use", id: "t", name: "look", input: {} }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "nine" }] },
];
const request: ModelRequest = { system: "You count.", messages: turns };

describe("withReadMarkOnly", () => {
  it("withReadMarkOnly leaves a single cache mark, at the position of the last mark of the previous call", () => {
    const marked = withCacheMarks({ ...request, messages: turns.slice(0, 1) });
    const longer = { ...marked, messages: [...marked.messages, ...turns.slice(1)] };
    const end = findMarks(marked).at(-1);
    expect(findMarks(withReadMarkOnly(longer, 1))).toEqual([end]);
  });

  it("withReadMarkOnly gives its cache mark the ttl of the marks that it replaces, even of an automatic mark", () => {
    const hour = { type: "ephemeral", ttl: "1h" } as const;
    const automatic = withReadMarkOnly({ ...request, cache_control: hour }, 3);
    expect(automatic.cache_control).toBeUndefined();
    expect(findMarks(automatic).map(({ ttl }) => ttl)).toEqual(["1h"]);
    const explicit = withReadMarkOnly(withCacheMarks(request, { ttl: "1h" }), 3);
    expect(findMarks(explicit).map(({ ttl }) => ttl)).toEqual(["1h"]);
    expect(findMarks(withReadMarkOnly(request, 3)).map(({ ttl }) => ttl)).toEqual(["5m"]);
  });

  it.each([0, -1, 4])(
    "withReadMarkOnly adds no cache mark when %i is not a valid number of messages that were already sent",
    (messages) => {
      expect(findMarks(withReadMarkOnly(withCacheMarks(request), messages))).toEqual([]);
    },
  );

  it("withReadMarkOnly leaves at most one cache mark, within the sent messages, and changes nothing else", () => {
    fc.assert(
      fc.property(arbitraryRequest(), fc.nat(12), (raw, count) => {
        const given = deepFreeze(checkRequest(raw).request) as ModelRequest;
        const marked = withReadMarkOnly(given, count);
        const marks = findMarks(marked);
        expect(marks.length).toBeLessThanOrEqual(1);
        for (const { place } of marks) {
          expect(place[0]).toBe(2);
          expect(place[1]).toBeLessThan(count);
        }
        expect(marked.cache_control).toBeUndefined();
        expect(plain(withoutMarks(marked))).toEqual(plain(withoutMarks(given)));
      }),
    );
  });
});

/** Treats a string and a single text block as equal. */
function plain(value: ModelRequest): unknown {
  return JSON.parse(JSON.stringify(value), (name, inner: unknown) =>
    name === "content" && typeof inner === "string" ? [{ type: "text", text: inner }] : inner,
  );
}
