// Measures two things for each counter: the error by type of text, and the speed on a mixed agent
// conversation.
import { tsImport } from "tsx/esm/api";
import { READ_WHOLE } from "../packages/core/src/measure/tokens/estimate/scan.ts";
import { claim } from "./claims.mjs";
import { growthOnRealSessions } from "./growth.mjs";
import { collectGarbage, median, medianMs } from "./measure.mjs";
import { loadCounters } from "./peers/counters.mjs";
import { signedPercent, table, times } from "./table.mjs";

const MAX_ERROR = 0.1;
const MAX_ERROR_ON_MIX = 0.05;
const MIN_SPEEDUP = 10;
const ROUNDS = 3;
/** Number of different texts. Some counters cache words, so repeating one text would cost them little. */
const MIXES = 40;
const MIX_LENGTH = 200_000;
const FIRST_SEED = 1_000;
/** Messages of a conversation are short, so a counter gains nothing if it samples or caps long texts. */
const LONGEST_MESSAGE = 4_000;

const SHORT_NAMES = {
  english: "English",
  typescript: "TS",
  chinese: "zh",
  chineseEnglish: "zh+en",
  japanese: "ja",
  korean: "ko",
  russian: "ru",
  minifiedJs: "min.js",
};

export async function run({ isQuick }) {
  const { corpora, GENERATORS } = await tsImport("../test/corpora/index.ts", import.meta.url);
  const texts = Object.entries(corpora());
  const mixes = Array.from({ length: MIXES }, (_, index) =>
    asRead(GENERATORS.mix(MIX_LENGTH, FIRST_SEED + index)),
  );
  const speedTexts = { messages: mixes.map(messagesOf), "one text": mixes.map((mix) => [mix]) };
  const budgetMs = isQuick ? 40 : 120;
  const sections = [];
  for (const vocabulary of ["o200k", "claude"]) {
    sections.push(await compare(vocabulary, texts, speedTexts, budgetMs));
  }
  sections.push(await growthOnRealSessions());
  return {
    text: sections.map(({ text }) => text).join("\n"),
    claims: sections.flatMap(({ claims }) => claims),
  };
}

/** Copies a text into one flat string. The original may be a rope of slices, which is slower to read. */
const asRead = (text) => Buffer.from(text).toString();

/** Joins lines up to the maximum message length. */
function messagesOf(mix) {
  const messages = [];
  let message = "";
  for (const line of mix.split("\n")) {
    if (message !== "" && message.length + line.length > LONGEST_MESSAGE) {
      messages.push(message);
      message = "";
    }
    message += `${line}\n`;
  }
  return [...messages, message].map(asRead);
}

async function compare(vocabulary, texts, speedTexts, budgetMs) {
  const counters = await loadCounters(vocabulary);
  const exact = counters.find((counter) => counter.isExact);
  for (const counter of counters) {
    if (!counter.count) continue;
    counter.errors = texts.map(([kind, text]) =>
      errorOf(counter, exact, kind === "mix" ? messagesOf(text) : [text]),
    );
  }
  await measureSpeeds(counters, speedTexts, budgetMs);
  const kinds = texts.map(([kind]) => kind);
  return {
    text: [errorTable(vocabulary, kinds, counters), speedTable(vocabulary, counters, speedTexts)].join("\n"),
    claims: claimsOf(vocabulary, kinds, counters),
  };
}

/** Interleaves the counters, so that a busy moment of the machine affects all of them. */
async function measureSpeeds(counters, speedTexts, budgetMs) {
  const ready = counters.filter((counter) => counter.count);
  for (const counter of ready) counter.speeds = {};
  for (const [way, pool] of Object.entries(speedTexts)) {
    const samples = new Map(ready.map((counter) => [counter, []]));
    for (let round = 0; round < ROUNDS; round++) {
      collectGarbage();
      for (const [counter, taken] of samples) taken.push(await speedOf(counter.count, pool, budgetMs));
    }
    for (const [counter, taken] of samples) counter.speeds[way] = median(taken);
  }
}

