import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { createCompactor } from "../../../../../test/support/full-compactor.ts";
import type { Entry } from "../../messages/entry.ts";
import type { CollapsedSpan } from "../../messages/stand-ins.ts";

/** Builds a conversation of spans, whatever messages they claim to replace. */
function spansFor(claims: Readonly<Record<string, readonly string[]>>): readonly Entry[] {
  const c = new ConversationBuilder();
  for (const text of Object.keys(claims)) c.user(`notes ${text}`);
  return Object.entries(claims).map(([spanId, uuids], at) => {
    const collapsed = { spanId, messages: 1, uuids, tokensBefore: 100, tokensAfter: 1 };
    return { ...c.entries[at], uuid: spanId, isMeta: true, collapsed } as CollapsedSpan;
  });
}

const expandAll = async (shown: readonly Entry[], written: readonly Entry[]): Promise<readonly Entry[]> => {
  let reads = 0;
  const compactor = createCompactor({
    settings: { environment: {} },
    transcript: {
      path: "/t.jsonl",
      append: async () => undefined,
      read: async (uuids) => {
        expect(++reads).toBeLessThan(10);
        return written.filter(({ uuid }) => uuid !== undefined && uuids.includes(uuid));
      },
    },
  });
  const { messages } = await compactor.expand(shown);
  return messages.filter(({ type }) => type === "user");
};

describe("expansion of malformed spans", () => {
  it("an expansion stops at spans that replace themselves or each other", async () => {
    const self = spansFor({ a: ["a"] });
    expect(await expandAll(self, self)).toMatchObject([{ uuid: "a" }]);
    const circle = spansFor({ a: ["b"], b: ["c"], c: ["a"] });
    expect(await expandAll(circle.slice(0, 1), circle)).toMatchObject([{ uuid: "a" }]);
  });

  it("an expansion restores a message once, however often its span names the message", async () => {
    const [span] = spansFor({ a: ["m", "m", "m"] });
    const c = new ConversationBuilder();
    c.user("said");
    const said = { ...c.entries[0], uuid: "m" } as Entry;
    expect(await expandAll([span as Entry], [said])).toMatchObject([{ uuid: "m" }]);
  });
});
