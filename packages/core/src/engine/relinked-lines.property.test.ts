import { currentConversation } from "@longhaul/sessions";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Entry } from "../messages/entry.ts";
import { prepareEditedLines } from "./edited-lines.ts";

const line = (uuid: string, parentUuid: string | null, fields: object): Entry =>
  ({ uuid, parentUuid, timestamp: "2026-01-01T00:00:00Z", sessionId: "s", ...fields }) as unknown as Entry;
const said = (uuid: string, parentUuid: string | null): Entry =>
  line(uuid, parentUuid, { type: "user", message: { role: "user", content: uuid } });

/** Creates lines of a session with a snipped range of messages and later messages. */
function session(messages: number, snip: readonly [number, number] | undefined): readonly Entry[] {
  const lines = Array.from({ length: messages }, (_, at) => said(`m${at}`, at === 0 ? null : `m${at - 1}`));
  if (snip === undefined) return lines;
  const uuids = lines.slice(...snip).map(({ uuid }) => uuid);
  const message = { role: "user", content: "removed" };
  const snipped = { messages: uuids.length, uuids };
  return [
    ...lines,
    line("marker", `m${messages - 1}`, { type: "user", message, snipped }),
    line("end", "marker", {
      type: "system",
      subtype: "informational",
      content: "",
      snip: { tokensSaved: 1 },
    }),
    said("after", "end"),
  ];
}

const sessions = fc
  .record({ messages: fc.integer({ min: 3, max: 9 }), from: fc.nat(7), length: fc.nat(4) })
  .map(({ messages, from, length }) => {
    const start = Math.min(from, messages - 1);
    return session(messages, length === 0 ? undefined : [start, Math.min(messages, start + length)]);
  });
const edits = fc.array(fc.record({ at: fc.nat(10), isRemoved: fc.boolean() }), {
  minLength: 1,
  maxLength: 3,
});

const replacements = edits.map((changes) => changes.map(({ at }) => ({ at, isRemoved: false })));

const newMark = (): never => {
  throw new Error("No compaction was left.");
};

function edit(
  list: readonly Entry[],
  changes: readonly { at: number; isRemoved: boolean }[],
): readonly Entry[] {
  const edited = [...list];
  for (const [nth, { at, isRemoved }] of changes.entries()) {
    const entry = edited[at];
    if (entry?.uuid === undefined || !/^(?:m\d|after)/.test(entry.uuid)) continue;
    if (isRemoved) edited.splice(at, 1);
    else edited[at] = { ...entry, uuid: `new${nth}` } as Entry;
  }
  return [...edited, said("last", edited.at(-1)?.uuid ?? null)];
}

const uuidsOf = (entries: readonly Entry[]): readonly (string | undefined)[] =>
  entries.map(({ uuid }) => uuid);

describe("a session whose host replaced or removed messages", () => {
  it("after the host replaces or removes messages, the session reads back as the host's list", () => {
    fc.assert(
      fc.property(sessions, edits, (written, changes) => {
        const before = currentConversation(written).entries;
        const given = edit(before, changes);
        const known = new Set(written.map(({ uuid }) => uuid ?? ""));
        const { entries, rewrittenLines: again } = prepareEditedLines({
          before,
          given,
          fresh: new Set(),
          bindsThinking: false,
          known,
          newMark,
        });
        const added = entries.flatMap((entry) => again.get(entry) ?? (before.includes(entry) ? [] : entry));
        expect(uuidsOf(currentConversation([...written, ...added]).entries)).toEqual(uuidsOf(given));
      }),
      { numRuns: 500 },
    );
  });

  it("after the host replaces messages between two processes, the session reads back as the host's list", () => {
    fc.assert(
      fc.property(sessions, replacements, (written, changes) => {
        const given = edit(currentConversation(written).entries, changes);
        const known = new Set(written.map(({ uuid }) => uuid ?? ""));
        const isWritten = (uuid: string): boolean => known.has(uuid);
        const none = new Set<Entry>();
        const rest = { before: [], fresh: none, bindsThinking: false, known: new Set<string>(), newMark };
        const { entries, rewrittenLines: again } = prepareEditedLines({ ...rest, given, isWritten });
        const added = entries.flatMap(
          (entry) => again.get(entry) ?? (known.has(entry.uuid ?? "") ? [] : entry),
        );
        expect(uuidsOf(currentConversation([...written, ...added]).entries)).toEqual(uuidsOf(given));
      }),
      { numRuns: 500 },
    );
  });
});
