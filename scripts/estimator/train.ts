/**
 * Writes the tables of packages/core/src/measure/tokens/estimate from a folder of texts and the vocabularies of ai-tokenizer:
 *
 *   npx tsx scripts/estimator/train.ts FOLDER
 *
 * Every feature first gets the mean number of tokens that begin at it. As features share buckets and kinds of
 * text differ, whole passages are then still off by some percent; the second step moves the weights, the
 * uncertain ones most, until passages come out right.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "ai-tokenizer";
import * as claude from "ai-tokenizer/encoding/claude";
import * as o200k from "ai-tokenizer/encoding/o200k_base";
import { CJK, KIND } from "../../packages/core/src/measure/tokens/estimate/characters.ts";
import { scanUntil } from "../../packages/core/src/measure/tokens/estimate/estimate.ts";
import * as layout from "../../packages/core/src/measure/tokens/estimate/learned-tables.ts";
import {
  type PackedTables,
  unpackWeights,
  WEIGHT_UNIT,
} from "../../packages/core/src/measure/tokens/estimate/learned-tables.ts";
import { type Encoding, type Passage, readCorpus } from "./corpus.ts";
import { type Sets, visitFeatures } from "./features.ts";
import { packSet, packWeights } from "./pack.ts";

interface Plan {
  readonly name: string;
  readonly encoding: Encoding;
  /** Words taken by how often they occur in the corpus, and by how early they entered the vocabulary. */
  readonly frequentWords: number;
  readonly earlyWords: number;
  readonly earlyCyrillic: number;
}

const PLANS: readonly Plan[] = [
  { name: "o200k", encoding: o200k, frequentWords: 5500, earlyWords: 9000, earlyCyrillic: 8000 },
  { name: "claude", encoding: claude, frequentWords: 5500, earlyWords: 7000, earlyCyrillic: 0 },
];
const LONGEST_CJK_MATCH = 4;
const EPOCHS = 4;
const FIRST_RATE = 0.15;
const AVERAGED_EVERY = 64;

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: train.ts FOLDER");
writeFileSync(
  join(import.meta.dirname, "../../packages/core/src/measure/tokens/estimate/packed-tables.ts"),
  [
    "// Written by scripts/estimator/train.ts; not to be edited by hand.",
    'import type { PackedTables } from "./learned-tables.ts";',
    "",
    'export const PACKED_TABLES: Readonly<Record<"o200k" | "claude", PackedTables>> = {',
    ...PLANS.map((plan) => `  ${plan.name}: {\n${packed(train(plan, folder))}  },`),
    "};\n",
  ].join("\n"),
);

function packed(tables: PackedTables): string {
  return Object.entries(tables)
    .map(([table, text]) => `    ${table}:\n      "${text}",\n`)
    .join("");
}

function train(plan: Plan, corpusFolder: string): PackedTables {
  const passages = readCorpus(corpusFolder, plan.encoding);
  const sets: Sets = { words: bitmap(wordHashes(plan, passages)), cjk: bitmap(cjkHashes(plan.encoding)) };
  const { weights, variances } = means(plan, passages, sets);
  refine(weights, variances, passages, sets);
  const packedWeights = packWeights(weights);
  checkAgreement(packedWeights, passages, sets);
  return { weights: packedWeights, words: packSet(sets.words), cjk: packSet(sets.cjk) };
}

function bitmap(hashes: Iterable<number>): Uint8Array {
  const places = new Uint8Array(1 << layout.SET_BITS);
  for (const hash of hashes) places[layout.placeInSet(hash)] = 1;
  return places;
}

function hashOfWord(word: string): number {
  let hash = 0;
  for (let at = 0; at < word.length; at++) hash = layout.stepWord(hash, word.charCodeAt(at));
  return hash;
}

