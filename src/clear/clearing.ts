/** What is cleared, by whichever form: a decision, not yet carried out. Ids, names and counts only. */
export interface Clearing {
  readonly form: "size" | "time" | "cached" | "manual";
  /** Oldest first. */
  readonly results: readonly ClearedResult[];
  /** What all eligible results hold before and after it; placeholders that it leaves are counted. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Names of the tools concerned, sorted, each once. */
  readonly tools: readonly string[];
  /** Files whose reads are cleared: the host forgets that the agent has seen them. */
  readonly paths: readonly string[];
  /** Responses that begin at this entry or later were written after what is cleared. */
  readonly followedFrom: number;
}

export interface ClearedResult {
  readonly id: string;
  readonly tool: string;
  readonly tokens: number;
  readonly entryIndex: number;
  /** Entries that hold the same result again. */
  readonly repeatedAt?: readonly number[];
  /** The file, where the result is what a read showed of it. */
  readonly path?: string;
}
