import {
  type AssistantEntry,
  CLEARED_FIELD,
  type Entry,
  entryBlocks,
  isEntry,
  PREFIX_FIELD,
  type Usage,
} from "../messages/entry.ts";
import { timeOf } from "../messages/lines.ts";
import { type ContentBlock, isBlock } from "../messages/message.ts";
import { clearedBefore, inputTokens, reportedUsage, savedTokens } from "../messages/responses.ts";
import { isStandIn } from "../messages/stand-ins.ts";
import { asList, field, isRecord } from "../messages/untrusted.ts";
import { extended, hash } from "./compare-messages.ts";
import type { EventDetail } from "./events.ts";

/*
 * Do I believe this usage? One verdict for each reported figure, by the first row that applies:
 *
 * | verdict        | when                                                                          | next figure                     |
 * | -------------- | ----------------------------------------------------------------------------- | ------------------------------- |
 * | `missing`      | a figure is absent or no number                                               |                                 |
 * | `not-positive` | a figure is negative, or nothing was read                                     |                                 |
 * | `too-high`     | the answer alone is longer than any model writes                              |                                 |
 * | `too-high`     | above the limit that the provider itself stated, and our estimate is below it | counts as the first high one    |
 * | `too-high`     | above the highest possible figure, for the first time in a row                | is believed if it is high again |
 * | `too-low`      | below the safe lower bound: part of the request is missing in it              |                                 |
 * | trusted        | everything else                                                               |                                 |
 *
 * After three wrong figures in a row, nothing that was learned from earlier figures counts either. The table judges the
 * figure alone. {@link ReportedPrefixes} decides whether it is about this conversation, and `Views` combines both.
 */

/** One wrong figure is an accident; after so many in a row nothing that was learned before is sure either. */
const WRONG_IN_A_ROW = 3;

interface UsageTrustPorts {
  readonly emit: (detail: EventDetail) => void;
  /** The figures have turned out to be wrong, one after the other. */
  readonly onWrong: () => void;
}

/** What one conversation thinks of the figures it is told. Each is judged once, however often it turns up. */
export class UsageTrust {
  readonly #ports: UsageTrustPorts;
  #wrongInRow = 0;
  readonly #guard = new UsageGuard();
  readonly #scripts = new ScriptSample();
  readonly #judged = new WeakMap<object, boolean>();
  /** The newest verdict: hosts report one response in several objects. */
  #newest: { readonly call: number; readonly tokens: number; readonly trusted: boolean } | undefined;

  constructor(ports: UsageTrustPorts) {
    this.#ports = ports;
  }

  /** What is written in the conversation tells how far an estimate of it can be off. */
  add(entry: Entry): void {
    this.#scripts.add(entry);
  }

  /** The largest factor by which our estimate overcounts, see `ScriptSample`. */
  get overcount(): number {
    return this.#scripts.overcount;
  }

