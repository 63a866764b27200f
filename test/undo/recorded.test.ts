import { chmodSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@longhaul/core";
import { withClearedResults } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import {
  buildNotes,
  compactSession,
  historyBefore,
  loadSession,
  readNotes,
  resumeSession,
  undoSession,
  writeCompaction,
  writeUndo,
} from "@longhaul/sessions";
import { expect, it } from "vitest";
import { chooseMessage } from "../../packages/longhaul/src/message-choice.ts";
import { promptsOf } from "../../packages/longhaul/src/prompts-report.ts";
import { apiRuleViolations } from "../support/api-rules.ts";
import { describeRecorded, realSessionPath } from "../support/real-sessions.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

const folder = temporaryFolder();

interface Shown {
  readonly conversation: readonly Entry[];
  readonly clearedToolUseIds: ReadonlySet<string>;
}

const shown = ({ conversation, clearedToolUseIds }: Shown): readonly string[] =>
  flatten(withClearedResults(conversation, clearedToolUseIds)).map((message) => JSON.stringify(message));

describeRecorded("Claude Code's own compactions", () => {
  it.each([
    ["two compactions of Claude Code", "entireio-cli__70d782f7.jsonl", 2],
    ["a Claude Code compaction with messages kept in place", "oh-my-posh__6c0a282a.jsonl", 1],
  ])(
    "an undo of a compaction of %s restores the earlier conversation, and a redo reverts the undo",
    async (_, name, times) => {
      const path = join(folder, name);
      copyFileSync(realSessionPath(name), path);
      chmodSync(path, 0o600);
      const start = await loadSession(path);
      const boundaries = start.boundaries.map(({ boundary }) => boundary).toReversed();
      for (let nth = 0; nth < times; nth++) {
        const { clearedToolUseIds, entries: conversation } = historyBefore(
          start.entries,
          boundaries[nth] as never,
        );
        const before = shown({ conversation, clearedToolUseIds });
        const undo = undoSession(await loadSession(path));
        expect(undo.carried.length).toBeGreaterThan(0);
        await writeUndo(undo, { mode: "in-place" });
        const after = await loadSession(path);
        expect(shown(after).slice(0, before.length)).toEqual(before);
        expect(apiRuleViolations(flatten(after.conversation))).toEqual([]);
        expect(shown(await resumeSession(path))).toEqual(shown(after));
      }
      expect(() => undoSession(start, { redo: true })).toThrow("no undo");
      for (let nth = 0; nth < times; nth++)
        await writeUndo(undoSession(await loadSession(path), { redo: true }), { mode: "in-place" });
      expect(shown(await loadSession(path))).toEqual(shown(start));
    },
    60_000,
  );
});

describeRecorded("recorded sessions that longhaul compacts and undoes in place", () => {
  it.each([
    "entireio-cli__fdd24234.jsonl",
    "context-evaluator__8209f1c2.jsonl",
    "oh-my-posh__e0a6db83.jsonl",
  ])(
    "prompts of %s keep their times and ids after a compaction and its undo, and notes still work",
    async (name) => {
      const path = join(folder, `ids-${name}`);
      copyFileSync(realSessionPath(name), path);
      chmodSync(path, 0o600);
      const start = await loadSession(path);
      await buildNotes(start);
      const prompts = promptsOf(start);
      expect(prompts.length).toBeGreaterThan(0);
      for (const keepRecentTokens of [10_000, 0]) {
        const compaction = await compactSession(await loadSession(path), { keepRecentTokens });
        await writeCompaction(compaction, { mode: "in-place" });
        expect((await loadSession(path)).model).toBe(start.model);
        expect((await resumeSession(path)).model).toBe(start.model);
        await writeUndo(undoSession(await loadSession(path)), { mode: "in-place" });
        const { conversation, entries } = await loadSession(path);
        const now = promptsOf(await loadSession(path));
        expect(now.map(({ timestamp }) => timestamp)).toEqual(prompts.map(({ timestamp }) => timestamp));
        const chosen = prompts.map(({ uuid }) => chooseMessage(conversation, uuid, entries));
        expect(chosen).toEqual(now.map(({ uuid }) => uuid));
      }
      const current = await loadSession(path);
      const coveredUuid = (await readNotes(current))?.notes.coveredUuid;
      const keep = { leastTokens: 1_000, leastMessages: 1 };
      const { plan } = await compactSession(current, { fromNotes: { text: "Notes.", coveredUuid, keep } });
      expect(plan.summarized.length).toBeGreaterThan(0);
    },
    120_000,
  );
});
