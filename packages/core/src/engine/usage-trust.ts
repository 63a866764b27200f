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
import { clearedTokensOf, inputTokens, reportedUsage, savedTokensOf } from "../messages/responses.ts";
import { isStandIn } from "../messages/stand-ins.ts";
import { asList, field, isRecord } from "../messages/untrusted.ts";
import { extendDigest, hash } from "./compare-messages.ts";
import type { EventDetail } from "./events.ts";

/*
 * Trust in a usage report. The first matching row is the verdict on its figures:
 *
 * | verdict        | when                                                                          | next figure                     |
 * | -------------- | ----------------------------------------------------------------------------- | ------------------------------- |
 * | `missing`      | a figure is absent or not a number                                            |                                 |
 * | `not-positive` | a figure is negative, or the input is 0                                       |                                 |
 * | `too-high`     | the answer alone is longer than any model writes                              |                                 |
 * | `too-high`     | above the provider's own stated limit, and our estimate is below it           | counts as the first high one    |
 * | `too-high`     | above the highest possible figure, for the first time in a row                | is believed if it is high again |
 * | `too-low`      | below the safe lower bound: part of the request is missing                    |                                 |
 * | trusted        | everything else                                                               |                                 |
 *
 * After three wrong figures in a row, everything learned from earlier figures is dropped too. {@link
 * ReportedPrefixes} decides if a report is about this conversation.
 */

/** After this many wrong figures in a row, earlier figures are not reliable either. */
const WRONG_IN_A_ROW = 3;

interface UsageTrustPorts {
  readonly emit: (detail: EventDetail) => void;
  /** Called after several wrong figures in a row. */
  readonly onRepeatedWrong: () => void;
}

/** Decides which usage reports one conversation trusts. Judges each report once, even if it is repeated. */
export class UsageTrust {
  readonly #ports: UsageTrustPorts;
  #wrongInRow = 0;
  readonly #guard = new UsageGuard();
  readonly #scripts = new ScriptSample();
  readonly #verdicts = new WeakMap<object, boolean>();
  /** The newest verdict. It is kept because hosts may report one response in several objects. */
  #newest: { readonly call: number; readonly tokens: number; readonly trusted: boolean } | undefined;

  constructor(ports: UsageTrustPorts) {
    this.#ports = ports;
  }

  /** Samples the text of an entry. The script of the text determines the possible error of the estimate. */
  add(entry: Entry): void {
    this.#scripts.add(entry);
  }

  /** Largest overcount of our estimate, as a factor, see `ScriptSample`. */
  get maxOvercount(): number {
    return this.#scripts.maxOvercount;
  }

