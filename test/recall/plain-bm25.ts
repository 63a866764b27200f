/**
 * Plain BM25, for comparison with recall. It shares no code with recall: it has its own words, passages and
 * ranking. It knows no stop words, no word stems, no authors and no neighbors.
 */

/** Usual parameters of BM25. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
/** Length of a passage. It is about as long as an excerpt on a page of 16 hits with 4,000 tokens. */
const PASSAGE_CHARACTERS = 1_000;

/** Part of a text of an entry. */
export interface Passage {
  readonly uuid: string;
  readonly text: string;
}

interface IndexedPassage extends Passage {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Ranks the passages of a session by plain BM25. */
export class PlainBm25 {
  readonly #passages: IndexedPassage[] = [];
  readonly #frequencies = new Map<string, number>();
  #words = 0;

  constructor(blocks: Iterable<{ readonly uuid: string; readonly text: string }>) {
    for (const { uuid, text } of blocks) {
      for (let from = 0; from < text.length; ) {
        const to = passageEnd(text, from);
        this.#add({ uuid, text: text.slice(from, to) });
        from = to;
      }
    }
  }

  search(question: string, limit: number): readonly Passage[] {
    const words = [...new Set(wordsOf(question))];
    const average = this.#words / Math.max(1, this.#passages.length);
    const scored = this.#passages.map((passage) => ({
      passage,
      score: this.#score(passage, words, average),
    }));
    const found = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
    return found.slice(0, limit).map(({ passage }) => passage);
  }

  #add(passage: Passage): void {
    const words = wordsOf(passage.text);
    const counts = new Map<string, number>();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const word of counts.keys()) this.#frequencies.set(word, (this.#frequencies.get(word) ?? 0) + 1);
    this.#passages.push({ ...passage, counts, length: words.length });
    this.#words += words.length;
  }

  #score({ counts, length }: IndexedPassage, words: readonly string[], average: number): number {
    let score = 0;
    for (const word of words) {
      const count = counts.get(word) ?? 0;
      if (count === 0) continue;
      const frequency = this.#frequencies.get(word) ?? 0;
      const rarity = Math.log(1 + (this.#passages.length - frequency + 0.5) / (frequency + 0.5));
      const room = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / average);
      score += (rarity * count * (SATURATION + 1)) / (count + room);
    }
    return score;
  }
}

/** Ends a passage at the end of a line, if one is near. */
function passageEnd(text: string, from: number): number {
  const most = from + PASSAGE_CHARACTERS;
  if (most >= text.length) return text.length;
  const newline = text.lastIndexOf("\n", most - 1) + 1;
  return newline > from + PASSAGE_CHARACTERS / 2 ? newline : most;
}
