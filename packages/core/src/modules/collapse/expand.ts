import { sum } from "../../compaction/plan/sized.ts";
import { turnResult } from "../../engine/before.ts";
import type { Message, Turn } from "../../engine/options.ts";
import type { EngineParts } from "../../engine/parts.ts";
import { beginRewrite, ingest, type Rewrite } from "../../engine/rewrite.ts";
import { readWithTimeLimit } from "../../engine/transcript-queue.ts";
import type { CollapseMark, Entry } from "../../messages/entry.ts";
import { isEntry } from "../../messages/entry.ts";
import { LonghaulError } from "../../messages/errors.ts";
import {
  type CollapsedSpan,
  collapsedUuids,
  isCollapsedSpan,
  isSettled,
  withClearedResults,
} from "../../messages/stand-ins.ts";
import { stringListField } from "../../messages/untrusted.ts";
import { withoutThinkingFrom } from "../../messages/without-thinking.ts";
import { countOriginalMessages } from "../../request/flatten/count-messages.ts";
import { type CollapseOptions, LineWriter } from "./commit.ts";

/** The part of a running collapse that an expansion needs. */
interface Collapsing {
  readonly originals: CollapsedOriginals;
  expanded(uuids: readonly string[]): void;
}

type Originals = (uuids: readonly string[]) => Promise<readonly Entry[]>;

/** Puts the messages of all requested spans back in place, or changes nothing. */
export async function expandMessages<T extends Message>(
  parts: EngineParts,
  collapse: Collapsing | undefined,
  messages: readonly T[],
  spanIds: readonly string[] | undefined,
): Promise<Turn<T>> {
  ingest(parts, messages);
  const { transcript, reporter } = parts;
  const rewrite = beginRewrite(parts);
  const originals = (uuids: readonly string[]): Promise<readonly Entry[]> =>
    originalsOf(parts, collapse?.originals, uuids);
  const shown = await expandAll(parts, originals, rewrite, spanIds);
  if (shown.marks.length === 0) return turnResult<T>(parts, {});
  await transcript.commit([...rewrite.marks, ...asOneStep(shown.marks)]);
  rewrite.apply(shown.entries, { blocks: shown.thinkingBlocks }, shown.marks);
  collapse?.expanded(shown.uuids);
  reporter.emit({ type: "spans-expanded", spans: shown.spans, messages: shown.messages });
  return turnResult<T>(parts, {});
}

/**
 * Each level of nested spans has its own mark. Links these marks to the first mark on disk, so that one undo
 * reverts all levels together.
 */
const asOneStep = ([first, ...others]: readonly CollapseMark[]): readonly Entry[] =>
  first === undefined ? [] : [first, ...others.map((mark) => ({ ...mark, writtenWith: first.uuid }))];

interface Shown extends Pick<Rewrite, "entries" | "leaf"> {
  readonly marks: readonly CollapseMark[];
  readonly uuids: readonly string[];
  readonly spans: number;
  readonly messages: number;
  readonly thinkingBlocks: number;
}

/** Expands level by level: the messages of an inner span become available once the outer span is expanded. */
async function expandAll(
  parts: EngineParts,
  originals: Originals,
  { entries, leaf }: Rewrite,
  spanIds: readonly string[] | undefined,
): Promise<Shown> {
  const left = spanIds && new Set(spanIds);
  let shown: Shown = { entries, leaf, marks: [], uuids: [], spans: 0, messages: 0, thinkingBlocks: 0 };
  /** Expands each span once. In a damaged file, spans may refer to each other. */
  const done = new Set<string>();
  for (;;) {
    const next = expandableSpans(shown.entries).filter(
      ({ collapsed: { spanId } }) => !done.has(spanId) && (left?.has(spanId) ?? true),
    );
    for (const { collapsed } of next) {
      left?.delete(collapsed.spanId);
      done.add(collapsed.spanId);
    }
    if (next.length === 0) break;
    shown = await expandLevel(parts, originals, shown, next);
  }
  const [missing] = left ?? [];
  if (missing !== undefined) throw spanNotFound(missing);
  return shown;
}

async function expandLevel(
  { options, gauge }: EngineParts,
  originals: Originals,
  shown: Shown,
  spans: readonly CollapsedSpan[],
): Promise<Shown> {
  const uuids = spans.flatMap(collapsedUuids);
  const ids = spans.map(({ collapsed }) => collapsed.spanId);
  const expanded = expandSpans(shown.entries, ids, await originals(uuids), {
    ports: options.ports,
    tokensOf: gauge.tokensOf,
    leafUuid: shown.leaf,
    bindsThinking: gauge.bindsThinking,
  });
  if (expanded.mark === undefined || expanded.spans < spans.length) throw messagesNotFound(spans.length);
  return {
    entries: expanded.entries,
    leaf: expanded.mark.uuid,
    marks: [...shown.marks, expanded.mark],
    uuids: [...shown.uuids, ...uuids],
    spans: shown.spans + expanded.spans,
    messages: shown.messages + expanded.messages,
    thinkingBlocks: shown.thinkingBlocks + expanded.thinkingBlocks,
  };
}

/**
 * Reads the originals from the transcript if there is one. The transcript has all originals, even those of an
 * earlier process.
 */
