import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  entryOf,
  keptPieces,
  type Piece,
  type SourceMessage,
  sourceMessages,
  toEntries,
} from "../../bench/fidelity/source-messages.ts";
import { arbitraryEntries } from "../support/arbitraries.ts";
import { ConversationBuilder, toolResult, toolUse } from "../support/builders.ts";
import { deepFreeze } from "../support/deep-freeze.ts";

const rebuilt = (
  entries: readonly Entry[],
  messages: readonly SourceMessage[],
  pieces: readonly Piece[],
): readonly Entry[] =>
  toEntries(entries, messages, pieces, (piece, timestamp) => entryOf(piece, "new", timestamp));

/** Returns the blocks that a request for these entries would send, as sorted JSON. */
const blocksOf = (messages: readonly SourceMessage[]): readonly string[] =>
  messages.flatMap(({ parts }) => parts.map(({ block }) => JSON.stringify(block))).sort();

describe("messages of entries", () => {
  it("a conversation that a library leaves unchanged is the same list of entries", () => {
    fc.assert(
      fc.property(arbitraryEntries({ damaged: false }), (given) => {
        const entries = deepFreeze(given);
        const messages = sourceMessages(entries);
        expect(rebuilt(entries, messages, keptPieces(messages))).toBe(entries);
      }),
      { numRuns: 300 },
    );
  });

  it("removing messages removes exactly their blocks, and all other entries stay the same objects", () => {
    fc.assert(
      fc.property(arbitraryEntries({ damaged: false }), fc.infiniteStream(fc.boolean()), (given, coin) => {
        const entries = deepFreeze(given);
        const messages = sourceMessages(entries);
        const kept = messages.filter(() => coin.next().value);
        const result = rebuilt(entries, messages, keptPieces(kept));
        const left = new Set(kept.flatMap(({ parts }) => parts.map(({ block }) => block)));
        const sent = messages.flatMap(({ parts }) => parts);
        for (const { entry } of sent) {
          const own = sent.filter((part) => part.entry === entry);
          const isComplete = own.every(({ block }) => left.has(block));
          expect(result.includes(entry)).toBe(isComplete);
        }
        expect(blocksOf(sourceMessages(result))).toEqual(blocksOf(kept));
      }),
      { numRuns: 300 },
    );
  });

  it("a summary comes before the messages that stayed, and is a message of its own", () => {
    const builder = new ConversationBuilder();
    builder.user("Rename the parser.");
    builder.assistant("Done.");
    builder.user("Now the tests.");
    const messages = sourceMessages(builder.entries);
    const result = rebuilt(builder.entries, messages, [
      { summary: "The parser was renamed." },
      ...keptPieces(messages.slice(2)),
    ]);
    expect(result).toEqual([
      expect.objectContaining({ uuid: "new", isCompactSummary: true }),
      builder.entries[2],
    ]);
    expect(sourceMessages(result).map(({ summary }) => summary?.uuid)).toEqual(["new", undefined]);
  });

  it("a note of a library joins the message before it", () => {
    const builder = new ConversationBuilder();
    builder.user("Rename the parser.");
    const messages = sourceMessages(builder.entries);
    const result = rebuilt(builder.entries, messages, [
      ...keptPieces(messages),
      { summary: "Work was removed here.", isNote: true },
    ]);
    expect(sourceMessages(result).map(({ parts }) => parts.length)).toEqual([2]);
  });

  it("a shortened result changes only its own entry", () => {
    const builder = new ConversationBuilder();
    builder.user("Read it.");
    builder.assistant([toolUse("toolu_1", "Read", { file_path: "/a.ts" })]);
    builder.user([toolResult("toolu_1", "a long text")]);
    const messages = sourceMessages(builder.entries);
    const pieces = keptPieces(messages).map((piece): Piece => {
      if (!("part" in piece) || piece.part.block.type !== "tool_result") return piece;
      return { ...piece, changed: { ...piece.part.block, content: "[cleared]" } };
    });
    const result = rebuilt(builder.entries, messages, pieces);
    expect(result.slice(0, 2)).toEqual(builder.entries.slice(0, 2));
    expect(JSON.stringify(result[2])).toContain("[cleared]");
    expect(result[2]?.uuid).toBe(builder.entries[2]?.uuid);
  });
});
