import { basename } from "node:path";
import { loadSession } from "@longhaul/sessions";
import { expect, it } from "vitest";
import { claudeCodeSessions, describeRecorded } from "../../../../../test/support/real-sessions.ts";
import { type Entry, isCompactBoundary } from "../../messages/entry.ts";
import { inputTokens, reportedUsage } from "../../messages/responses.ts";
import { ContextMeter } from "./context-meter.ts";

/** Number of responses that calibrate the estimate before the prediction starts. */
const RESPONSES_SEEN = 10;

interface Growth {
  readonly predicted: number;
  readonly reported: number;
  readonly responses: number;
}

/**
 * Predicts the growth of the context before each response and compares it with the real growth. Skips three
 * cases in which the file cannot show growth. The first is a compaction. The second is a context that shrank,
 * because something was cleared without a trace in the file. The third is a change of the model, because the
 * prompt and the vocabulary change with it.
 */
function growthOf(entries: readonly Entry[]): Growth {
  const meter = new ContextMeter();
  const sum = { predicted: 0, reported: 0, responses: 0 };
  let last: { id: string | undefined; model: string | undefined; input: number } | undefined;
  let seen = 0;
  for (const entry of entries) {
    const usage = reportedUsage(entry);
    if (isCompactBoundary(entry)) last = undefined;
    if (usage !== undefined && entry.type === "assistant" && entry.message.id !== last?.id) {
      const input = inputTokens(usage);
      const isGrowth = last !== undefined && input > last.input && last.model === entry.message.model;
      if (seen++ >= RESPONSES_SEEN && last !== undefined && isGrowth) {
        sum.predicted += meter.size().tokens - last.input;
        sum.reported += input - last.input;
        sum.responses++;
      }
      last = { id: entry.message.id, model: entry.message.model, input };
    }
    meter.add(entry);
  }
  return sum;
}

/** Returns the entries of the larger thread. In old versions, subagents wrote to the same file. */
function largestThread(entries: readonly Entry[]): Entry[] {
  const side = entries.filter((entry) => entry.isSidechain === true);
  return side.length * 2 > entries.length ? side : entries.filter((entry) => entry.isSidechain !== true);
}

describeRecorded("predicted growth of recorded sessions", () => {
  it.each(claudeCodeSessions().map((path) => [basename(path), path]))(
    "the estimated growth of the context differs by under 10%% from the reported growth in %s",
    async (_, path) => {
      const growth = growthOf(largestThread((await loadSession(path)).entries));
      if (growth.responses === 0) return;
      expect(Math.abs(growth.predicted / growth.reported - 1)).toBeLessThan(0.1);
    },
  );
});