  /** Returns true if a figure is within the error of our estimate, see `agreesWithEstimate`. */
  isPlausible(tokens: number, facts: Omit<Parameters<typeof agreesWithEstimate>[1], "maxRatio">): boolean {
    return agreesWithEstimate(tokens, { ...facts, maxRatio: this.#scripts.maxRatio });
  }

  /** Returns true if a usage is trusted. `call` is the number of the call in the conversation. */
  isCredible(
    usage: unknown,
    call: number,
    expectation: () => Omit<UsageFacts, "usage" | "maxRatio">,
  ): boolean {
    const key = isRecord(usage) ? usage : undefined;
    const known = key && (this.#verdicts.get(key) ?? this.#knownBy(key, call));
    if (known !== undefined) return known;
    const verdict = this.#guard.judge({ usage, maxRatio: this.#scripts.maxRatio, ...expectation() });
    const { trusted } = verdict;
    if (key) {
      this.#verdicts.set(key, trusted);
      this.#newest = { call, tokens: inputTokens(key as unknown as Usage), trusted };
    }
    if (verdict.trusted) this.#wrongInRow = 0;
    else this.#distrust(verdict);
    return trusted;
  }

  /** Returns the newest verdict if it is about this report: the same figure for the same call. */
  #knownBy(usage: object, call: number): boolean | undefined {
    const newest = this.#newest;
    return newest?.call === call && newest.tokens === inputTokens(usage as Usage)
      ? newest.trusted
      : undefined;
  }

  #distrust({ reportedTokens, expectedTokens, why }: Extract<UsageVerdict, { trusted: false }>): void {
    this.#ports.emit({ type: "usage-distrusted", reportedTokens, expectedTokens, why });
    // A missing figure does not mean that earlier figures were wrong.
    if (why !== "too-high" && why !== "too-low") return;
    this.#wrongInRow += 1;
    if (this.#wrongInRow === WRONG_IN_A_ROW) this.#ports.onRepeatedWrong();
  }

  /**
   * Records that the provider refused a request that we expected to fit, so the provider's figures were
   * right.
   */
  recordOverflow(): void {
    this.#guard.recordOverflow();
  }
}

/** Tokens that a host may add in one turn without showing them. Recorded sessions have up to 28,000. */
const HIDDEN_TOKENS = 45_000;
/** Limit of {@link HIDDEN_TOKENS} in small windows, as a share of the window. */
const HIDDEN_SHARE_OF_WINDOW = 0.25;
/** Maximum tokens of an unknown system prompt and tools. */
const UNKNOWN_OVERHEAD_TOKENS = 100_000;
/** Tokens that providers add to a fully known request. */
const PROVIDER_TOKENS = 4_000;
/** Share by which an exact reported size may change, because hosts change reminders slightly. */
const DRIFT_SHARE = 0.05;
/** Upper bound for the output of one response. No model writes more. */
const MAX_OUTPUT_TOKENS = 1_000_000;

type DistrustReason = Extract<EventDetail, { readonly type: "usage-distrusted" }>["why"];

export type UsageVerdict =
  | { readonly trusted: true; readonly tokens: number }
  | {
      readonly trusted: false;
      readonly why: DistrustReason;
      readonly reportedTokens: number | undefined;
      /** The size to use instead of the reported one. */
      readonly expectedTokens: number;
    };

export interface UsageFacts {
  /** The untrusted usage from the response. */
  readonly usage: unknown;
  /** Expected input of the call: the last trusted size plus the growth since, or an estimate. */
  readonly expectedTokens: number;
  /** The last trusted size, on which `expectedTokens` is based, if any. */
  readonly anchorTokens: number | undefined;
  /** Estimate of the whole request. Reports do not calibrate it, so a wrong report cannot confirm itself. */
  readonly estimatedRequestTokens: number;
  /** Lower bound for the request, see `Gauge`. */
  readonly minTokens: number;
  /** True if `estimatedRequestTokens` includes system prompt and tools. */
  readonly isOverheadKnown: boolean;
  /** Maximum of actual tokens per estimated token, see `ScriptSample`. */
  readonly maxRatio: number;
  readonly windowTokens: number;
  /** Limit that the provider stated when it refused a longer prompt. Undefined if it stated none. */
  readonly statedLimitTokens?: number | undefined;
}

/**
 * Judges the figures of one conversation. The first figure above the highest possible one is not trusted. The
 * second in a row is trusted, because the provider counts and we only estimate. Figures below the safe lower
 * bound are never trusted. If the estimate is within the limit that the provider stated, figures above that
 * limit are not trusted either.
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
    if (usage.output_tokens > MAX_OUTPUT_TOKENS) return distrust("too-high", tokens);
    const { statedLimitTokens: limit = Number.POSITIVE_INFINITY } = facts;
    if (tokens > limit && facts.estimatedRequestTokens <= limit) {
      this.#wasTooHigh = false;
      return distrust("too-high", tokens);
    }
    const isRepeated = this.#wasTooHigh;
    this.#wasTooHigh = tokens > highestPossible(facts);
    if (this.#wasTooHigh && !isRepeated) return distrust("too-high", tokens);
    return tokens < facts.minTokens ? distrust("too-low", tokens) : { trusted: true, tokens };
  }

  /** Records that a request unexpectedly did not fit. The next high figure counts as a repetition. */
  recordOverflow(): void {
    this.#wasTooHigh = true;
  }
}

function highestPossible({ anchorTokens, expectedTokens, windowTokens, ...facts }: UsageFacts): number {
  if (anchorTokens === undefined) {
    const unseen = facts.isOverheadKnown ? PROVIDER_TOKENS : UNKNOWN_OVERHEAD_TOKENS;
    return facts.estimatedRequestTokens * facts.maxRatio + Math.min(unseen, windowTokens);
  }
  const hidden = Math.min(HIDDEN_TOKENS, windowTokens * HIDDEN_SHARE_OF_WINDOW);
  const growth = Math.max(0, expectedTokens - anchorTokens);
  return anchorTokens * (1 + DRIFT_SHARE) + growth * facts.maxRatio + hidden;
}

/**
 * Returns true if our estimate of the whole request allows this figure. A figure that is trusted only because
 * it repeats proves no larger window.
 */
function agreesWithEstimate(
  tokens: number,
  facts: Pick<UsageFacts, "estimatedRequestTokens" | "maxRatio" | "isOverheadKnown" | "windowTokens">,
): boolean {
  const hidden = Math.min(HIDDEN_TOKENS, facts.windowTokens * HIDDEN_SHARE_OF_WINDOW);
  const unseen = facts.isOverheadKnown ? PROVIDER_TOKENS : hidden;
  return tokens <= facts.estimatedRequestTokens * facts.maxRatio + unseen;
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

/** Maximum of actual tokens per estimated token, in scripts that every vocabulary covers. */
const LATIN_MAX_RATIO = 1.65;
/** Maximum of actual tokens per estimated token for other scripts, such as Hindi and Thai. */
const OTHER_SCRIPTS_MAX_RATIO = 3.2;
/** Maximum of estimated tokens per actual token. The largest value in recorded sessions is 1.8. */
const LATIN_MAX_OVERCOUNT = 2;
const OTHER_SCRIPTS_MAX_OVERCOUNT = OTHER_SCRIPTS_MAX_RATIO;
/** If other scripts exceed this share of the text, their maximums apply. */
const OTHER_SCRIPTS_SHARE = 0.1;

/**
 * Number of evenly spaced characters to sample per text. Thus the cost does not depend on the text's length.
 */
const SAMPLE_SIZE = 32;
const LAST_LATIN = 0x24f;

/** Determines the possible error of an estimate from the scripts in the conversation. */
export class ScriptSample {
  #characters = 0;
  #others = 0;

  add(entry: Entry): void {
    if (entry.type !== "user" && entry.type !== "assistant") return;
    for (const block of entryBlocks(entry)) this.#addBlock(block);
  }

  addText(text: string): void {
    const looks = Math.min(SAMPLE_SIZE, text.length);
    if (looks === 0) return;
    let others = 0;
    for (let look = 0; look < looks; look++) {
      if (text.charCodeAt(Math.floor((look * text.length) / looks)) > LAST_LATIN) others += 1;
    }
    this.#characters += text.length;
    this.#others += (others / looks) * text.length;
  }

  get maxRatio(): number {
    return this.#hasOtherScripts ? OTHER_SCRIPTS_MAX_RATIO : LATIN_MAX_RATIO;
  }

  get maxOvercount(): number {
    return this.#hasOtherScripts ? OTHER_SCRIPTS_MAX_OVERCOUNT : LATIN_MAX_OVERCOUNT;
  }

  get #hasOtherScripts(): boolean {
    return this.#others > this.#characters * OTHER_SCRIPTS_SHARE;
  }

  #addBlock(block: ContentBlock): void {
    if (block.type === "text" && typeof block.text === "string") this.addText(block.text);
    if (block.type !== "tool_result") return;
    if (typeof block.content === "string") this.addText(block.content);
    else for (const inner of asList(block.content)) if (isBlock(inner)) this.#addBlock(inner);
  }
}

