import { expandableSpans, expandSpans } from "../compact/collapse/expand.ts";
import { type CollapsedSpan, collapsedUuids } from "../conversation/collapsed.ts";
import type { CollapseMark, Entry } from "../conversation/entry.ts";
import { LonghaulError } from "../errors.ts";
import type { Message, Turn } from "./options.ts";
import { beginRewrite, type Rewrite } from "./rewrite.ts";
import type { ConversationState } from "./state.ts";
import { fromTranscript } from "./transcript-queue.ts";
import { turnResult } from "./turn-result.ts";

/** Collapsed messages are shown again in their place: all of what was asked for, or nothing. */
export async function expandMessages<T extends Message>(
  state: ConversationState,
  messages: readonly T[],
  spanIds: readonly string[] | undefined,
): Promise<Turn<T>> {
  state.takeIn(messages);
  const { thread, transcript } = state;
  const rewrite = beginRewrite(state);
  const shown = await expandAll(state, rewrite, spanIds);
  if (shown.marks.length === 0) return turnResult<T>(state, {});
  await transcript.commit([...rewrite.marks, ...asOneStep(shown.marks)]);
  for (const mark of shown.marks) thread.meter.add(mark);
  rewrite.goOnWith(shown.entries, { blocks: shown.thinkingBlocks });
  state.collapse?.expanded(shown.uuids);
  state.emit({ type: "spans-expanded", spans: shown.spans, messages: shown.messages });
  return turnResult<T>(state, {});
}

/** Each level has a mark; on disk the others name the first, so that all of them are undone together. */
const asOneStep = ([first, ...others]: readonly CollapseMark[]): readonly Entry[] =>
  first === undefined ? [] : [first, ...others.map((mark) => ({ ...mark, writtenWith: first.uuid }))];

interface Shown extends Pick<Rewrite, "entries" | "leaf"> {
  readonly marks: readonly CollapseMark[];
  readonly uuids: readonly string[];
  readonly spans: number;
  readonly messages: number;
  readonly thinkingBlocks: number;
}

/** Level by level: what a span within a span stood for is to be seen once the outer one has been expanded. */
async function expandAll(
  state: ConversationState,
  { entries, leaf }: Rewrite,
  spanIds: readonly string[] | undefined,
): Promise<Shown> {
  const left = spanIds && new Set(spanIds);
  let shown: Shown = { entries, leaf, marks: [], uuids: [], spans: 0, messages: 0, thinkingBlocks: 0 };
  /** Each once: by what a file says, spans may stand for each other. */
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
    shown = await expandLevel(state, shown, next);
  }
  const [missing] = left ?? [];
  if (missing !== undefined) throw spanNotFound(missing);
  return shown;
}

async function expandLevel(
  state: ConversationState,
  shown: Shown,
  spans: readonly CollapsedSpan[],
): Promise<Shown> {
  const { options } = state;
  const uuids = spans.flatMap(collapsedUuids);
  const ids = spans.map(({ collapsed }) => collapsed.spanId);
  const expanded = expandSpans(shown.entries, ids, await originalsOf(state, uuids), {
    ports: options.ports,
    tokensOf: state.tokensOf,
    leafUuid: shown.leaf,
    bindsThinking: state.bindsThinking,
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

/** From the transcript, where there is one: it has everything, also of an earlier process. */
async function originalsOf(
  { options, transcript, collapse, thread }: ConversationState,
  uuids: readonly string[],
): Promise<readonly Entry[]> {
  const port = options.transcript;
  if (port === undefined) return collapse?.originals.of(uuids) ?? [];
  await transcript.flush();
  const read = (await fromTranscript(port, undefined, async () => port.read?.(uuids))) ?? [];
  thread.plain.readBack(read);
  return read;
}

function spanNotFound(spanId: string): LonghaulError {
  return new LonghaulError(
    "message-not-found",
    "There is no such collapsed span in the current conversation.",
    {
      remedy:
        "A span within another can be expanded together with it. What a compaction took over can only be read.",
      facts: { spanId },
    },
  );
}

function messagesNotFound(spans: number): LonghaulError {
  return new LonghaulError("message-not-found", "The messages of a collapsed span could not be found.", {
    remedy: "Give the transcript that they were written to, with a `read` function.",
    facts: { spans },
  });
}
