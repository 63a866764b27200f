import { type CompactionPorts, newLink } from "../../compaction/apply/new-entries.ts";
import type { CollapseMark, Entry, EntryLink } from "../../messages/entry.ts";
import { isEntry } from "../../messages/entry.ts";
import { newestLine } from "../../messages/lines.ts";
import { type CollapsedSpan, canBeReplaced, clearedResultIds } from "../../messages/stand-ins.ts";
import { withoutThinkingFrom } from "../../messages/without-thinking.ts";

/** A span with a finished summary, waiting to be committed. */
export interface StagedSpan {
  /**
   * Id of the transcript line for this span. It is fixed here, so that a repeated write produces the same
   * line.
   */
  readonly spanId: string;
  readonly uuids: readonly string[];
  readonly messages: number;
  /** Text that replaces the messages. */
  readonly text: string;
}

export interface CollapseOptions {
  readonly ports: CompactionPorts;
  /** Estimates the provider's token count of an entry. */
  readonly tokensOf: (entry: Entry) => number;
  /** The newest line of the transcript, if the host knows it. See `SnipOptions`. */
  readonly leafUuid?: string | null | undefined;
  /**
   * True if a thinking block is valid only after the exact history before it. The commit changes that
   * history.
   */
  readonly bindsThinking?: boolean | undefined;
}

export interface Collapsed {
  /** The conversation after the commit, which ends with the mark. The same list if nothing was collapsed. */
  readonly entries: readonly Entry[];
  readonly spans: readonly CollapsedSpan[];
  /** The messages that each span replaces. */
  readonly gone: readonly (readonly Entry[])[];
  /** The last of the new lines. Undefined if nothing was collapsed. */
  readonly mark: CollapseMark | undefined;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Number of thinking blocks that were removed because the provider rejects them after the change. */
  readonly thinkingBlocks: number;
  /** Number of skipped spans. Their messages are no longer all present and in order. */
  readonly stale: number;
}

/** Lists the lines to append, in order, so that reading the file back returns the same conversation. */
export const linesOf = ({ spans, mark }: Pick<Collapsed, "spans" | "mark">): readonly Entry[] =>
  mark === undefined ? spans : [...spans, mark];

/** Replaces the messages of each span with its summary. Skips spans whose messages have changed. */
export function commitSpans(
  entries: readonly Entry[],
  staged: readonly StagedSpan[],
  options: CollapseOptions,
): Collapsed {
  const found = findSpans(entries, staged);
  if (found.length === 0) return { ...NOTHING, entries, stale: staged.length };
  const writer = new LineWriter(entries, options);
  const gone = found.map(({ from, to }) => entries.slice(from, to).filter(isEntry));
  const spans = found.map(({ staged: span }, nth) => writer.span(span, gone[nth] ?? []));
  const left = withSpans(entries, found, spans);
  const [tokensBefore, tokensAfter] = [totalOf(spans, "tokensBefore"), totalOf(spans, "tokensAfter")];
  const mark = writer.mark("collapse_committed", {
    spanIds: spans.map(({ collapsed }) => collapsed.spanId),
    tokensSaved: tokensBefore - tokensAfter,
  });
  const sendable = options.bindsThinking
    ? withoutThinkingFrom(left, found[0]?.from ?? 0)
    : { entries: left, blocks: 0 };
  return {
    entries: [...sendable.entries, mark],
    spans,
    gone,
    mark,
    tokensBefore,
    tokensAfter,
    thinkingBlocks: sendable.blocks,
    stale: staged.length - found.length,
  };
}

const NOTHING = Object.freeze({
  spans: [],
  gone: [],
  mark: undefined,
  tokensBefore: 0,
  tokensAfter: 0,
  thinkingBlocks: 0,
});

const totalOf = (spans: readonly CollapsedSpan[], figure: "tokensBefore" | "tokensAfter"): number =>
  spans.reduce((total, { collapsed }) => total + collapsed[figure], 0);