const total = (count, parts) => parts.reduce((sum, part) => sum + count(part), 0);

function errorOf(counter, exact, parts) {
  return exact?.count ? total(counter.count, parts) / total(exact.count, parts) - 1 : Number.NaN;
}

/** Returns the megabytes of UTF-8 per second. Each call gets the next text of the pool. */
async function speedOf(count, pool, budgetMs) {
  const bytes = pool.flat().reduce((sum, part) => sum + Buffer.byteLength(part), 0) / pool.length;
  const prepare = () => {
    pool.push(pool.shift());
    return pool[0];
  };
  return bytes / 1000 / (await medianMs((parts) => total(count, parts), { prepare, budgetMs, samples: 3 }));
}

function errorTable(vocabulary, kinds, counters) {
  const rows = counters.map(({ ours, name, errors }) => ({
    ours,
    cells: [name, ...(errors ?? []).map(signedPercent)],
  }));
  const head = ["counter", ...kinds.map((kind) => SHORT_NAMES[kind] ?? kind)];
  return table(`Counting: relative error against the exact count of ${vocabulary}`, head, rows);
}

function speedTable(vocabulary, counters, speedTexts) {
  const names = Object.keys(speedTexts);
  const ourSpeeds = counters.find((counter) => counter.ours).speeds;
  const rows = counters.map(({ ours, name, speeds }) => {
    const cells = names.flatMap((way) =>
      speeds
        ? [
            megabytesPerSecond(speeds[way]),
            ours || isInstant(speeds[way]) ? "" : times(ourSpeeds[way] / speeds[way]),
          ]
        : ["", ""],
    );
    return { ours, cells: [name, ...cells] };
  });
  const head = ["counter", ...names.flatMap((way) => [`MB/s, ${way}`, "ours is"])];
  return table(`Counting: speed on the mixed agent conversation (${vocabulary})`, head, rows, [
    `messages: in pieces of up to ${LONGEST_MESSAGE} characters, as a conversation comes; one text: all in one string,`,
    `where longhaul reads samples beyond ${READ_WHOLE} characters. The error of the mix is that of its messages.`,
  ]);
}

/**
 * Returns true for a counter that uses only the length of a text. The speed of such a counter is not
 * meaningful.
 */
const isInstant = (speed) => speed > 10_000;
const megabytesPerSecond = (speed) => (isInstant(speed) ? "∞" : String(Number(speed.toPrecision(3))));

function claimsOf(vocabulary, kinds, counters) {
  const ours = counters.find((counter) => counter.ours);
  const rivals = counters.filter((counter) => counter.isRival && counter.speeds);
  const worst = kinds
    .map((kind, index) => ({ kind, error: Math.abs(ours.errors[index]) }))
    .filter(({ kind }) => kind !== "mix")
    .reduce((a, b) => (b.error > a.error ? b : a));
  const errorOnMix = Math.abs(ours.errors[kinds.indexOf("mix")]);
  const speedup = (way) => ours.speeds[way] / Math.max(...rivals.map(({ speeds }) => speeds[way]));
  const percent = (share) => `${(share * 100).toFixed(1)}%`;
  return [
    claim(
      `${vocabulary}: largest error of a kind (${worst.kind})`,
      "≤ 10%",
      worst.error,
      (error) => error <= MAX_ERROR,
      percent,
    ),
    claim(
      `${vocabulary}: error on the mix`,
      "≤ 5%",
      errorOnMix,
      (error) => error <= MAX_ERROR_ON_MIX,
      percent,
    ),
    ...Object.keys(ours.speeds).map((way) =>
      claim(
        `${vocabulary}: as fast as the fastest peer, mix as ${way}`,
        `≥ ${MIN_SPEEDUP}×`,
        speedup(way),
        (ratio) => ratio >= MIN_SPEEDUP,
      ),
    ),
  ];
}
