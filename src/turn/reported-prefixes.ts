import type { AssistantEntry, Entry } from "../conversation/entry.ts";
import { inputTokens } from "../conversation/usage.ts";
import { extended, hash } from "./message-digest.ts";

/** The newest reports. An older one is never the newest of a conversation again. */
const MOST_REPORTS = 4_096;

/** The beginning of a conversation: how many entries, and a digest of what they are. */
export interface Prefix {
  readonly length: number;
  readonly digest: number;
}

/**
 * A reported usage is the size of one exact request. It counts only in a conversation that starts with the entries of
 * that request. Entries are compared by id and size, so that adding one costs nothing.
 */
export class ReportedPrefixes {
  /** Of the first entries: none, one, two, … */
  #digests: number[] = [0];
  /** By the response's id, which copies of its message share. */
  readonly #reports = new Map<string, Prefix & { readonly isExact: boolean }>();

  /** All entries so far. */
  get whole(): Prefix {
    const length = this.#digests.length - 1;
    return { length, digest: this.#digests[length] ?? 0 };
  }

  /** The conversation is read again. */
  restart(): void {
    this.#digests = [0];
  }

  add({ uuid = "" }: Entry, tokens: number): void {
    this.#digests.push(extended(this.whole.digest, extended(hash(uuid), tokens)));
  }

  /** The response in this entry answered the conversation `to`. */
  answered(entry: Entry, to: Prefix): void {
    if (entry.type === "assistant") this.#remember(keyOf(entry), { ...to, isExact: false });
  }

  /** Whether the report in the entry that comes next is about the entries so far. */
  isNext(entry: AssistantEntry): boolean {
    const key = keyOf(entry);
    const reported = key === undefined ? undefined : this.#reports.get(key);
    if (reported !== undefined && this.#digests[reported.length] !== reported.digest) return false;
    if (!reported?.isExact) this.#remember(key, { ...this.whole, isExact: true });
    return true;
  }

  #remember(key: string | undefined, prefix: Prefix & { readonly isExact: boolean }): void {
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
