// Measures the engine in the loop: the cost of an idle turn, of clearing and of compacting. Also measures how
// each step grows with the conversation, and whether a long run leaks memory.
import { flatten } from "@longhaul/core/request";
import { claim } from "./claims.mjs";
import { compareClearing, loadPeers, measurePeer, PATIENCE_MS } from "./engine/choosing.mjs";
import { measureIdle, VARIANTS } from "./engine/idle.mjs";
import { measureMemory } from "./engine/memory.mjs";
import { growthExponent, leastMs, STEPS, warmUp } from "./engine/steps.mjs";
import { turnsOf } from "./peers/turns.mjs";
import { conversationOf } from "./session.mjs";
import { milliseconds, table, times } from "./table.mjs";

const SMALLEST = 50_000;
const MILLION = 1_000_000;
const LARGEST = 10_000_000;
const SIZES = [SMALLEST, 200_000, MILLION, LARGEST];
const KEEP_TOKENS = 10_000;

const MIN_PLAIN_PASS = 100;
const MAX_IDLE_GROWTH = 2;
const MAX_METER_GROWTH = 5;
const MIN_PEER_RATIO = 10;
/** A library that takes longer than this does not count as one of the fastest rivals. */
const SLOWEST_RIVAL_MS = 200;
/**
 * Maximum exponent of the growth. The exponent of the linear yardstick plus `MAX_ABOVE_YARDSTICK` is a second
 * limit. The greater of the two limits applies.
 */
const MAX_EXPONENT = 1.1;
const MAX_ABOVE_YARDSTICK = 0.1;
const MAX_HEAP_GROWTH = 1.1;

export async function run({ isQuick }) {
  const conversations = (isQuick ? SIZES.slice(0, 3) : SIZES).map(materialOf);
  const sections = [
    await idleSection(conversations, isQuick),
    await peersSection(conversations, isQuick),
    await growthSection(conversations, isQuick),
    memorySection(isQuick),
  ];
  return {
    text: sections.map(({ text }) => text).join("\n"),
    claims: sections.flatMap(({ claims }) => claims),
  };
}

function materialOf(tokens) {
  const { entries: before, next } = conversationOf(tokens);
  const entries = [...before, next];
  const messages = flatten(entries);
  return { tokens, entries, before, next, messages, turns: turnsOf(entries), keepTokens: KEEP_TOKENS };
}

const sizeName = (size) => (size >= 1e6 ? `${size / 1e6}M` : `${size / 1e3}K`);
const headOf = (conversations) => [
  "conversation of … tokens",
  ...conversations.map(({ tokens }) => sizeName(tokens)),
];

async function idleSection(conversations, isQuick) {
  const rows = [];
  const measured = [];
  for (const { name, options } of VARIANTS) {
    const figures = await measureIdle(options, conversations, isQuick ? 8 : 20);
    measured.push(figures);
    rows.push({ ours: true, cells: [name, ...figures.before.map(milliseconds)] });
  }
  const [first] = measured;
  rows.push(
    { ours: true, cells: ["longhaul, the first of these on average", ...first.mean.map(milliseconds)] },
    { ours: true, cells: ["longhaul, after()", ...first.after.map(milliseconds)] },
    { cells: ["plain loop over everything, chars/4", ...first.plain.map(milliseconds)] },
  );
  const at = (tokens) => conversations.findIndex((conversation) => conversation.tokens === tokens);
  const largest = conversations.at(-1).tokens;
  return {
    text: table(
      "A turn that needs nothing: a call of 300 characters and its result of 1,000 are new",
      headOf(conversations),
      rows,
      [
        `Messages: ${conversations.map(({ messages }) => messages.length.toLocaleString("en")).join(", ")}. Each of the host's references is compared, in case it exchanged one.`,
        "Lower quartiles; the average has in it what a busy machine and the garbage collector take.",
      ],
    ),
    claims: [
      claim(
        "a turn that needs nothing, 1M tokens, against one plain chars/4 pass",
        `≥ ${MIN_PLAIN_PASS}× faster`,
        first.plain[at(MILLION)] / first.before[at(MILLION)],
        (ratio) => ratio >= MIN_PLAIN_PASS,
      ),
      claim(
        `a turn that needs nothing, ${sizeName(largest)} against 50K tokens`,
        `≤ ${MAX_IDLE_GROWTH}×`,
        first.before.at(-1) / first.before[at(SMALLEST)],
        (ratio) => ratio <= MAX_IDLE_GROWTH,
      ),
    ],
  };
}

