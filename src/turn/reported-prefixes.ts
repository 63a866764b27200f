import type { AssistantEntry, Entry } from "../conversation/entry.ts";
import { CLEARED_FIELD, isEntry, PREFIX_FIELD } from "../conversation/entry.ts";
import { clearedBefore, inputTokens } from "../conversation/reported-usage.ts";
import { field } from "../conversation/untrusted.ts";
import { extended, hash } from "./message-digest.ts";
import { isReport } from "./usage-trust.ts";

/** The newest reports. An older one is never the newest of a conversation again. */
const MOST_REPORTS = 4_096;
const EMPTY: Prefix = { length: 0, digest: 0, tokens: 0 };

/** Hosts exchange a reminder here and there. A list that differs by more than this is another one. */
const SMALL_CHANGE = { share: 0.05, tokens: 500 } as const;

/** The beginning of a conversation: how many entries, a digest of what they are, and their estimated tokens. */
export interface Prefix {
  readonly length: number;
  readonly digest: number;
  readonly tokens: number;
}

interface Reported extends Prefix {
  /** The entries are those before the response, not those of the request that it answers. */
  readonly isExact: boolean;
  /** Tokens of the request that the provider cleared and did not report. */
  readonly clearedTokens: number;
}

/** A response, and the request that it answers. */
interface Answered {
  readonly to: Prefix;
  readonly clearedTokens: number;
}

/** No beginning of a conversation has this length, so only the tokens are compared. */
const UNKNOWN_ENTRIES = { length: -1, digest: 0, isExact: false } as const;

/**
 * A reported usage is the size of one exact request. It counts only in a conversation that starts with the entries of
 * that request, or with nearly those. Entries are compared by id and size, so that adding one costs nothing. Lines of
 * the session file carry the tokens of these entries, so that a new process knows them. A report without a record is
 * trusted.
 */
export class ReportedPrefixes {
  /** Of no entry, of the first, of the first two, … */
  #prefixes: Prefix[] = [EMPTY];
  /** By the response's id, which copies of its message share. */
  readonly #reports = new Map<string, Reported>();
  /** The newest response that was compared. Entries between its parts change nothing. */
  #compared: { readonly key: string | undefined; readonly grown: number | undefined } | undefined;

  /** All entries so far. */
  get whole(): Prefix {
    return this.#prefixes.at(-1) ?? EMPTY;
  }

  /** The conversation is read again. */
  restart(): void {
    this.#prefixes = [EMPTY];
    this.#compared = undefined;
  }

  add({ uuid = "" }: Entry, estimate: number): void {
    const { length, digest, tokens } = this.whole;
    const own = extended(hash(uuid), Math.round(estimate));
    this.#prefixes.push({ length: length + 1, digest: extended(digest, own), tokens: tokens + estimate });
  }

  /** The response in this entry answered the conversation `to`. */
  answered(entry: Entry, { to, clearedTokens }: Answered): void {
    if (entry.type === "assistant") this.#remember(keyOf(entry), { ...to, isExact: false, clearedTokens });
  }

  /** The same for a response that the host wrote as an entry by itself. A report that is known stays as it is. */
  answeredFirst(entry: AssistantEntry, answer: Answered): void {
    if (!this.#reports.has(keyOf(entry) ?? "")) this.answered(entry, answer);
  }

  /** Tokens of the request that the usage in this entry does not include, because the provider cleared them. */
  clearedBefore(entry: AssistantEntry): number {
    return this.#reports.get(keyOf(entry) ?? "")?.clearedTokens ?? clearedBefore(entry);
  }

  /** The entry with a record of the conversation that its usage is about; the entry itself if nothing is known. */
  asLine(entry: Entry): Entry {
    if (!isEntry(entry) || !isReport(entry) || recordedTokens(entry) !== undefined) return entry;
    const reported = this.#reports.get(keyOf(entry) ?? "");
    if (reported === undefined) return entry;
    const { tokens, clearedTokens } = reported;
    const cleared = clearedTokens === 0 ? {} : { [CLEARED_FIELD]: clearedTokens };
    const fields: object = { [PREFIX_FIELD]: Math.round(tokens), ...cleared };
    return { ...entry, ...fields };
  }

  /**
   * The estimated tokens by which the entries so far have grown since the usage in the next entry was reported for
   * them. Undefined where it was reported for another conversation.
   *
   * @param isRecordOld entries before this one were cleared or collapsed since, so the record in its line is no measure.
   */
  grownSince(entry: AssistantEntry, isRecordOld = false): number | undefined {
    const key = keyOf(entry);
    if (key !== undefined && key === this.#compared?.key) return this.#compared.grown;
    const known = key === undefined ? undefined : this.#reports.get(key);
    const clearedTokens = this.clearedBefore(entry);
    const recorded = isRecordOld ? undefined : this.#recordIn(entry, clearedTokens);
    const grown = this.#compare(key, known ?? recorded, clearedTokens);
    this.#compared = { key, grown };
    return grown;
  }

  #compare(
    key: string | undefined,
    reported: Reported | undefined,
    clearedTokens: number,
  ): number | undefined {
    if (reported !== undefined && this.#prefixes[reported.length]?.digest !== reported.digest) {
      this.#remember(key, reported);
      const grown = this.whole.tokens - reported.tokens;
      const most = Math.max(SMALL_CHANGE.tokens, reported.tokens * SMALL_CHANGE.share);
      return Math.abs(grown) <= most ? grown : undefined;
    }
    if (!reported?.isExact) this.#remember(key, { ...this.whole, isExact: true, clearedTokens });
    return 0;
  }

  #recordIn(entry: AssistantEntry, clearedTokens: number): Reported | undefined {
    const tokens = recordedTokens(entry);
    if (tokens === undefined || tokens === Math.round(this.whole.tokens)) return undefined;
    return { ...UNKNOWN_ENTRIES, tokens, clearedTokens };
  }

  #remember(key: string | undefined, prefix: Reported): void {
    if (key === undefined) return;
    this.#reports.delete(key);
    this.#reports.set(key, prefix);
    const [oldest] = this.#reports.keys();
    if (this.#reports.size > MOST_REPORTS && oldest !== undefined) this.#reports.delete(oldest);
  }
}

/** With the figure, because some hosts give every response the same id. */
function keyOf({ uuid, message }: AssistantEntry): string | undefined {
  const id = message.id ?? uuid;
  return id === undefined
    ? undefined
    : `${id} ${message.usage === undefined ? 0 : inputTokens(message.usage)}`;
}

/** Files are not trusted: only a count is a record. */
function recordedTokens(entry: AssistantEntry): number | undefined {
  const tokens = field(entry, PREFIX_FIELD);
  return typeof tokens === "number" && Number.isFinite(tokens) && tokens >= 0 ? tokens : undefined;
}
