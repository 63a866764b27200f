import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ApiMessage, Entry, TranscriptPort } from "@longhaul/core";
import { flatten } from "@longhaul/core/request";
import { openTranscript, resumeSession } from "@longhaul/sessions";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { apiRuleViolations } from "../support/api-rules.ts";
import { createCompactor } from "../support/full-compactor.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

const folder = temporaryFolder();
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const isBoundary = (entry: Entry): boolean => entry.type === "system" && entry.subtype === "compact_boundary";

const conversation: readonly ApiMessage[] = [
  ...Array.from({ length: 60 }, (_, nth): readonly ApiMessage[] => [
    { role: "user", content: `question ${nth}: ${"word ".repeat(150)}` },
    { role: "assistant", content: `answer ${nth}: ${"word ".repeat(150)}` },
  ]).flat(),
  { role: "user", content: "on" },
];

describe("a compaction whose lines are written after the timeout", () => {
  it("a session resumes from a compaction that was written late, and has every later line exactly once", async () => {
    const path = join(folder, "late.jsonl");
    const file = await openTranscript(path);
    let release = (): void => undefined;
    let isHeld = false;
    let tellHeld = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      tellHeld = resolve;
    });
    const transcript: TranscriptPort = {
      path,
      append: async (entries) => {
        if (entries.some(isBoundary)) {
          isHeld = true;
          tellHeld();
          await new Promise<void>((resolve) => {
            release = resolve;
          });
        }
        await file.append(entries);
      },
    };
    const compactor = createCompactor({
      settings: { environment: {} },
      window: { tokens: 20_000 },
      transcript,
    });
    const before = compactor.before(conversation);
    await Promise.race([held, before]);
    expect(isHeld).toBe(true);
    await vi.advanceTimersByTimeAsync(31_000);
    const turn = await before;
    expect(turn.problem).toMatchObject({ code: "transcript-timed-out" });
    expect(turn.messages).toEqual(conversation);

    const grown: readonly ApiMessage[] = [
      ...turn.messages,
      { role: "assistant", content: "an end" },
      { role: "user", content: "more" },
    ];
    // This caller is never compacted automatically, so the turn only writes.
    await compactor.before(grown, { caller: "compact" });
    release();
    await compactor.close();
    const lines = (await readFile(path, "utf8")).trim().split("\n");
    const uuids = lines.flatMap((line) => (JSON.parse(line) as Entry).uuid ?? []);
    expect(new Set(uuids).size).toBe(uuids.length);
    expect(lines.some((line) => isBoundary(JSON.parse(line) as Entry))).toBe(true);
    for (const { content } of grown) expect(lines.join()).toContain(JSON.stringify(content));
    const { conversation: resumed } = await resumeSession(path);
    expect(resumed.filter(isBoundary)).toHaveLength(1);
    expect(flatten(resumed).slice(-3)).toMatchObject(grown.slice(-3));
    expect(apiRuleViolations(flatten(resumed))).toEqual([]);
    await file.close();
  });
});