/** State of the usage report in an entry when a conversation is read from the start. */
interface ReportState {
  /** True if something was cleared or collapsed after the report. */
  readonly isBeforeMark: boolean;
  /**
   * True if content before the report was cleared or collapsed later. Such a report cannot calibrate the
   * estimate.
   */
  readonly isOld: boolean;
}

/**
 * Classifies usage reports. The mark of a clearing or collapse records saved tokens. They refer only to the
 * newest report before that mark. If a host cuts off the mark, a report may be older than a stand-in (an
 * entry that replaces messages) above it. Such a report refers to the replaced messages.
 */
export function reportsBeforeMark(entries: readonly Entry[]): (entry: Entry, index: number) => ReportState {
  const lastMark = entries.findLastIndex((entry) => savedTokensOf(entry) !== undefined);
  const newest = entries.slice(0, Math.max(0, lastMark)).findLast(isUsageReport);
  const markedAt = timeAt(entries[lastMark]);
  const replacedAt = newestStandIns(entries);
  return (entry, index) => {
    const isBeforeMark = index < lastMark;
    if (!isUsageReport(entry)) return { isBeforeMark, isOld: false };
    const reportedAt = isBeforeMark ? Math.max(timeAt(entry), markedAt) : timeAt(entry);
    const isReplaced = (replacedAt[index] ?? NEVER) > reportedAt;
    return { isBeforeMark, isOld: isReplaced || (isBeforeMark && !isOfSameResponse(entry, newest)) };
  };
}

const NEVER = Number.NEGATIVE_INFINITY;

/** Returns the time of the newest stand-in up to each position. Empty if there is no stand-in. */
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

export const isUsageReport = (entry: Entry): entry is AssistantEntry =>
  entry.type === "assistant" && reportedUsage(entry) !== undefined;

/** Returns true if both entries belong to one response. */
const isOfSameResponse = (one: AssistantEntry, other: AssistantEntry | undefined): boolean =>
  one === other || (one.message.id !== undefined && one.message.id === other?.message.id);

/** Maximum number of reports to remember. Older reports are never needed again. */
const MAX_REPORTS = 4_096;
const EMPTY: Prefix = { length: 0, digest: 0, tokens: 0 };