async function peersSection(conversations, isQuick) {
  const peers = await loadPeers();
  const budgetMs = isQuick ? 100 : 250;
  for (const index of conversations.keys()) {
    for (const peer of peers) await measurePeer(peer, conversations, index, budgetMs);
  }
  const meter = peers[0].check;
  const million = conversations.findIndex(({ tokens }) => tokens === MILLION);
  const isClaimed = ({ ours, isBatch, isAllAtOnce }) => !ours || isBatch || isAllAtOnce;
  const rivals = peers.filter((peer) => isClaimed(peer) && peer.clear[million] < SLOWEST_RIVAL_MS);
  const clearing = await compareClearing(rivals, conversations[million], isQuick ? 60 : 200);
  const leastOf = (some) => Math.min(...some.map(({ name }) => clearing.get(name)));
  const bestPeer = leastOf(rivals.filter(({ ours }) => !ours));
  const batch = leastOf(rivals.filter(({ isBatch }) => isBatch));
  const allAtOnce = leastOf(rivals.filter(({ isAllAtOnce }) => isAllAtOnce));
  const isTenfold = (ratio) => ratio >= MIN_PEER_RATIO;
  const largest = sizeName(conversations.at(-1).tokens);
  return {
    text: [
      peersTable(
        "Knowing whether it is time to compact, with one new message",
        peers,
        "check",
        conversations,
      ),
      peersTable("Choosing old results of tools and clearing them", peers, "clear", conversations),
      peersTable(
        `Choosing what to keep: ${KEEP_TOKENS.toLocaleString("en")} recent tokens`,
        peers,
        "keep",
        conversations,
      ),
    ].join("\n"),
    claims: [
      claim(
        `ContextMeter on ${largest} against 50K tokens`,
        `≤ ${MAX_METER_GROWTH}×`,
        meter.at(-1) / meter[0],
        (ratio) => ratio <= MAX_METER_GROWTH,
      ),
      claim(
        "choosing and clearing the next batch, 1M tokens, against the fastest peer",
        `≥ ${MIN_PEER_RATIO}× faster`,
        bestPeer / batch,
        isTenfold,
      ),
      claim("… and all results at once", `≥ ${MIN_PEER_RATIO}× faster`, bestPeer / allAtOnce, isTenfold),
    ],
  };
}

function peersTable(title, peers, kind, conversations) {
  const rows = peers.filter((peer) => peer[kind].length > 0 || !peer.open);
  const cells = ({ name, version = "", ...peer }) => [
    version ? `${name} (${version})` : name,
    ...conversations.map((_, index) => milliseconds(peer[kind][index])),
  ];
  const best = (index, isOurs) =>
    Math.min(
      ...rows.filter((row) => Boolean(row.ours) === isOurs).map((row) => row[kind][index] ?? Infinity),
    );
  const ratios = conversations.map((_, index) => times(best(index, false) / best(index, true)));
  return table(
    title,
    headOf(conversations),
    [
      ...rows.map((peer) => ({ ours: peer.ours, cells: cells(peer) })),
      { cells: ["best peer's time ÷ longhaul's best", ...ratios] },
    ],
    [
      `— : would take more than ${PATIENCE_MS / 1000} s, or there is too little to do; medians; a call slower than the budget is measured once.`,
    ],
  );
}

async function growthSection(conversations, isQuick) {
  const rows = STEPS.map((step) => ({ step, ms: [] }));
  for (const { step } of rows) await warmUp(step, conversations[step.from === undefined ? 0 : 1]);
  for (const [index, conversation] of conversations.entries()) {
    for (const { step, ms } of rows) {
      if (conversation.tokens < (step.from ?? 0)) continue;
      ms[index] = await leastMs(step, conversation, samplesFor(conversation.tokens, isQuick));
    }
  }
  const sizes = conversations.map(({ tokens }) => tokens);
  const { ms: yardstick } = rows.find(({ step }) => step.isYardstick);
  for (const row of rows) {
    const isMeasured = (_, index) => row.ms[index] !== undefined;
    const exponentOf = (times) => growthExponent(sizes.filter(isMeasured), times.filter(isMeasured));
    row.exponent = exponentOf(row.ms);
    row.most = Math.max(MAX_EXPONENT, exponentOf(yardstick) + MAX_ABOVE_YARDSTICK);
  }
  const worst = rows.reduce((a, b) => (b.exponent - b.most > a.exponent - a.most ? b : a));
  return {
    text: table(
      "How each step grows",
      [...headOf(conversations), "exponent"],
      rows.map(({ step, ms, exponent }) => ({
        ours: !step.isYardstick,
        cells: [step.name, ...sizes.map((_, at) => milliseconds(ms[at])), exponent.toFixed(2)],
      })),
      [
        "Least of several calls, in the time that the process was given. Exponent 1 is linear, 2 is quadratic.",
        "The yardstick is linear: above 1, it shows what outgrowing the machine's caches costs.",
      ],
    ),
    claims: [
      claim(
        `growth of every step, worst (${worst.step.name})`,
        `exponent ≤ ${worst.most.toFixed(2)}`,
        worst.exponent,
        (exponent) => exponent <= worst.most,
        (exponent) => exponent.toFixed(2),
      ),
    ],
  };
}

function samplesFor(tokens, isQuick) {
  if (tokens >= LARGEST) return 2;
  return isQuick ? 4 : 8;
}

function memorySection(isQuick) {
  const turns = isQuick ? 2_000 : 6_000;
  const parts = 4;
  const rows = ["messages", "entries"].map((form) => ({ form, ...measureMemory({ turns, parts, form }) }));
  const growth = Math.max(...rows.map(({ bytes }) => bytes.at(-1) / bytes[bytes.length / 2 - 1]));
  return {
    text: table(
      `The heap in ${turns.toLocaleString("en")} turns on a window of 200K tokens, each time after a compaction`,
      ["form", "compactions", ...rows[0].bytes.map((_, part) => `${part + 1}/${parts}`)],
      rows.map(({ form, bytes, compactions }) => ({
        ours: true,
        cells: [
          `longhaul, ${form}`,
          String(compactions),
          ...bytes.map((each) => `${(each / 1e6).toFixed(1)} MB`),
        ],
      })),
    ),
    claims: [
      claim(
        "the heap at the end of these turns against the middle",
        `≤ ${MAX_HEAP_GROWTH}×`,
        growth,
        (ratio) => ratio <= MAX_HEAP_GROWTH,
      ),
    ],
  };
}