/** Words that are one token: single letters, what the corpus is full of, what the vocabulary learned early. */
function wordHashes(plan: Plan, passages: readonly Passage[]): Set<number> {
  const seen = new Map<number, { weight: number; splits: number; passages: number; lastPassage: Passage }>();
  const none: Sets = { words: bitmap([]), cjk: bitmap([]) };
  for (const passage of passages) {
    const word = (hash: number, from: number, to: number): void => {
      if (to - from < 2 || passage.text.charCodeAt(from) > 127) return;
      const entry = seen.get(hash) ?? { weight: 0, splits: 0, passages: 0, lastPassage: passage };
      if (entry.lastPassage !== passage || entry.passages === 0) entry.passages++;
      entry.lastPassage = passage;
      entry.weight += passage.weight;
      for (let at = from + 1; at < to; at++) entry.splits += passage.weight * (passage.starts[at] ?? 0);
      seen.set(hash, entry);
    };
    visitFeatures(passage.text, none, { feature: () => undefined, word });
  }
  const frequent = [...seen]
    .filter(([, entry]) => entry.splits / entry.weight < 0.12 && entry.passages >= 3)
    .sort(([, one], [, other]) => other.weight - one.weight)
    .slice(0, plan.frequentWords);
  const early = (pattern: RegExp, count: number): string[] =>
    Object.entries(plan.encoding.stringEncoder)
      .filter(([token]) => pattern.test(token))
      .sort(([, one], [, other]) => one - other)
      .slice(0, count)
      .map(([token]) => token.trim());
  const spelled = [
    ...early(/^[A-Za-z]$/, 52),
    ...early(/^ [A-Za-z]?[a-z]+$/, plan.earlyWords),
    ...early(/^ [А-Яа-яё]{2,}$/, plan.earlyCyrillic),
  ];
  return new Set([...frequent.map(([hash]) => hash), ...spelled.map(hashOfWord)]);
}

/** Every beginning of every token of CJK characters, with and without the space that may lead it. */
function cjkHashes(encoding: Encoding): Set<number> {
  const hashes = new Set<number>();
  for (const token of Object.keys(encoding.stringEncoder)) {
    const spaced = token.startsWith(" ");
    const characters = spaced ? token.slice(1) : token;
    if (characters.length === 0 || characters.length > LONGEST_CJK_MATCH) continue;
    if (![...characters].every((character) => KIND[character.charCodeAt(0)] === CJK)) continue;
    let hash = spaced ? layout.stepCjk(0, 32) : 0;
    for (let at = 0; at < characters.length; at++) {
      hash = layout.stepCjk(hash, characters.charCodeAt(at));
      hashes.add(hash);
    }
  }
  return hashes;
}

/** What a slot is worth before any text has been seen, and how many characters of text outweigh that. */
function priors(plan: Plan): { value: Float64Array; weight: Float64Array } {
  const tokenizer = new Tokenizer(plan.encoding as ConstructorParameters<typeof Tokenizer>[0]);
  const alone = (point: number): number => tokenizer.count(String.fromCodePoint(point));
  const value = new Float64Array(layout.WEIGHTS).fill(0.5);
  const weight = new Float64Array(layout.WEIGHTS).fill(0.02);
  const set = (slot: number, known: number, strength: number): void => {
    value[slot] = known;
    weight[slot] = strength;
  };
  for (let block = 2; block < 1024; block++) {
    if (block >= 0xd800 >> 6 && block < 0xe000 >> 6) continue;
    const costs = Array.from({ length: 64 }, (_, index) => alone(block * 64 + index));
    set(layout.BLOCKS_AT + block, costs.reduce((sum, cost) => sum + cost) / 64, 0.05);
  }
  for (const [from, to] of [
    [0x80, 0xc0],
    [0x2000, 0x2800],
    [0xfe00, 0xfe10],
  ] as const) {
    for (let point = from; point < to; point++) set(layout.symbolSlot(point), alone(point), 0.01);
  }
  // Emoji are rare in any corpus and stand alone in any text: what the vocabulary says is final.
  for (let index = 0; index < layout.EMOJI_COUNT; index++) {
    set(layout.EMOJI_AT + index, alone(layout.EMOJI_FIRST + index), Number.MAX_SAFE_INTEGER);
  }
  set(layout.LONE_SURROGATE_AT, alone(0xfffd), 0.01);
  set(layout.OTHER_ASTRAL_AT, (alone(0x20000) + alone(0x1d400)) / 2, 0.05);
  set(layout.DIGITS_AT, 0, Number.MAX_SAFE_INTEGER);
  for (let slot = layout.LONG_RUN_AT; slot < layout.WEIGHTS; slot++) set(slot, 0.1, 0.02);
  return { value, weight };
}

