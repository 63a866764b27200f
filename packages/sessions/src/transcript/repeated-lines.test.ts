import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { sessionArbitrary } from "../../../../test/transcript/session-generator.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { loadSession } from "./load.ts";
import { resumeSession } from "./resume.ts";
import { linesOf } from "./whole-file.ts";

const path = join(temporaryFolder(), "session.jsonl");

type Read = { readonly uuids: readonly (string | undefined)[]; readonly leafUuid: string | undefined };

/** Reads the conversation with a full load and with a resume, which must agree. */
async function read(lines: readonly Entry[]): Promise<Read & { readonly conversation: readonly Entry[] }> {
  writeFileSync(path, linesOf(lines));
  const [loaded, resumed] = [await loadSession(path), await resumeSession(path)];
  expect(resumed.conversation).toEqual(loaded.conversation);
  expect(resumed.leafUuid).toBe(loaded.leafUuid);
  const { conversation, leafUuid } = loaded;
  return { conversation, leafUuid, uuids: conversation.map(({ uuid }) => uuid) };
}

/** Builds a session with a call, its result and an answer, before and after a compaction. */
function compactedSession(): readonly Entry[] {
  const b = new ConversationBuilder();
  b.user("old question");
  b.assistant([toolUse("a", "Read", {})]);
  b.user([toolResult("a", "old result")]);
  b.boundary();
  b.summary("summary");
  b.user("new question");
  b.assistant([toolUse("b", "Read", {})]);
  b.user([toolResult("b", "new result")]);
  b.assistant("new answer");
  return b.entries;
}

describe("repeated lines in a session", () => {
  it.each(compactedSession().map((entry, at) => [entry.uuid, at] as const))(
    "repeating line %s at the end does not rewind the session",
    async (_, at) => {
      const lines = compactedSession();
      const before = await read(lines);
      expect(await read([...lines, lines[at] as Entry])).toEqual(before);
    },
  );

  it("a repeated summary still belongs to the compaction that wrote it", async () => {
    const lines = compactedSession();
    const summary = lines[4] as Entry;
    const { conversation } = await read([
      ...lines.slice(0, 4),
      { ...summary, writtenWith: "boundary" } as Entry,
      ...lines.slice(5),
      summary,
    ]);
    expect(conversation[1]).toEqual({ ...summary, writtenWith: "boundary" });
  });

  it("repeating several lines before or around the boundary does not rewind the session", async () => {
    const lines = compactedSession();
    const before = await read(lines);
    for (let from = 0; from < lines.length; from++) {
      for (let to = from + 1; to < lines.length; to++) {
        expect(await read([...lines, ...lines.slice(from, to)])).toEqual(before);
      }
    }
  });

  it("keeps the position of a tool result when the line of its tool call is repeated after the result", async () => {
    const lines = compactedSession();
    const call = lines[6] as Entry;
    const { conversation } = await read([...lines.slice(0, 8), call, ...lines.slice(8)]);
    expect(flatten(conversation)).toEqual(flatten((await read(lines)).conversation));
    expect(JSON.stringify(flatten(conversation))).not.toMatch(/interrupt/i);
  });

  it("uses the newer content of a repeated line at the position of the first occurrence", async () => {
    const lines = compactedSession();
    const answer = lines[6] as Extract<Entry, { type: "assistant" }>;
    const text = { type: "text" as const, text: "I read b." };
    const updated = { ...answer, message: { ...answer.message, content: [text, toolUse("b", "Read", {})] } };
    const { conversation, leafUuid } = await read([...lines, updated]);
    expect(conversation).toEqual([...lines.slice(3, 6), updated, ...lines.slice(7)]);
    expect(leafUuid).toBe("e-9");
  });

  it("reads all lines of a file in which many lines name a missing parent", async () => {
    const b = new ConversationBuilder();
    for (let nth = 0; nth < 20; nth++) b.user(`question ${nth}`, { parentUuid: `missing-${nth}` });
    b.assistant("answer");
    expect((await read(b.entries)).conversation).toHaveLength(21);
  });

  it("repeating any lines of a generated session does not change the order of its messages", async () => {
    const repeats = fc.array(fc.tuple(fc.nat(), fc.nat(20)), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(sessionArbitrary, repeats, async ({ lines }, chosen) => {
        const before = await read(lines);
        const repeated = chosen.flatMap(([nth, extra]) => {
          const at = nth % lines.length;
          return lines.slice(at, at + 1 + extra);
        });
        expect(await read([...lines, ...repeated])).toEqual(before);
      }),
      { numRuns: 300 },
    );
  });
});
