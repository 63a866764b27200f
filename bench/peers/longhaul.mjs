// Parts of the engine that have an equivalent in other libraries, each measured separately. engine/ measures
// the whole.

import { findModel } from "@longhaul/core";
import { applyClearing, chooseBySize, ResultIndex } from "@longhaul/core/clear";
import { planCompaction } from "@longhaul/core/compaction";
import {
  ContextMeter,
  computeThresholds,
  contextTokens,
  ESTIMATORS,
  measureContent,
  windowState,
} from "@longhaul/core/measure";

const thresholds = computeThresholds(findModel("claude-sonnet-5"));

const meter = {
  name: "longhaul, ContextMeter",
  ours: true,
  open({ before, next }) {
    const kept = new ContextMeter();
    for (const entry of before) kept.add(entry);
    const run = () => {
      kept.add(next);
      return windowState(kept.size().tokens, thresholds);
    };
    return { check: { run } };
  },
};

const oneShot = {
  name: "longhaul, contextTokens of all",
  ours: true,
  open({ entries }) {
    return { check: { run: () => windowState(contextTokens(entries), thresholds) } };
  },
};

const withoutUsage = {
  name: "longhaul, same without usage",
  ours: true,
  open({ entries }) {
    const all = entries.map((entry) =>
      entry.type === "assistant" ? { ...entry, message: { ...entry.message, usage: undefined } } : entry,
    );
    return { check: { run: () => windowState(contextTokens(all), thresholds) } };
  },
};

const plan = {
  name: "longhaul, planCompaction",
  ours: true,
  open({ entries, keepTokens }) {
    const snapshot = { entries };
    return { keep: { run: () => planCompaction(snapshot, { keepRecentTokens: keepTokens }) } };
  },
};

/** Uses the cheapest estimate, like the other libraries. */
const tokensOf = ({ content }) => measureContent(content, ESTIMATORS.classic);

function indexOf(entries) {
  const index = new ResultIndex();
  for (const [at, entry] of entries.entries()) index.add(entry, at, tokensOf);
  return index;
}

/**
 * The engine's defaults. It clears down to 40,000 tokens, and only in batches that save at least 20,000
 * tokens.
 */
const BATCH = { targetTokens: 40_000, minimumSavingTokens: 20_000 };
/** Clears all results except the newest three, like the other libraries. */
const ALL = { targetTokens: 1, minimumSavingTokens: 1 };
const clearAs = (index, entries, options) => {
  const clearing = chooseBySize(index, options);
  return clearing && applyClearing(entries, clearing, { bindsThinking: false });
};

const clearBatch = {
  name: "longhaul, the next batch",
  ours: true,
  isBatch: true,
  open({ entries }) {
    const index = indexOf(entries);
    // Simulates earlier turns that have cleared all they could. Since then, slightly more than the minimum
    // batch was added.
    const earlier = chooseBySize(index, {
      targetTokens: BATCH.targetTokens + BATCH.minimumSavingTokens * 1.2,
    });
    if (earlier === undefined) return {};
    const left = applyClearing(entries, earlier, { bindsThinking: false }).entries;
    index.applied(earlier);
    return { clear: { run: () => clearAs(index, left, BATCH) } };
  },
};
const clearAll = {
  name: "longhaul, all at once",
  ours: true,
  isAllAtOnce: true,
  open({ entries }) {
    const index = indexOf(entries);
    return { clear: { run: () => clearAs(index, entries, ALL) } };
  },
};

const clearUnknown = {
  name: "longhaul, same, nothing known before",
  ours: true,
  open: ({ entries }) => ({ clear: { run: () => clearAs(indexOf(entries), entries, ALL) } }),
};

export const peers = [meter, oneShot, withoutUsage, plan, clearBatch, clearAll, clearUnknown];
