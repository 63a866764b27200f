// What a host pays each turn for knowing whether it is time, and what it pays when it is.
import { claim } from "./claims.mjs";
import { collectGarbage, medianMs } from "./measure.mjs";
import { turnsOf } from "./peers/turns.mjs";
import { conversationOf } from "./session.mjs";
import { milliseconds, table, times } from "./table.mjs";

const SIZES = [50_000, 200_000, 1_000_000, 10_000_000];
const KEEP_TOKENS = 10_000;
/** Peers that are expected to take longer than this are left out at that size. */
const PATIENCE_MS = 10_000;
const MOST_GROWTH = 5;

/** Ours first: the claim is about the first row. */
const PEERS = {
  longhaul: () => import("./peers/longhaul.mjs"),
  plain: () => import("./peers/plain.mjs"),
  LangChain: () => import("./peers/langchain.mjs"),
  "AI SDK": () => import("./peers/ai-sdk.mjs"),
  Mastra: () => import("./peers/mastra.mjs"),
  pi: () => import("./peers/pi.mjs"),
};

export async function run({ isQuick }) {
  const sizes = isQuick ? SIZES.slice(0, 3) : SIZES;
  const peers = await loadPeers();
  for (const [index, size] of sizes.entries()) {
    const conversation = materialOf(size);
    for (const peer of peers) await measurePeer(peer, conversation, index, isQuick ? 100 : 250);
  }
  const meter = peers[0].check;
  return {
    text: [
      report("A turn's check: one new message, is it time to compact?", peers, "check", sizes),
      report(
        `Choosing what to keep (${KEEP_TOKENS.toLocaleString("en")} recent tokens) or to clear`,
        peers,
        "act",
        sizes,
      ),
    ].join("\n"),
    claims: [
      claim(
        `a turn's check on ${sizeName(sizes.at(-1))} against 50K tokens`,
        `≤ ${MOST_GROWTH}×`,
        meter.at(-1) / meter[0],
        (ratio) => ratio <= MOST_GROWTH,
      ),
    ],
  };
}

async function loadPeers() {
  const peers = [];
  for (const [name, load] of Object.entries(PEERS)) {
    const loaded = await load().catch(() => ({ peers: [{ name, version: "not installed" }] }));
    peers.push(...loaded.peers.map((peer) => ({ ...peer, check: [], act: [] })));
  }
  return peers;
}

function materialOf(tokens) {
  const { entries, next } = conversationOf(tokens);
  return { tokens, entries, next, turns: turnsOf([...entries, next]), keepTokens: KEEP_TOKENS };
}

async function measurePeer(peer, conversation, index, budgetMs) {
  if (!peer.open) return;
  const wanted = ["check", "act"].filter((kind) => !isTooSlow(peer[kind], index));
  if (wanted.length === 0) return;
  const opened = await peer.open(conversation);
  for (const kind of wanted) {
    if (!opened[kind]) continue;
    collectGarbage();
    peer[kind][index] = await medianMs(opened[kind].run, { prepare: opened[kind].prepare, budgetMs });
  }
}

/** By the last two sizes, taken to grow at most with the square. */
function isTooSlow(times, index) {
  if (index === 0) return false;
  const last = times[index - 1];
  if (last === undefined) return times.length > 0;
  const growth = SIZES[index] / SIZES[index - 1];
  const exponent =
    index === 1 ? 1 : Math.log(last / times[index - 2]) / Math.log(SIZES[index - 1] / SIZES[index - 2]);
  return last * growth ** Math.min(2, Math.max(1, exponent)) > PATIENCE_MS;
}

const sizeName = (size) => (size >= 1e6 ? `${size / 1e6}M` : `${size / 1e3}K`);

function bestPeerToOurs(rows) {
  const best = (isOurs) =>
    Math.min(...rows.filter((row) => Boolean(row.ours) === isOurs && row.ms).map(({ ms }) => ms));
  return times(best(false) / best(true));
}

function report(title, peers, kind, sizes) {
  const rows = peers.filter((peer) => peer[kind].length > 0 || !peer.open);
  const cells = ({ name, version = "", ...peer }) => [
    version ? `${name} (${version})` : name,
    ...sizes.map((_, index) => milliseconds(peer[kind][index])),
  ];
  const ratios = sizes.map((_, index) =>
    bestPeerToOurs(rows.map((peer) => ({ ours: peer.ours, ms: peer[kind][index] }))),
  );
  return table(
    title,
    ["conversation of … tokens", ...sizes.map(sizeName)],
    [
      ...rows.map((peer) => ({ ours: peer.ours, cells: cells(peer) })),
      { cells: ["best peer's time ÷ longhaul's best", ...ratios] },
    ],
    [
      `— : would take more than ${PATIENCE_MS / 1000} s; medians; a call slower than the budget is measured once.`,
    ],
  );
}
