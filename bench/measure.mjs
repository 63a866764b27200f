import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Bench } from "tinybench";

/** Minimum length of a sample. A shorter sample would mostly measure the clock. */
const SHORTEST_SAMPLE_MS = 0.5;
const MAX_CALLS_PER_SAMPLE = 100_000;

setFlagsFromString("--expose-gc");
/** Collects garbage. Call it between rows, so that no row pays for the garbage of the previous one. */
export const collectGarbage = runInNewContext("gc");

/** Last result of a measured call. It is stored, so that the JIT cannot remove the call as unused work. */
let consumed;
export function consume(result) {
  if (result === undefined) throw new Error("a measured call must give something back");
  consumed = result;
  return consumed;
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Returns the lower quartile. On a busy machine, the median of long calls includes waits. So the lower
 * quartile compares long and short calls better than the median.
 */
export const lowerQuartile = (values) => values.toSorted((a, b) => a - b)[values.length >> 2];

/**
 * Returns the median milliseconds of a call. Short calls are bundled into samples that are long enough for
 * the clock. A call that exceeds the budget is measured once, without a warm-up.
 * @param prepare creates the input of each call and is not timed. Calls that change their input need it.
 */
export async function medianMs(run, { prepare, budgetMs = 400, samples = 9 } = {}) {
  let input = await prepare?.();
  const startedAt = performance.now();
  consume(await run(input));
  const coldMs = performance.now() - startedAt;
  if (coldMs > budgetMs) return coldMs;

  if (prepare) input = await prepare();
  const result = run(input);
  const isAsync = result instanceof Promise;
  consume(await result);
  const calls = prepare || isAsync ? 1 : await callsPerSample(run, input);
  const bench = new Bench({
    time: budgetMs,
    iterations: samples,
    warmupTime: budgetMs / 4,
    warmupIterations: 1,
  });
  const sample = isAsync
    ? async () => void consume(await run(input))
    : () => {
        for (let call = 0; call < calls; call++) consume(run(input));
      };
  const beforeEach = async () => {
    if (prepare) input = await prepare();
  };
  bench.add("call", sample, { async: isAsync, beforeEach });
  const [task] = await bench.run();
  if (task.result.error) throw task.result.error;
  return task.result.latency.p50 / calls;
}

async function callsPerSample(run, input) {
  for (let calls = 1; calls < MAX_CALLS_PER_SAMPLE; calls *= 2) {
    const startedAt = performance.now();
    for (let call = 0; call < calls; call++) consume(run(input));
    if (performance.now() - startedAt >= SHORTEST_SAMPLE_MS) return calls;
  }
  return MAX_CALLS_PER_SAMPLE;
}
