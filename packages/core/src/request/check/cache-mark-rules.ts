import { hasNestedBlocks, isBlock, isThinking, rewriteNested } from "../../messages/message.ts";
import { asList, field, isRecord, type JsonRecord } from "../../messages/untrusted.ts";
import { MAX_CACHE_MARKS } from "./limits.ts";
import {
  type Draft,
  type DraftMessage,
  type Origin,
  type Part,
  type Rule,
  type RuleMemory,
  withBlock,
} from "./rule.ts";

/** Thinking blocks cannot carry cache marks. The rest of the block does not change. */
export const noMarksOnThinking: Rule = {
  reports: ["cache-mark-on-thinking"],
  looksAt: "messages",
  apply(draft) {
    draft.rewriteParts((part) => {
      const { block, origin } = part;
      if (!isThinking(block) || !("cache_control" in block)) return part;
      const message = "Thinking cannot have a cache mark. The repair removes the mark.";
      draft.report("cache-mark-on-thinking", "dropped", origin, message);
      return withBlock(part, withMark(block, undefined));
    });
  },
};

/** Limits the number of marks on tools, system and messages, and enforces the order of their lifetimes. */
export const cacheMarks: Rule = {
  reports: ["cache-mark-conflict", "cache-mark-count", "cache-ttl-order"],
  looksAt: "request",
  apply(draft) {
    dropConflictingAutomaticMark(draft);
    const marks = collectMarks(draft);
    const doomed = surplusMarks(draft, marks);
    const late = lateMarks(
      draft,
      marks.filter((mark) => !doomed.has(mark)),
    );
    if (doomed.size + late.size === 0) return;
    rewriteMarks(draft, (control, index) => {
      const mark = marks[index] as Mark;
      if (doomed.has(mark)) return undefined;
      return late.has(mark) ? { ...control, ttl: "5m" } : control;
    });
  },
  remember: rememberMarks,
};

/**
 * Drops the automatic mark if it conflicts with an explicit mark. The automatic mark applies to the last
 * block that can carry one. If that block already has a mark with another lifetime, the API refuses both. The
 * explicit mark stays.
 */
function dropConflictingAutomaticMark(draft: Draft): void {
  const automatic = field(draft.request, "cache_control");
  if (!isRecord(automatic)) return;
  const parts = draft.messages.findLast(hasCacheable)?.parts;
  const mark = field(parts?.findLast(isCacheable)?.block, "cache_control");
  if (!isRecord(mark) || (mark.ttl === "1h") === (automatic.ttl === "1h")) return;
  const message =
    "The cache mark of the last block has a different lifetime than the automatic mark. The repair removes the automatic mark.";
  draft.report("cache-mark-conflict", "dropped", "cache_control", message);
  draft.request = withMark(draft.request, undefined);
}

const isCacheable = (part: Part): boolean => !isThinking(part.block);
const hasCacheable = (message: DraftMessage): boolean => message.parts.some(isCacheable);

interface Mark {
  readonly place: "tools" | "system" | "messages" | "request";
  readonly at: Origin | string;
  readonly control: JsonRecord;
}

/** Collects marks in the API's order: tools, system, messages, then the automatic mark. */
function collectMarks(draft: Draft): readonly Mark[] {
  const marks: Mark[] = [];
  rewriteMarks(draft, (control, _, place, at) => {
    marks.push({ place, at, control });
    return control;
  });
  return marks;
}

/**
 * Selects marks to remove, the oldest in the messages first. Marks on tools and system stay longest, because
 * they cover content that never changes. The newest mark in the messages is needed too, because the next call
 * reads the prefix up to this mark.
 */
function surplusMarks(draft: Draft, marks: readonly Mark[]): ReadonlySet<Mark> {
  const surplus = Math.max(0, marks.length - MAX_CACHE_MARKS);
  const inOrder = ["messages", "tools", "system"].flatMap((wanted) =>
    marks.filter(({ place }) => place === wanted),
  );
  const doomed = new Set(inOrder.slice(0, surplus));
  const message = `A request can have at most ${MAX_CACHE_MARKS} cache marks. The repair removes this one.`;
  for (const { at } of doomed) draft.report("cache-mark-count", "dropped", at, message);
  return doomed;
}

