import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import type { Entry } from "./entry.ts";
import { copiedIds, indexInConversation, indexOfMessage, timeOf } from "./lines.ts";

const line = (uuid: string, copyOf?: unknown): Entry =>
  ({ ...new ConversationBuilder().user(uuid), uuid, ...(copyOf === undefined ? {} : { copyOf }) }) as Entry;

describe("copies of lines", () => {
  it("finds a copied line by each of the original ids that the copy names", () => {
    expect(copiedIds(line("c", "a"))).toEqual(["a"]);
    expect(indexOfMessage([line("x"), line("c", ["a", "b"])], "b")).toBe(1);
  });

  it("among the original ids of a copied line, ignores values of the wrong type and the line's own id", () => {
    for (const wrong of [5, null, {}, [5, null, ["a"]], "", [""], "c", ["c"]]) {
      expect(copiedIds(line("c", wrong))).toEqual([]);
    }
  });

  it("finds the line with the given id rather than a copy of that line", () => {
    expect(indexOfMessage([line("c", "a"), line("a")], "a")).toBe(1);
  });

  it("finds the copy in the current conversation if several lines are copies of one line", () => {
    const [left, here] = [line("left", "a"), line("here", "a")];
    expect(indexInConversation([here], [left, here], "a")).toBe(0);
    expect(indexInConversation([line("x"), here], [left, line("x"), here], "left")).toBe(1);
  });

  it("finds the original line by the id of its copy if the copy is not in the conversation", () => {
    const lines = [line("a"), line("left", ["a"])];
    expect(indexInConversation([line("a")], lines, "left")).toBe(0);
  });

  it("finds only a line that shares an id with the wanted line, whatever the file claims about copies", () => {
    const id = fc.constantFrom("a", "b", "c", "d", "e");
    const claim = fc.oneof(id, fc.array(id), fc.jsonValue(), fc.constant(undefined));
    const file = fc.array(fc.tuple(id, claim), { maxLength: 8 });
    fc.assert(
      fc.property(file, fc.nat(8), id, (claims, from, wanted) => {
        const lines = claims.map(([uuid, copyOf]) => line(uuid, copyOf));
        const conversation = lines.slice(from);
        const found = indexInConversation(conversation, lines, wanted);
        const exact = conversation.findIndex(({ uuid }) => uuid === wanted);
        if (exact !== -1) expect(found).toBe(exact);
        else if (found !== -1) expect(copiedIdsAround(lines, wanted, conversation[found])).toBe(true);
      }),
    );
  });

  it("timeOf returns the original time of a copied message, or the copy's time if the original time is invalid", () => {
    const entry = { ...line("a"), originalTimestamp: "2026-01-01T00:00:00.000Z" } as Entry;
    expect(timeOf(entry)).toBe("2026-01-01T00:00:00.000Z");
    expect(timeOf({ ...entry, originalTimestamp: 5 } as unknown as Entry)).toBe(entry.timestamp);
  });
});

/**
 * Returns true if one of the lines has both the wanted id and an id of the entry. The ids of a line are its
 * own id and the ids of the lines that it copies.
 */
function copiedIdsAround(lines: readonly Entry[], wanted: string, entry: Entry | undefined): boolean {
  const idsOf = (one: Entry | undefined): readonly string[] => [one?.uuid ?? "", ...copiedIds(one)];
  return lines.some(
    (one) => idsOf(one).includes(wanted) && idsOf(one).some((id) => idsOf(entry).includes(id)),
  );
}