function withSpans(
  entries: readonly Entry[],
  found: readonly FoundSpan[],
  spans: readonly CollapsedSpan[],
): readonly Entry[] {
  const left: Entry[] = [];
  let next = 0;
  for (const [nth, { from, to }] of found.entries()) {
    for (; next < from; next++) left.push(entries[next] as Entry);
    left.push(spans[nth] as Entry, ...entries.slice(from, to).filter((entry) => !isEntry(entry)));
    next = to;
  }
  for (; next < entries.length; next++) left.push(entries[next] as Entry);
  return left;
}

interface FoundSpan {
  readonly staged: StagedSpan;
  readonly from: number;
  readonly to: number;
}

/** Finds the spans in order, without overlaps. */
function findSpans(entries: readonly Entry[], staged: readonly StagedSpan[]): readonly FoundSpan[] {
  const places = new Map<string, number>();
  for (const [index, entry] of entries.entries()) {
    if (isEntry(entry) && typeof entry.uuid === "string") places.set(entry.uuid, index);
  }
  // A span that is already in the conversation must not be committed a second time.
  const isNew = ({ spanId }: StagedSpan): boolean => !places.has(spanId);
  const found = staged.filter(isNew).flatMap((span) => placeOf(span, entries, places) ?? []);
  let end = 0;
  return found
    .toSorted((one, other) => one.from - other.from)
    .filter(({ from, to }) => {
      const isFree = from >= end;
      if (isFree) end = to;
      return isFree;
    });
}

/**
 * Returns the position of a span if its messages are all still neighbors. Skips anything that is not an
 * entry.
 */
function placeOf(
  staged: StagedSpan,
  entries: readonly Entry[],
  places: ReadonlyMap<string, number>,
): FoundSpan | undefined {
  const from = places.get(staged.uuids[0] ?? "");
  if (from === undefined) return undefined;
  let to = from;
  for (const uuid of staged.uuids) {
    while (to < entries.length && !isEntry(entries[to])) to += 1;
    const entry = entries[to];
    if (entry === undefined || entry.uuid !== uuid || !canBeReplaced(entry)) return undefined;
    to += 1;
  }
  return { staged, from, to };
}

/** Creates a chain of transcript lines. The parent of the first line is the newest line of the transcript. */
export class LineWriter {
  readonly #options: CollapseOptions;
  readonly #newest: Entry | undefined;
  #parent: string | null;

  constructor(entries: readonly Entry[], options: CollapseOptions) {
    this.#options = options;
    this.#newest = newestLine(entries);
    this.#parent = options.leafUuid === undefined ? (this.#newest?.uuid ?? null) : options.leafUuid;
  }

  span({ spanId, uuids, messages, text }: StagedSpan, gone: readonly Entry[]): CollapsedSpan {
    const { tokensOf } = this.#options;
    const link = this.#link(spanId);
    const clearedToolUseIds = gone.flatMap(clearedResultIds);
    const record = {
      spanId,
      messages,
      uuids,
      tokensBefore: Math.round(gone.reduce((total, entry) => total + tokensOf(entry), 0)),
      ...this.#binding(),
      ...(clearedToolUseIds.length > 0 ? { clearedToolUseIds } : {}),
    };
    const entry = { ...link, type: "user", message: { role: "user", content: text }, isMeta: true } as const;
    return { ...entry, collapsed: { ...record, tokensAfter: Math.round(tokensOf(entry)) } };
  }

  mark(
    subtype: CollapseMark["subtype"],
    record: Omit<CollapseMark["collapse"], "bindsThinking">,
  ): CollapseMark {
    return { ...this.#link(), type: "system", subtype, collapse: { ...record, ...this.#binding() } };
  }

  #binding(): { readonly bindsThinking?: true } {
    return this.#options.bindsThinking === true ? { bindsThinking: true } : {};
  }

  #link(uuid = this.#options.ports.newUuid()): EntryLink {
    const newest = this.#newest === undefined ? [] : [this.#newest];
    const { ports } = this.#options;
    const link = newLink(newest, this.#parent, { ...ports, newUuid: () => uuid });
    this.#parent = link.uuid;
    return link;
  }
}