  /** True if a figure is within the error of our estimate, see `agreesWithEstimate`. */
  isLikely(tokens: number, facts: Omit<Parameters<typeof agreesWithEstimate>[1], "ceiling">): boolean {
    return agreesWithEstimate(tokens, { ...facts, ceiling: this.#scripts.ceiling });
  }

  /** `call`: counts the calls of the conversation. */
  isCredible(
    usage: unknown,
    call: number,
    expectation: () => Omit<UsageFacts, "usage" | "ceiling">,
  ): boolean {
    const key = isRecord(usage) ? usage : undefined;
    const known = key && (this.#judged.get(key) ?? this.#knownBy(key, call));
    if (known !== undefined) return known;
    const verdict = this.#guard.judge({ usage, ceiling: this.#scripts.ceiling, ...expectation() });
    const { trusted } = verdict;
    if (key) {
      this.#judged.set(key, trusted);
      this.#newest = { call, tokens: inputTokens(key as unknown as Usage), trusted };
    }
    if (verdict.trusted) this.#wrongInRow = 0;
    else this.#distrust(verdict);
    return trusted;
  }

  /** The same figure for the same call is the same report. */
  #knownBy(usage: object, call: number): boolean | undefined {
    const newest = this.#newest;
    return newest?.call === call && newest.tokens === inputTokens(usage as Usage)
      ? newest.trusted
      : undefined;
  }

  #distrust({ reportedTokens, expectedTokens, why }: Extract<UsageVerdict, { trusted: false }>): void {
    this.#ports.emit({ type: "usage-distrusted", reportedTokens, expectedTokens, why });
    // A figure that is not there says nothing about the others.
    if (why !== "too-high" && why !== "too-low") return;
    this.#wrongInRow += 1;
    if (this.#wrongInRow === WRONG_IN_A_ROW) this.#ports.onWrong();
  }

  /** The provider refused what we took to fit: its figures were right. */
  overflowed(): void {
    this.#guard.overflowed();
  }
}

/** What hosts put into one step without showing it; seen up to 28,000 in recorded sessions, and allowed for more. */
const HIDDEN_TOKENS = 45_000;
/** Of a window that is small, hidden content takes no more than this share. */
const HIDDEN_SHARE_OF_WINDOW = 0.25;
/** System prompt and tools that were not shown to us, at most. */
const UNKNOWN_OVERHEAD_TOKENS = 100_000;
/** What providers add of their own to a request that is known in full. */
const PROVIDER_TOKENS = 4_000;
/** A reported size is exact, but hosts change a reminder here and there. */
const DRIFT_SHARE = 0.05;
/** No model writes more in one answer. */
const MOST_OUTPUT_TOKENS = 1_000_000;

type DistrustReason = Extract<EventDetail, { readonly type: "usage-distrusted" }>["why"];

export type UsageVerdict =
  | { readonly trusted: true; readonly tokens: number }
  | {
      readonly trusted: false;
      readonly why: DistrustReason;
      readonly reportedTokens: number | undefined;
      /** What to go by instead. */
      readonly expectedTokens: number;
    };

export interface UsageFacts {
  /** As it came: anything. */
  readonly usage: unknown;
  /** What the call should have read: the last trusted size and what came since, or all of it by estimate. */
  readonly expectedTokens: number;
  /** The last trusted size that `expectedTokens` starts from, if any. */
  readonly anchorTokens: number | undefined;
  /**
   * The whole request as far as it is known, by the estimate usual for the model. It must not be calibrated
   * by this conversation's own usage, or wrong figures would confirm themselves.
   */
  readonly estimateOfWhole: number;
  /** The request cannot be smaller, see `Gauge`. */
  readonly lowestTokens: number;
  /** Whether system prompt and tools are in `estimateOfWhole`. */
  readonly overheadKnown: boolean;
  /** How many true tokens an estimated one can be, see `ScriptSample`. */
  readonly ceiling: number;
  readonly windowTokens: number;
  /** The provider refused a longer prompt and stated this limit; undefined where it stated none. */
  readonly statedLimitTokens?: number | undefined;
}

/**
 * Judges the figures of one conversation. A figure above the estimate may be an accident, so the first one is not
 * believed. The second in a row is: the provider counts, and we only estimate. A figure below the safe lower bound is
 * never believed, because part of it is missing. Nor is a figure above both the estimate and the limit that the provider
 * itself stated: it would have refused the call.
 */
export class UsageGuard {
  #wasTooHigh = false;

  judge(facts: UsageFacts): UsageVerdict {
    const { usage, expectedTokens } = facts;
    const distrust = (why: DistrustReason, reportedTokens?: number): UsageVerdict => ({
      trusted: false,
      why,
      reportedTokens,
      expectedTokens: Math.round(expectedTokens),
    });
    if (!isUsage(usage)) return distrust("missing");
    const tokens = inputTokens(usage);
    if (!(Math.min(...figuresOf(usage)) >= 0 && tokens > 0)) return distrust("not-positive", tokens);
    if (usage.output_tokens > MOST_OUTPUT_TOKENS) return distrust("too-high", tokens);
    const { statedLimitTokens: limit = Number.POSITIVE_INFINITY } = facts;
    if (tokens > limit && facts.estimateOfWhole <= limit) {
      this.#wasTooHigh = false;
      return distrust("too-high", tokens);
    }
    const isRepeated = this.#wasTooHigh;
    this.#wasTooHigh = tokens > highest(facts);
    if (this.#wasTooHigh && !isRepeated) return distrust("too-high", tokens);
    return tokens < facts.lowestTokens ? distrust("too-low", tokens) : { trusted: true, tokens };
  }

  /** The provider refused a request that we expected to fit. Its next high figure repeats that. */
  overflowed(): void {
    this.#wasTooHigh = true;
  }
}

function highest({ anchorTokens, expectedTokens, windowTokens, ...facts }: UsageFacts): number {
  if (anchorTokens === undefined) {
    const unseen = facts.overheadKnown ? PROVIDER_TOKENS : UNKNOWN_OVERHEAD_TOKENS;
    return facts.estimateOfWhole * facts.ceiling + Math.min(unseen, windowTokens);
  }
  const hidden = Math.min(HIDDEN_TOKENS, windowTokens * HIDDEN_SHARE_OF_WINDOW);
  const growth = Math.max(0, expectedTokens - anchorTokens);
  return anchorTokens * (1 + DRIFT_SHARE) + growth * facts.ceiling + hidden;
}

/**
 * True if a figure is possible by our estimate of the whole request alone. A high figure that is believed because it
 * repeats raises the count, but it proves no window: the window would grow with each wrong figure.
 */
function agreesWithEstimate(
  tokens: number,
  facts: Pick<UsageFacts, "estimateOfWhole" | "ceiling" | "overheadKnown" | "windowTokens">,
): boolean {
  const hidden = Math.min(HIDDEN_TOKENS, facts.windowTokens * HIDDEN_SHARE_OF_WINDOW);
  const unseen = facts.overheadKnown ? PROVIDER_TOKENS : hidden;
  return tokens <= facts.estimateOfWhole * facts.ceiling + unseen;
}

function isUsage(value: unknown): value is Usage {
  if (!isRecord(value)) return false;
  const { input_tokens: input, output_tokens: output } = value;
  const optional = [value.cache_creation_input_tokens, value.cache_read_input_tokens];
  return (
    Number.isFinite(input) &&
    Number.isFinite(output) &&
    optional.every((figure) => figure === undefined || figure === null || Number.isFinite(figure))
  );
}

const figuresOf = (usage: Usage): readonly number[] => [
  usage.input_tokens,
  usage.output_tokens,
  usage.cache_creation_input_tokens ?? 0,
  usage.cache_read_input_tokens ?? 0,
];

/** True tokens per estimated one, at most: in the letters and languages that every vocabulary was made for. */
const LATIN_CEILING = 1.65;
/** In any other: Hindi and Thai are up to three times as many tokens in one vocabulary as in another. */
const ANY_CEILING = 3.2;
/**
 * Estimated tokens per true one, at most. The largest seen in recorded sessions is 1.8, where the provider left out the
 * thinking of earlier turns.
 */
const LATIN_OVERCOUNT = 2;
const ANY_OVERCOUNT = ANY_CEILING;
/** So much of other scripts raises the ceiling. */
const OTHER_SHARE = 0.1;

/** Looked at in each text, evenly spread: a sample costs the same however long the text is. */
const LOOKS = 32;
const LAST_LATIN = 0x24f;

/** How far an estimate of a conversation can be off, told by the scripts that it is written in. */
export class ScriptSample {
  #characters = 0;
  #others = 0;

  add(entry: Entry): void {
    if (entry.type !== "user" && entry.type !== "assistant") return;
    for (const block of entryBlocks(entry)) this.#addBlock(block);
  }

  addText(text: string): void {
    const looks = Math.min(LOOKS, text.length);
    if (looks === 0) return;
    let others = 0;
    for (let look = 0; look < looks; look++) {
      if (text.charCodeAt(Math.floor((look * text.length) / looks)) > LAST_LATIN) others += 1;
    }
    this.#characters += text.length;
    this.#others += (others / looks) * text.length;
  }

  get ceiling(): number {
    return this.#isOfOthers ? ANY_CEILING : LATIN_CEILING;
  }

  get overcount(): number {
    return this.#isOfOthers ? ANY_OVERCOUNT : LATIN_OVERCOUNT;
  }

  get #isOfOthers(): boolean {
    return this.#others > this.#characters * OTHER_SHARE;
  }

  #addBlock(block: ContentBlock): void {
    if (block.type === "text" && typeof block.text === "string") this.addText(block.text);
    if (block.type !== "tool_result") return;
    if (typeof block.content === "string") this.addText(block.content);
    else for (const inner of asList(block.content)) if (isBlock(inner)) this.#addBlock(inner);
  }
}

/** What is known of an entry's report when a conversation is read from the start. */
interface ReportState {
  /** Something was cleared or collapsed after it. */
  readonly isBeforeMark: boolean;
  /** Nothing can be learned from it: between it and others lay what is cleared or collapsed now. */
  readonly isOld: boolean;
}

/**
 * What a mark says was saved is about the newest report before it, and about no other. A host that goes back may cut the
 * mark off. Then a report that is older than a stand-in above it is about messages that the stand-in replaced.
 */
export function reportsBeforeMark(entries: readonly Entry[]): (entry: Entry, index: number) => ReportState {
  const lastMark = entries.findLastIndex((entry) => savedTokens(entry) !== undefined);
  const newest = entries.slice(0, Math.max(0, lastMark)).findLast(isReport);
  const markedAt = timeAt(entries[lastMark]);
  const replacedAt = newestStandIns(entries);
  return (entry, index) => {
    const isBeforeMark = index < lastMark;
    if (!isReport(entry)) return { isBeforeMark, isOld: false };
    const toldAt = isBeforeMark ? Math.max(timeAt(entry), markedAt) : timeAt(entry);
    const isReplaced = (replacedAt[index] ?? NEVER) > toldAt;
    return { isBeforeMark, isOld: isReplaced || (isBeforeMark && !isOfSameResponse(entry, newest)) };
  };
}

const NEVER = Number.NEGATIVE_INFINITY;

/** For each place, when the newest stand-in above it was written. Empty if there is none. */
function newestStandIns(entries: readonly Entry[]): readonly number[] {
  if (!entries.some(isStandIn)) return [];
  let newest = NEVER;
  return entries.map((entry) => {
    if (isStandIn(entry)) newest = Math.max(newest, timeAt(entry));
    return newest;
  });
}

function timeAt(entry: Entry | undefined): number {
  const time = entry === undefined ? Number.NaN : Date.parse(timeOf(entry) ?? "");
  return Number.isNaN(time) ? NEVER : time;
}

export const isReport = (entry: Entry): entry is AssistantEntry =>
  entry.type === "assistant" && reportedUsage(entry) !== undefined;

/** One response may be several entries. */
const isOfSameResponse = (one: AssistantEntry, other: AssistantEntry | undefined): boolean =>
  one === other || (one.message.id !== undefined && one.message.id === other?.message.id);

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
