// Runs one step of recall in a separate process and prints its wall and CPU time.
// node recall-child.mjs STEP FILE
import { readChunks } from "./peers/readers.mjs";

const QUERIES = {
  words: { words: "tide quota per hour", limit: 8 },
  exact: { exact: "npx vitest run", limit: 8 },
  pattern: { pattern: "rate-\\w+\\.test", limit: 8 },
  file: { file: "server.ts", limit: 8 },
};

const [step, path] = process.argv.slice(2);
const { openRecall } = await import("@longhaul/sessions");
const recall = openRecall(path);
const run = step === "read" ? () => readChunks(path) : () => recall.search(QUERIES[step] ?? QUERIES.words);
const first = await timed(run);
const warm = [];
if (Object.hasOwn(QUERIES, step)) for (let nth = 0; nth < 20; nth++) warm.push((await timed(run)).ms);
process.stdout.write(JSON.stringify({ ...first, warmMs: warm.toSorted((a, b) => a - b)[warm.length >> 1] }));

async function timed(work) {
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const result = await work();
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(before);
  return {
    ms,
    cpuMs: (user + system) / 1000,
    found: typeof result === "number" ? result : result.hits.length,
  };
}
