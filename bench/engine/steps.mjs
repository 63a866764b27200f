// Measures how each step of the engine grows with the conversation.

import { checkRequest } from "@longhaul/core";
import { planCompaction, planReactive } from "@longhaul/core/compaction";
import { ESTIMATORS, measureContext, measureEntries } from "@longhaul/core/measure";
import { flatten } from "@longhaul/core/request";
import { consume } from "../measure.mjs";
import { ENDLESS_WINDOW, Host } from "./host.mjs";

const KEPT_TURNS = 2;
const OVERHEAD_TOKENS = 3_000;
const TARGET_TOKENS = 160_000;
/**
 * Factor and tokens that the engine adds to an estimated size. The factor is a padding of a third. The tokens
 * are space for the summary, the answer and a margin.
 */
const DECISION_PADDING = 4 / 3;
const WINDOW_RESERVE = 33_000 + 2_000;
/** A model without known prices. With known prices, a summary may be cheaper than clearing. */
const UNPRICED_MODEL = "a-model-of-ones-own";
/** Repetitions for a result of about 10,000 tokens, which fills the window. */
const LARGE_RESULT_REPEATS = 600;
/** Minimum length of a sample. The CPU time of a process is too coarse for shorter samples. */
const SHORTEST_SAMPLE_MS = 1;

const open = async (conversation, options = {}) => {
  const host = new Host({ window: { tokens: ENDLESS_WINDOW }, ...options });
  await host.open(conversation);
  return host;
};

/** Creates a host with an almost full window, in which the next large result causes clearing. */
async function almostFull(conversation) {
  conversation.ownTokens ??= (await open(conversation, { model: UNPRICED_MODEL })).tokens;
  const host = new Host({
    model: UNPRICED_MODEL,
    window: { tokens: Math.ceil(conversation.ownTokens * DECISION_PADDING) + WINDOW_RESERVE },
  });
  await host.open(conversation);
  // Reports no usage, because a usage report would remove the padding that the window was sized for.
  host.respond({ resultRepeats: LARGE_RESULT_REPEATS, isReported: false });
  return host;
}

/** Returns a conversation with its token counts, so that a step does not count the tokens again. */
function counted({ entries }) {
  const tokens = new Map(entries.map((entry) => [entry, measureEntries([entry], ESTIMATORS.classic)]));
  const context = measureContext(entries);
  const tokensOf = (entry) => tokens.get(entry) ?? 0;
  return [{ entries }, { tokensOf, context, ratio: 1, overheadTokens: OVERHEAD_TOKENS }];
}

/** Returns the error that the API reports for a prompt that is too long. */
const tooLong = ({ tokens }) => ({
  type: "error",
  error: {
    type: "invalid_request_error",
    message: `prompt is too long: ${Math.round(tokens * 1.1)} tokens > ${Math.round(tokens * 0.9)} maximum`,
  },
});

const must = (turn, isDone) => {
  if (!turn || !isDone(turn)) throw new Error("this step did nothing");
  return turn;
};

/**
 * The measured steps. `prepare` is not timed. If a step `changes` its input, `prepare` runs again for each
 * call. The yardstick is linear and reads everything. So it shows the effect of a conversation that exceeds
 * the machine's caches.
 */
export const STEPS = [
  {
    name: "yardstick: a copy of every message and block",
    isYardstick: true,
    prepare: ({ messages }) => messages,
    run: (messages) =>
      messages.map(({ role, content }) => ({
        role,
        content: typeof content === "string" ? content : content.map((block) => ({ ...block })),
      })),
  },
  { name: "flatten", prepare: ({ entries }) => entries, run: (entries) => flatten(entries) },
  {
    name: "checkRequest",
    prepare: ({ messages }) => ({ messages }),
    run: (request) => checkRequest(request),
  },
  { name: "first before(), messages", prepare: (conversation) => conversation, run: (all) => open(all) },
  {
    name: "first before(), entries",
    prepare: (conversation) => conversation,
    run: (all) => open(all, { form: "entries" }),
  },
  {
    name: "before() that clears by size",
    changes: true,
    // Smaller conversations do not have enough results to clear.
    from: 200_000,
    prepare: almostFull,
    run: async (host) =>
      must((await host.before()).turn, ({ cleared, compaction }) => cleared > 0 && !compaction),
  },
  {
    name: "planCompaction, all counted before",
    prepare: counted,
    run: ([snapshot, measured]) => planCompaction(snapshot, { measured }),
  },
  {
    name: "planReactive, all counted before",
    prepare: counted,
    run: ([snapshot, measured]) =>
      planReactive(snapshot, { measured, failure: { kind: "too-long" }, targetTokens: TARGET_TOKENS }),
  },
  {
    name: "compact(), built-in summary",
    changes: true,
    prepare: (conversation) => open(conversation),
    run: async ({ compactor, messages }) =>
      must(await compactor.compact(messages), ({ compaction }) => compaction),
  },
  {
    name: "recover(), built-in summary",
    changes: true,
    prepare: async (conversation) => ({ host: await open(conversation), error: tooLong(conversation) }),
    run: async ({ host, error }) => must(await host.compactor.recover(error), ({ compaction }) => compaction),
  },
  {
    name: "snip(), all but two turns",
    changes: true,
    prepare: (conversation) => open(conversation),
    run: async ({ compactor, messages }) => {
      const turn = await compactor.snip(messages, { keepLastTurns: KEPT_TURNS });
      return must(turn, (made) => made.messages.length < messages.length);
    },
  },
];

/**
 * Time for the JIT to compile before the measurement. Without this time, the first calls on a large
 * conversation would dominate.
 */
const WARM_UP_MS = 1_000;

export async function warmUp({ prepare, run, changes }, conversation) {
  const until = performance.now() + WARM_UP_MS;
  let input = await prepare(conversation);
  while (performance.now() < until) {
    consume(await run(input));
    if (changes) input = await prepare(conversation);
  }
}

/** Returns the minimum CPU milliseconds of a call. The minimum is robust on a busy machine. */
export async function leastMs({ prepare, run, changes }, conversation, samples) {
  let input = await prepare(conversation);
  consume(await run(input));
  let least = Number.POSITIVE_INFINITY;
  for (let sample = 0; sample < samples; sample++) {
    if (changes) input = await prepare(conversation);
    const cpuBefore = process.cpuUsage();
    const startedAt = performance.now();
    consume(await run(input));
    const wallMs = performance.now() - startedAt;
    const { user, system } = process.cpuUsage(cpuBefore);
    const cpuMs = (user + system) / 1000;
    least = Math.min(least, wallMs, cpuMs >= SHORTEST_SAMPLE_MS ? cpuMs : wallMs);
  }
  return least;
}

/** Returns the exponent of the growth, fitted by least squares: 1 is linear, 2 quadratic. */
export function growthExponent(sizes, times) {
  const points = sizes.map((size, index) => [Math.log(size), Math.log(times[index])]);
  const mean = (axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const over = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return over / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}
