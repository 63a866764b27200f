import {
  ContextMeter,
  computeThresholds,
  contextTokens,
  findModel,
  planCompaction,
  windowState,
} from "../../dist/index.js";

const thresholds = computeThresholds(findModel("claude-sonnet-5"));

const meter = {
  name: "longhaul, ContextMeter",
  ours: true,
  open({ entries, next }) {
    const kept = new ContextMeter();
    for (const entry of entries) kept.add(entry);
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
  open({ entries, next }) {
    const all = [...entries, next];
    return { check: { run: () => windowState(contextTokens(all), thresholds) } };
  },
};

const withoutUsage = {
  name: "longhaul, same without usage",
  ours: true,
  open({ entries, next }) {
    const all = [...entries, next].map((entry) =>
      entry.type === "assistant" ? { ...entry, message: { ...entry.message, usage: undefined } } : entry,
    );
    return { check: { run: () => windowState(contextTokens(all), thresholds) } };
  },
};

const plan = {
  name: "longhaul, planCompaction",
  ours: true,
  open({ entries, next, keepTokens }) {
    const snapshot = { entries: [...entries, next] };
    return { act: { run: () => planCompaction(snapshot, { keepRecentTokens: keepTokens }) } };
  },
};

export const peers = [meter, oneShot, withoutUsage, plan];