async function originalsOf(
  { options, transcript, thread }: EngineParts,
  kept: CollapsedOriginals | undefined,
  uuids: readonly string[],
): Promise<readonly Entry[]> {
  const port = options.transcript;
  if (port === undefined) return kept?.of(uuids) ?? [];
  await transcript.flush();
  const read = (await readWithTimeLimit(port, undefined, async () => port.read?.(uuids))) ?? [];
  thread.registerStored(read);
  return read;
}

function spanNotFound(spanId: string): LonghaulError {
  return new LonghaulError(
    "span-not-found",
    `No collapsed span found: the current conversation has no span ${spanId}.`,
    {
      remedy:
        "If the span is inside another span, expand the outer one. If a compaction has summarized it, you can only read it in the transcript.",
      facts: { spanId },
    },
  );
}

function messagesNotFound(spans: number): LonghaulError {
  return new LonghaulError(
    "span-messages-missing",
    "The messages of a collapsed span are missing: neither memory nor the transcript has them.",
    { remedy: "Pass the transcript that contains them, with a `read` function.", facts: { spans } },
  );
}

/** Keeps the original messages of committed spans for conversations without a transcript. */
export class CollapsedOriginals {
  #entries: Map<string, Entry> = new Map();

  add(entries: readonly Entry[]): void {
    for (const entry of entries) if (entry.uuid !== undefined) this.#entries.set(entry.uuid, entry);
  }

  /** Returns the original messages with these ids, as far as they are known. */
  of(uuids: readonly string[]): readonly Entry[] {
    return uuids.flatMap((uuid) => this.#entries.get(uuid) ?? []);
  }

  /**
   * Drops the originals that no span of the new conversation refers to, because nobody can request them
   * again.
   */
  keepFor(conversation: readonly Entry[]): void {
    const kept = new Map<string, Entry>();
    let next = expandableSpans(conversation).flatMap(collapsedUuids);
    while (next.length > 0) {
      const fresh = this.of(next).filter(({ uuid }) => uuid !== undefined && !kept.has(uuid));
      for (const entry of fresh) kept.set(entry.uuid as string, entry);
      next = fresh.flatMap(collapsedUuids);
    }
    this.#entries = kept;
  }
}

/** The conversation after the expansion, which ends with the mark. The same list if nothing was expanded. */
type Expanded = Pick<Shown, "entries" | "spans" | "messages" | "thinkingBlocks"> & {
  readonly mark: CollapseMark | undefined;
};

/**
 * Lists the spans that can be expanded now. An inner span becomes visible once its outer span is expanded.
 */
export const expandableSpans = (entries: readonly Entry[]): readonly CollapsedSpan[] =>
  entries.filter(isExpandable);

const isExpandable = (entry: Entry): entry is CollapsedSpan => isCollapsedSpan(entry) && !isSettled(entry);

/**
 * Puts the messages of these spans back in place if all of them are known. They return in their state at the
 * time of the collapse: with cleared results, and without thinking that the model would reject.
 */
export function expandSpans(
  entries: readonly Entry[],
  spanIds: readonly string[],
  known: readonly Entry[],
  options: CollapseOptions,
): Expanded {
  const wanted = new Set(spanIds);
  const byUuid = new Map(known.map((entry) => [entry.uuid, entry]));
  const expanded: CollapsedSpan[] = [];
  const shown: Entry[] = [];
  let [firstChange, tokens] = [-1, 0];
  for (const entry of entries) {
    const span = isExpandable(entry) && wanted.has(entry.collapsed.spanId) ? entry : undefined;
    const restored = span && restore(span, byUuid);
    if (span === undefined || restored === undefined) {
      shown.push(entry);
      continue;
    }
    if (firstChange === -1) firstChange = shown.length;
    expanded.push(span);
    tokens += sum(restored.map(options.tokensOf)) - options.tokensOf(entry);
    shown.push(...restored);
  }
  if (expanded.length === 0) return { entries, mark: undefined, spans: 0, messages: 0, thinkingBlocks: 0 };
  const mark = new LineWriter(entries, options).mark("collapse_expanded", {
    spanIds: expanded.map(({ collapsed }) => collapsed.spanId),
    tokensSaved: -Math.round(tokens),
  });
  const sendable = options.bindsThinking
    ? withoutThinkingFrom(shown, firstChange)
    : { entries: shown, blocks: 0 };
  return {
    entries: [...sendable.entries, mark],
    mark,
    spans: expanded.length,
    messages: countOriginalMessages(expanded),
    thinkingBlocks: sendable.blocks,
  };
}

/**
 * Returns the messages of a span. Undefined if one is missing, because half a span would be worse than its
 * summary.
 */
function restore(span: CollapsedSpan, byUuid: ReadonlyMap<unknown, Entry>): readonly Entry[] | undefined {
  const uuids = [...new Set(collapsedUuids(span))];
  const messages = uuids.flatMap((uuid) => byUuid.get(uuid) ?? []).filter(isEntry);
  if (uuids.length === 0 || messages.length < uuids.length) return undefined;
  const cleared = withClearedResults(messages, clearedIdsOf(span));
  return span.collapsed.bindsThinking === true ? withoutThinkingFrom(cleared, 0).entries : cleared;
}

const clearedIdsOf = ({ collapsed }: CollapsedSpan): ReadonlySet<string> =>
  new Set(stringListField(collapsed, "clearedToolUseIds"));
