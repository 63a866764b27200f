/**
 * Texts for evaluating token estimates, one for each kind of text. They are equal on every machine and
 * written by us.
 */
import { base64Corpus } from "./base64.ts";
import { chineseCorpus, chineseEnglishCorpus } from "./chinese.ts";
import { minifiedCorpus, typescriptCorpus } from "./code.ts";
import { conversationCorpus } from "./conversation.ts";
import { emojiCorpus } from "./emoji.ts";
import { englishProse } from "./english.ts";
import { japaneseCorpus } from "./japanese.ts";
import { jsonCorpus } from "./json.ts";
import { koreanCorpus } from "./korean.ts";
import { logsCorpus } from "./logs.ts";
import { russianCorpus } from "./russian.ts";

export type KindName =
  | "english"
  | "typescript"
  | "json"
  | "logs"
  | "base64"
  | "chinese"
  | "chineseEnglish"
  | "japanese"
  | "korean"
  | "russian"
  | "emoji"
  | "minifiedJs"
  | "mix";

/**
 * Number of characters of each text. It is large enough that single sentences do not matter, and small enough
 * to count the tokens exactly in a test.
 */
const LENGTH = 60_000;
const MIX_LENGTH = 200_000;

/**
 * Generators for each kind of text. Each generator returns at least `length` characters. Different seeds
 * return different texts.
 */
export const GENERATORS: Readonly<Record<KindName, (length: number, seed?: number) => string>> = {
  english: englishProse,
  typescript: typescriptCorpus,
  json: jsonCorpus,
  logs: logsCorpus,
  base64: base64Corpus,
  chinese: chineseCorpus,
  chineseEnglish: chineseEnglishCorpus,
  japanese: japaneseCorpus,
  korean: koreanCorpus,
  russian: russianCorpus,
  emoji: emojiCorpus,
  minifiedJs: minifiedCorpus,
  mix: conversationCorpus,
};

export function corpora(): Record<KindName, string> {
  const kinds = Object.entries(GENERATORS) as [KindName, (length: number) => string][];
  const made = kinds.map(([kind, make]) => [kind, make(kind === "mix" ? MIX_LENGTH : LENGTH)]);
  return Object.fromEntries(made) as Record<KindName, string>;
}
