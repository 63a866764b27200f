// Measures what it costs to check, clear and shorten a conversation, for the engine and for other libraries.
import { collectGarbage, consume, lowerQuartile, medianMs } from "../measure.mjs";

/** A library is skipped at sizes for which it is expected to take longer than this. */
export const PATIENCE_MS = 10_000;
export const KINDS = ["check", "clear", "keep"];

const PEERS = {
  longhaul: () => import("../peers/longhaul.mjs"),
  plain: () => import("../peers/plain.mjs"),
  LangChain: () => import("../peers/langchain.mjs"),
  "AI SDK": () => import("../peers/ai-sdk.mjs"),
  Mastra: () => import("../peers/mastra.mjs"),
  pi: () => import("../peers/pi.mjs"),
};

export async function loadPeers() {
  const peers = [];
  for (const [name, load] of Object.entries(PEERS)) {
    const loaded = await load().catch(() => ({ peers: [{ name, version: "not installed" }] }));
    peers.push(...loaded.peers.map((peer) => ({ ...peer, check: [], clear: [], keep: [] })));
  }
  return peers;
}

/** Measures a library at one size. Stores the milliseconds of each kind of work in `peer`. */
export async function measurePeer(peer, conversations, index, budgetMs) {
  if (!peer.open) return;
  const sizes = conversations.map(({ tokens }) => tokens);
  const wanted = KINDS.filter((kind) => !isTooSlow(peer[kind], index, sizes));
  if (wanted.length === 0) return;
  const opened = await peer.open(conversations[index]);
  for (const kind of wanted) {
    if (!opened[kind]) continue;
    collectGarbage();
    peer[kind][index] = await medianMs(opened[kind].run, { prepare: opened[kind].prepare, budgetMs });
  }
}

/**
 * Compares the libraries of a claim. The libraries take turns, so that a busy moment of the machine affects
 * all of them.
 * @returns the lower quartile of the milliseconds of each library, by name
 */
export async function compareClearing(peers, conversation, rounds) {
  const rivals = [];
  for (const { name, open } of peers) rivals.push({ name, ms: [], ...(await open(conversation)).clear });
  for (let round = 0; round < rounds; round++) {
    for (const { ms, run, prepare } of rivals) {
      const input = await prepare?.();
      const startedAt = performance.now();
      consume(await run(input));
      ms.push(performance.now() - startedAt);
    }
  }
  return new Map(rivals.map(({ name, ms }) => [name, lowerQuartile(ms)]));
}

/**
 * Returns true if a library is expected to exceed the limit at the next size. Extrapolates from the last two
 * sizes, with at most quadratic growth.
 */
function isTooSlow(times, index, sizes) {
  if (index === 0) return false;
  const last = times[index - 1];
  if (last === undefined) return times.length > 0;
  const growth = sizes[index] / sizes[index - 1];
  const before = times[index - 2];
  const exponent =
    before === undefined ? 1 : Math.log(last / before) / Math.log(sizes[index - 1] / sizes[index - 2]);
  return last * growth ** Math.min(2, Math.max(1, exponent)) > PATIENCE_MS;
}