/** A larger difference means another conversation. Hosts cause smaller ones when they change reminders. */
const SMALL_CHANGE = { share: 0.05, tokens: 500 } as const;

/** The start of a conversation: number of entries, a digest of them, and their estimated tokens. */
export interface Prefix {
  readonly length: number;
  readonly digest: number;
  readonly tokens: number;
}

interface Reported extends Prefix {
  /** True if the prefix was computed from the entries before the response, not from its request. */
  readonly isExact: boolean;
  /** Tokens of the request that the provider cleared and did not report. */
  readonly clearedTokens: number;
}

/** The request that a response answered. */
interface AnsweredRequest {
  readonly prefix: Prefix;
  readonly clearedTokens: number;
}

/** Prefix whose entries are unknown. No real prefix has this length, so only the tokens are compared. */
const UNKNOWN_ENTRIES = { length: -1, digest: 0, isExact: false } as const;

/**
 * Decides if a usage report applies: the conversation must start with nearly the same entries as the reported
 * request. Session lines record the estimated tokens of these entries for the next process. A report without
 * such a record always applies.
 */
export class ReportedPrefixes {
  /** Prefixes of 0, 1, 2, … entries. */
  #prefixes: Prefix[] = [EMPTY];
  /** Prefixes of reported requests. The key identifies a response. Copies of a message have the same key. */
  readonly #reports = new Map<string, Reported>();
  /** Result for the newest compared response. All entries of that response share the result. */
  #compared: { readonly key: string | undefined; readonly grown: number | undefined } | undefined;

  /** The prefix that contains all entries. */
  get whole(): Prefix {
    return this.#prefixes.at(-1) ?? EMPTY;
  }

  /** Drops all prefixes before the conversation is read again. */
  restart(): void {
    this.#prefixes = [EMPTY];
    this.#compared = undefined;
  }

  add({ uuid = "" }: Entry, estimate: number): void {
    const { length, digest, tokens } = this.whole;
    const own = extendDigest(hash(uuid), Math.round(estimate));
    this.#prefixes.push({ length: length + 1, digest: extendDigest(digest, own), tokens: tokens + estimate });
  }

  /** Records that the response in this entry answered the request with the prefix `to`. */
  recordAnswer(entry: Entry, { prefix: to, clearedTokens }: AnsweredRequest): void {
    if (entry.type === "assistant") this.#remember(keyOf(entry), { ...to, isExact: false, clearedTokens });
  }

  /** Works like {@link recordAnswer}, but does not change a report that is already known. */
  recordAnswerIfNew(entry: AssistantEntry, answer: AnsweredRequest): void {
    if (!this.#reports.has(keyOf(entry) ?? "")) this.recordAnswer(entry, answer);
  }

  /** Returns the tokens that the usage in this entry does not include, because the provider cleared them. */
  clearedBefore(entry: AssistantEntry): number {
    return this.#reports.get(keyOf(entry) ?? "")?.clearedTokens ?? clearedTokensOf(entry);
  }

  /** Adds the size of the reported prefix to an entry. Returns the same entry if nothing is known. */
  toLine(entry: Entry): Entry {
    if (!isEntry(entry) || !isUsageReport(entry) || recordedTokens(entry) !== undefined) return entry;
    const reported = this.#reports.get(keyOf(entry) ?? "");
    if (reported === undefined) return entry;
    const { tokens, clearedTokens } = reported;
    const cleared = clearedTokens === 0 ? {} : { [CLEARED_FIELD]: clearedTokens };
    const fields: object = { [PREFIX_FIELD]: Math.round(tokens), ...cleared };
    return { ...entry, ...fields };
  }

  /**
   * Returns the estimated tokens by which the entries have grown since the usage in `entry` was reported.
   * Returns undefined if the usage is about another conversation.
   *
   * @param isRecordOld True if earlier entries were cleared or collapsed later, so that the record is void.
   */
  tokensAddedSince(entry: AssistantEntry, isRecordOld = false): number | undefined {
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
    if (this.#reports.size > MAX_REPORTS && oldest !== undefined) this.#reports.delete(oldest);
  }
}

/** Returns a key for a response. The usage is part of the key, because some hosts repeat one response id. */
function keyOf({ uuid, message }: AssistantEntry): string | undefined {
  const id = message.id ?? uuid;
  return id === undefined
    ? undefined
    : `${id} ${message.usage === undefined ? 0 : inputTokens(message.usage)}`;
}

/** Returns the recorded prefix size of a line, if it is a valid number of tokens. */
function recordedTokens(entry: AssistantEntry): number | undefined {
  const tokens = field(entry, PREFIX_FIELD);
  return typeof tokens === "number" && Number.isFinite(tokens) && tokens >= 0 ? tokens : undefined;
}
