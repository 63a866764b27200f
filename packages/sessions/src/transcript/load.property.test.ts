import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { wholeSession } from "../../../../test/transcript/written-session.ts";
import { withoutTornWrites } from "../../../core/src/messages/atomic-write.ts";
import { withoutRepeatedLines } from "./entry-index.ts";
import { entryFromJson } from "./entry-reader.ts";
import { loadSession, loadSparsely } from "./load.ts";
import { currentConversation } from "./relink.ts";

const folder = temporaryFolder();

const KINDS = [
  "user",
  "assistant",
  "progress",
  "attachment",
  "boundary",
  "summary",
  "title",
  "broken",
] as const;

interface Line {
  readonly kind: (typeof KINDS)[number];
  readonly id: number;
  /**
   * Distance to the parent in lines. 0 means a root. A distance beyond the first line means a missing parent.
   */
  readonly up: number;
  readonly isSidechain: boolean;
}

const lines = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS, "user", "assistant"),
    // Either few ids, so that some lines are repeated, or many ids, so that most lines are not repeated.
    id: fc.oneof(
      { weight: 1, arbitrary: fc.nat(9) },
      { weight: 6, arbitrary: fc.integer({ min: 10, max: 5_000 }) },
    ),
    up: fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, { weight: 2, arbitrary: fc.nat(6) }),
    isSidechain: fc.oneof(
      { weight: 6, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.boolean() },
    ),
  }),
  { minLength: 1, maxLength: 40 },
);

function written(line: Line, at: number, all: readonly Line[]): string {
  if (line.kind === "broken") return '{"type":"user","uuid":"torn","message":{"role';
  if (line.kind === "title") return JSON.stringify({ type: "custom-title", customTitle: `t${at}` });
  const parent = all[at - line.up];
  const parentUuid = line.up === 0 ? null : parent === undefined ? "in-no-line" : `id-${parent.id}`;
  const common = {
    uuid: `id-${line.id}`,
    parentUuid,
    isSidechain: line.isSidechain,
    sessionId: "s",
    timestamp: `2026-01-01T00:00:${String(at).padStart(2, "0")}Z`,
  };
  const message = { role: "user", content: `text ${at}` };
  switch (line.kind) {
    case "assistant": {
      const content = [{ type: "text", text: `answer ${at}` }];
      return JSON.stringify({
        ...common,
        type: "assistant",
        message: { role: "assistant", id: `m${at}`, content },
      });
    }
    case "boundary": {
      const compactMetadata = { trigger: "auto", preTokens: 1 };
      return JSON.stringify({ ...common, type: "system", subtype: "compact_boundary", compactMetadata });
    }
    case "attachment":
      return JSON.stringify({ ...common, type: "attachment", attachment: { type: "todo", content: [] } });
    case "progress":
      return JSON.stringify({ ...common, type: "progress", data: {} });
    case "summary":
      return JSON.stringify({ ...common, type: "user", isCompactSummary: true, message });
    default:
      return JSON.stringify({ ...common, type: "user", message });
  }
}

/**
 * Reads a session with a simple reference method: parses every line separately, and looks up every parent by
 * its id.
 */
function eager(texts: readonly string[]): ReturnType<typeof currentConversation> {
  const entries = texts.flatMap((text): Entry | readonly Entry[] => {
    try {
      return entryFromJson(JSON.parse(text)) ?? [];
    } catch {
      return [];
    }
  });
  return currentConversation(withoutRepeatedLines(withoutTornWrites(entries)).entries);
}

describe("loading a generated session file", () => {
  it("loads the same conversation as a simple reader, despite damaged lines, subagent lines and boundaries", async () => {
    let nth = 0;
    await fc.assert(
      fc.asyncProperty(lines, async (all) => {
        const texts = all.map(written);
        fc.pre(texts.some((text) => text.startsWith('{"uuid"')));
        const path = join(folder, `${nth++}.jsonl`);
        writeFileSync(path, `${texts.join("\n")}\n`);
        const read = await loadSession(path);
        const expected = eager(texts);
        expect(read.conversation).toEqual(expected.entries);
        expect(read.leafUuid).toBe(expected.leafUuid);
        expect(read.bridgedUuids).toEqual(expected.bridgedUuids);
        expect(wholeSession(await loadSparsely(path))).toEqual(read);
      }),
      { numRuns: 300 },
    );
  });
});
