import { sum } from "../../compaction/plan/sized.ts";
import { withClearedResults } from "../../conversation/cleared.ts";
import { type CollapsedSpan, collapsedUuids, isCollapsedSpan } from "../../conversation/collapsed.ts";
import { type CollapseMark, type Entry, isEntry } from "../../conversation/entry.ts";
import { isSettled, messagesBehind } from "../../conversation/stand-ins.ts";
import { stringListField } from "../../conversation/untrusted.ts";
import { withoutThinkingFrom } from "../../conversation/without-thinking.ts";
import { type CollapseOptions, LineWriter } from "./commit.ts";

export interface Expanded {
  /** The conversation to go on with, the mark at its end; the very list where nothing was expanded. */
  readonly entries: readonly Entry[];
  readonly mark: CollapseMark | undefined;
  readonly spans: number;
  readonly messages: number;
  readonly thinkingBlocks: number;
}

/** Spans that can be expanded now: a span within another shows once that has been. */
export const expandableSpans = (entries: readonly Entry[]): readonly CollapsedSpan[] =>
  entries.filter(isExpandable);

const isExpandable = (entry: Entry): entry is CollapsedSpan => isCollapsedSpan(entry) && !isSettled(entry);

/**
 * Puts the messages of these spans back in their place, as far as they are all known. They come as they were when
 * they were collapsed: with results cleared, and without thinking that the model would refuse.
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
    messages: messagesBehind(expanded),
    thinkingBlocks: sendable.blocks,
  };
}

/** Undefined where one of them is missing: half a span would be worse than its summary. */
function restore(span: CollapsedSpan, byUuid: ReadonlyMap<unknown, Entry>): readonly Entry[] | undefined {
  const uuids = [...new Set(collapsedUuids(span))];
  const messages = uuids.flatMap((uuid) => byUuid.get(uuid) ?? []).filter(isEntry);
  if (uuids.length === 0 || messages.length < uuids.length) return undefined;
  const cleared = withClearedResults(messages, clearedIdsOf(span));
  return span.collapsed.bindsThinking === true ? withoutThinkingFrom(cleared, 0).entries : cleared;
}

const clearedIdsOf = ({ collapsed }: CollapsedSpan): ReadonlySet<string> =>
  new Set(stringListField(collapsed, "clearedToolUseIds"));
