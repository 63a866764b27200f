import { existsSync } from "node:fs";
import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { append, indexDump, sessionFiles } from "../../../../test/recall/session-file.ts";
import { sessionArbitrary } from "../../../../test/transcript/session-generator.ts";
import { loadSession } from "../transcript/load.ts";
import { STATUS } from "./document-status.ts";
import { documentsOf } from "./documents.ts";
import { openRecall, recallIndexPath } from "./open-recall.ts";

const sessionFile = sessionFiles();

interface Dumped {
  readonly uuid: string;
  readonly status: number;
  readonly document: { readonly toolUseId?: string; readonly kind: string };
}

const dump = async (path: string, keepEveryBytes?: number): Promise<readonly Dumped[]> =>
  (await indexDump(path, { keepEveryBytes })) as readonly Dumped[];

describe("the recall index of a session", () => {
  it("marks a searchable text as in context if the conversation contains that text and has not cleared it", async () => {
    await fc.assert(
      fc.asyncProperty(sessionArbitrary, async ({ lines }) => {
        const path = sessionFile(lines);
        const { conversation, clearedToolUseIds } = await loadSession(path);
        const uuids = new Set(conversation.map(({ uuid }) => uuid));
        for (const { uuid, status, document } of await dump(path)) {
          const isCleared = document.kind === "result" && clearedToolUseIds.has(document.toolUseId ?? "");
          expect((status & STATUS.inContext) !== 0).toBe(uuids.has(uuid) && !isCleared);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("an index that was updated while its session grew equals a newly built index", async () => {
    await fc.assert(
      fc.asyncProperty(
        sessionArbitrary,
        fc.array(fc.nat(1000), { maxLength: 5 }),
        fc.constantFrom(0, 300, 1_000_000),
        async ({ lines }, stops, keepEveryBytes) => {
          const cuts = [...new Set(stops.map((stop) => 1 + (stop % lines.length)))].sort((a, b) => a - b);
          const path = sessionFile([]);
          let written = 0;
          for (const cut of [...cuts, lines.length]) {
            append(path, lines.slice(written, cut));
            written = cut;
            await dump(path, keepEveryBytes);
          }
          const grown = await dump(path, keepEveryBytes);
          expect(grown).toEqual(await dump(sessionFile(lines)));
          expect(existsSync(recallIndexPath(path))).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("exact and word searches find every text outside the context, and no text inside the context", async () => {
    await fc.assert(
      fc.asyncProperty(sessionArbitrary, async ({ lines }) => {
        const path = sessionFile(lines);
        const { conversation } = await loadSession(path);
        const uuids = new Set(conversation.map(({ uuid }) => uuid));
        const recall = openRecall(path);
        for (const entry of lines.filter(isSaid).slice(0, 12)) {
          const text = documentsOf(entry)[0]?.text ?? "";
          for (const query of [{ exact: text }, { words: text }]) {
            const { hits } = await recall.search({ ...query, limit: 500 });
            expect(hits.some(({ id }) => id === entry.uuid)).toBe(!uuids.has(entry.uuid));
          }
        }
      }),
      { numRuns: 25 },
    );
  });
});

/**
 * Returns true if an entry contains only messages. The test uses only such entries, because a search skips
 * restated content by default.
 */
const isSaid = (entry: Entry): boolean =>
  documentsOf(entry).length > 0 &&
  documentsOf(entry).every(({ kind }) => kind === "user" || kind === "assistant");