/**
 * Finds marks to shorten. The API refuses a one-hour mark after a five-minute mark. The later mark gets the
 * shorter lifetime.
 */
function lateMarks(draft: Draft, marks: readonly Mark[]): ReadonlySet<Mark> {
  const firstShort = marks.findIndex(({ control }) => control.ttl !== "1h");
  if (firstShort === -1) return new Set();
  const late = new Set(marks.slice(firstShort).filter(({ control }) => control.ttl === "1h"));
  const message =
    "A one-hour cache mark cannot follow a five-minute mark. The repair changes it to five minutes.";
  for (const { at } of late) draft.report("cache-ttl-order", "rewritten", at, message);
  return late;
}

type MarkRewrite = (
  control: JsonRecord,
  index: number,
  place: Mark["place"],
  at: Origin | string,
) => JsonRecord | undefined;

function rewriteMarks(draft: Draft, rewrite: MarkRewrite): void {
  let index = 0;
  const apply = <T extends object>(holder: T, place: Mark["place"], at: Origin | string): T => {
    const control = (holder as { readonly cache_control?: unknown }).cache_control;
    if (!isRecord(control)) return holder;
    const after = rewrite(control, index++, place, at);
    return after === control ? holder : withMark(holder, after);
  };
  const { tools, system } = draft.request;
  const newTools = mapSame(tools, (tool, at) =>
    isRecord(tool) ? apply(tool, "tools", `tools.${at}`) : tool,
  );
  const newSystem =
    typeof system === "string"
      ? system
      : mapSame(system, (block, at) => (isBlock(block) ? apply(block, "system", `system.${at}`) : block));
  draft.rewriteParts((part) => {
    const nested = rewriteNested(part.block, (block) => apply(block, "messages", part.origin));
    return withBlock(part, apply(nested, "messages", part.origin));
  });
  const request = apply(draft.request, "request", "cache_control");
  if (newTools === tools && newSystem === system) draft.request = request;
  else {
    draft.request = {
      ...request,
      ...(newTools === undefined ? {} : { tools: newTools }),
      ...(newSystem === undefined ? {} : { system: newSystem }),
    };
  }
}

function mapSame<T>(
  list: readonly T[] | undefined,
  map: (item: T, index: number) => T,
): readonly T[] | undefined {
  if (!Array.isArray(list)) return list;
  const mapped = list.map(map);
  return mapped.every((item, index) => item === list[index]) ? list : mapped;
}

function withMark<T extends object>(holder: T, control: JsonRecord | undefined): T {
  const { cache_control: _, ...rest } = holder as T & { readonly cache_control?: unknown };
  return (control === undefined ? rest : { ...rest, cache_control: control }) as T;
}

function rememberMarks({ request, findings }: Draft): RuleMemory {
  const closed = { short: 0, long: 0 };
  for (const holder of [...asList(request.tools), ...asList(request.system), request])
    addMark(closed, holder);
  const hasAutomaticMark = isRecord(request.cache_control);
  // The automatic mark was removed because of a mark on the last block. When a message is added, that block
  // is no longer the last.
  const hasConflict = findings.some(({ rule }) => rule === "cache-mark-conflict");
  return {
    allowsTail: ({ messages }, between) => {
      if (hasConflict) return false;
      const added = addMarks({ short: 0, long: 0 }, messages);
      if (added.short + added.long === 0) return true;
      const { short, long } = addMarks(addMarks({ ...closed }, between), messages);
      const mayBeOutOfOrder = added.long > 0 && short > 0;
      return !hasAutomaticMark && !mayBeOutOfOrder && short + long <= MAX_CACHE_MARKS;
    },
    close: (messages) => {
      addMarks(closed, messages);
    },
  };
}

/** Number of five-minute and one-hour marks. */
interface MarkCounts {
  short: number;
  long: number;
}

function addMarks(counts: MarkCounts, messages: readonly DraftMessage[]): MarkCounts {
  for (const { parts } of messages) {
    for (const { block } of parts) {
      addMark(counts, block);
      if (hasNestedBlocks(block)) for (const nested of block.content) addMark(counts, nested);
    }
  }
  return counts;
}

function addMark(counts: MarkCounts, holder: unknown): void {
  const control = field(holder, "cache_control");
  if (isRecord(control)) counts[control.ttl === "1h" ? "long" : "short"]++;
}