function means(
  plan: Plan,
  passages: readonly Passage[],
  sets: Sets,
): { weights: Float64Array; variances: Float64Array } {
  const prior = priors(plan);
  const [seen, tokens, squares] = [
    prior.weight.slice(),
    prior.value.map((value, slot) => value * (prior.weight[slot] ?? 0)),
    new Float64Array(layout.WEIGHTS),
  ];
  const spaced = { expected: 0, found: 0 };
  const add = (to: Float64Array, slot: number, amount: number): void => {
    to[slot] = (to[slot] ?? 0) + amount;
  };
  for (const { text, weight, starts } of passages) {
    const feature = (slot: number, from: number, to: number, factor: number): void => {
      let count = 0;
      for (let at = from; at < to; at++) count += starts[at] ?? 0;
      if (factor === 0) {
        spaced.expected += weight * (prior.value[slot] ?? 0);
        spaced.found += weight * count;
      }
      add(seen, slot, weight);
      add(tokens, slot, weight * count);
      add(squares, slot, weight * count * count);
    };
    visitFeatures(text, sets, { feature }, 0);
  }
  const weights = tokens.map((sum, slot) => sum / (seen[slot] ?? 1));
  weights[layout.AFTER_SPACE_AT] = spaced.expected > 0 ? spaced.found / spaced.expected : 1;
  const variances = weights.map(
    (mean, slot) => Math.max(0, (squares[slot] ?? 0) / (seen[slot] ?? 1) - mean ** 2) + 0.002,
  );
  // Long runs say too little about passages to be moved by them.
  variances.fill(0, layout.LONG_RUN_AT);
  // Exact ones stay: emoji, and digits where three of them are always one token.
  variances.fill(0, layout.EMOJI_AT, layout.AFTER_SPACE_AT + 1);
  if (plan.name === "o200k") variances.fill(0, layout.DIGITS_AT, layout.DIGITS_AT + layout.DIGIT_GROUP + 1);
  return { weights, variances };
}

/** Stochastic descent on the relative error of passages, drawn by their weights from a fixed sequence. */
function refine(
  weights: Float64Array,
  variances: Float64Array,
  passages: readonly Passage[],
  sets: Sets,
): void {
  const examples = passages.flatMap((passage) => {
    const counts = new Map<number, number>();
    const feature = (slot: number, _from: number, _to: number, factor: number): void => {
      counts.set(slot, (counts.get(slot) ?? 0) + factor);
    };
    visitFeatures(passage.text, sets, { feature }, weights[layout.AFTER_SPACE_AT]);
    const tokens = passage.starts.reduce((sum, count) => sum + count, 0);
    return tokens > 20
      ? [
          {
            slots: [...counts.keys()],
            counts: [...counts.values()],
            tokens,
            weight: passage.weight * passage.text.length,
          },
        ]
      : [];
  });
  let total = 0;
  const cumulated = examples.map((example) => (total += example.weight));
  const steps = EPOCHS * examples.length;
  let random = 1;
  const later = { sums: new Float64Array(weights.length), count: 0 };
  for (let step = 0; step < steps; step++) {
    random = layout.scramble(random);
    const example = examples[firstAtLeast(cumulated, (random / 2 ** 32) * total)];
    if (example === undefined) continue;
    let [estimate, leverage] = [0, 1e-9];
    example.slots.forEach((slot, index) => {
      const count = example.counts[index] ?? 0;
      estimate += (weights[slot] ?? 0) * count;
      leverage += count * count * (variances[slot] ?? 0);
    });
    const move = (FIRST_RATE * (1 - (0.9 * step) / steps) * (estimate - example.tokens)) / leverage;
    example.slots.forEach((slot, index) => {
      const change = move * (example.counts[index] ?? 0) * (variances[slot] ?? 0);
      weights[slot] = Math.max(0, (weights[slot] ?? 0) - change);
    });
    if (step > steps / 2 && step % AVERAGED_EVERY === 0) {
      later.count++;
      for (const [slot, weight] of weights.entries()) later.sums[slot] = (later.sums[slot] ?? 0) + weight;
    }
  }
  // Single steps jump about; their mean does not.
  weights.set(later.sums.map((sum) => sum / later.count));
}

function firstAtLeast(ascending: readonly number[], wanted: number): number {
  let [low, high] = [0, ascending.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

function checkAgreement(packed: string, passages: readonly Passage[], sets: Sets): void {
  const weights = unpackWeights(packed);
  const afterSpace = (weights[layout.AFTER_SPACE_AT] ?? 0) / WEIGHT_UNIT;
  for (const { text } of passages.slice(0, 2000)) {
    let sum = 0;
    const feature = (slot: number, _from: number, _to: number, factor: number): void => {
      sum += (weights[slot] ?? 0) * factor;
    };
    visitFeatures(text, sets, { feature }, afterSpace);
    const cursor = { length: text.length, at: 0, last: 10, secondLast: 10, noise: 0, known: 1 };
    const scanned = scanUntil(text, text.length, cursor, { weights, ...sets });
    if (Math.abs(scanned - sum) > WEIGHT_UNIT / 8)
      throw new Error(`features.ts and estimate.ts disagree on: ${text.slice(0, 80)}`);
  }
}
