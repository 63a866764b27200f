/** Reads the training texts, and finds the positions in them at which the exact tokens begin. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "ai-tokenizer";

export interface Encoding {
  readonly stringEncoder: Record<string, number>;
  readonly decoder: Record<number, string | Uint8Array>;
}

export interface Passage {
  readonly text: string;
  /** Weight of this passage. The passages of a kind of text share the weight of that kind. */
  readonly weight: number;
  /** Number of tokens that begin within each character. */
  readonly starts: Uint8Array;
}

/**
 * Length of a passage. It is long enough to be typical of a text, and short enough that its error shows which
 * features are wrong.
 */
const PASSAGE = 1500;

/**
 * Reads a corpus. It has one folder per kind and one text per file. An optional weights.json has the weight
 * of each kind. The weights replace the sizes of the texts, because some kinds have more text than others.
 */
export function readCorpus(folder: string, encoding: Encoding): readonly Passage[] {
  const tokenizer = new Tokenizer(encoding as ConstructorParameters<typeof Tokenizer>[0]);
  const weightsFile = join(folder, "weights.json");
  const weights: Record<string, number> = existsSync(weightsFile)
    ? JSON.parse(readFileSync(weightsFile, "utf8"))
    : {};
  const passages: Passage[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const texts = readdirSync(join(folder, entry.name)).map((file) =>
      readFileSync(join(folder, entry.name, file), "utf8"),
    );
    const size = texts.reduce((sum, text) => sum + text.length, 0);
    const perCharacter = ((weights[entry.name] ?? 1) / size) * 1e6;
    for (const text of texts) passages.push(...cut(text, perCharacter, encoding, tokenizer));
  }
  return passages;
}

function cut(text: string, perCharacter: number, encoding: Encoding, tokenizer: Tokenizer): Passage[] {
  const starts = tokenStarts(text, encoding, tokenizer);
  const count = Math.max(1, Math.round(text.length / PASSAGE));
  const size = Math.floor(text.length / count);
  return Array.from({ length: count }, (_, index) => {
    const from = index * size;
    return {
      text: text.slice(from, from + size),
      weight: perCharacter,
      starts: starts.subarray(from, from + size),
    };
  });
}

function tokenStarts(text: string, encoding: Encoding, tokenizer: Tokenizer): Uint8Array {
  const characterOfByte: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const low = code >= 0xdc00 && code < 0xe000;
    const bytes = low ? 0 : code >= 0xd800 && code < 0xdc00 ? 4 : code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
    for (let byte = 0; byte < bytes; byte++) characterOfByte.push(at);
  }
  const starts = new Uint8Array(text.length);
  let byte = 0;
  for (const token of tokenizer.encode(text, "all")) {
    const at = characterOfByte[Math.min(byte, characterOfByte.length - 1)] ?? 0;
    starts[at] = (starts[at] ?? 0) + 1;
    const piece = encoding.decoder[token] ?? "";
    byte += typeof piece === "string" ? Buffer.byteLength(piece) : piece.length;
  }
  return starts;
}
