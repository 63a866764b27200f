/** When notes are taken: in tokens of the conversation, and in tool calls. */
export interface GrowthThresholds {
  /** Grown by so much before the first time: a short conversation may never need notes. */
  readonly firstTokens: number;
  /** And by so much after each. */
  readonly nextTokens: number;
  readonly toolCalls: number;
}

/** For the usual windows; smaller ones have the tokens in proportion. */
export const NOTES_GROWTH: GrowthThresholds = Object.freeze({
  firstTokens: 10_000,
  nextTokens: 5_000,
  toolCalls: 3,
});

/** Decides whether one conversation has grown enough since its notes were last taken. */
export class NotesGrowth {
  readonly #thresholds: GrowthThresholds;
  #isFirst = true;
  #tokensThen = 0;
  #tokens = 0;
  #callsSince = 0;
  #callsInLast = 0;

  constructor(thresholds: GrowthThresholds = NOTES_GROWTH) {
    this.#thresholds = thresholds;
  }

  /** After each response: the tokens of the whole conversation with it, and the calls that it makes. */
  responded({ tokens, toolCalls }: { readonly tokens: number; readonly toolCalls: number }): void {
    this.#tokens = tokens;
    // A compaction: counted from the old size, the conversation would seem to have shrunk for a long time.
    this.#tokensThen = Math.min(this.#tokensThen, tokens);
    this.#callsSince += toolCalls;
    this.#callsInLast = toolCalls;
  }

  /** A pause in the work, or enough work done; in the middle of a few calls the notes would soon be old. */
  isDue(): boolean {
    const { firstTokens, nextTokens, toolCalls } = this.#thresholds;
    const grownTokens = this.#tokens - this.#tokensThen;
    if (grownTokens < (this.#isFirst ? firstTokens : nextTokens)) return false;
    return this.#callsSince >= toolCalls || this.#callsInLast === 0;
  }

  /**
   * Notes are being taken of what there is now. Whatever becomes of it: one that failed would otherwise be tried
   * again after every response.
   */
  begun(): void {
    this.#isFirst = false;
    this.#tokensThen = this.#tokens;
    this.#callsSince = 0;
  }
}
