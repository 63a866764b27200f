import { applyRules } from "../check/check.ts";
import { Draft, type DraftMessage, entryPath, finishDraft } from "../check/draft.ts";
import type { Finding } from "../check/finding.ts";
import type { CheckOptions } from "../check/rule.ts";
import type { ToolSchema } from "../check/rules/tool-inputs.ts";
import { withClearedResults } from "../cleared.ts";
import type { Entry } from "../entry.ts";
import { requireOwnShapes } from "../given-messages.ts";
import type { ApiMessage, ApiRequest } from "../message.ts";
import { MessageCounter } from "./message-counter.ts";
import { TurnSorter } from "./turns.ts";

export interface FlattenOptions {
  /** Tool results that are sent as cleared, by the id of their tool use. */
  readonly clearedToolUseIds?: ReadonlySet<string>;
  /** The tools of the request; inputs are put right against their schemas. */
  readonly tools?: readonly ToolSchema[];
  /** What is sent beside messages and tools: some rules depend on the model and on thinking. */
  readonly request?: Omit<ApiRequest, "messages" | "tools">;
  readonly check?: CheckOptions;
}

export interface FlattenedConversation {
  readonly messages: readonly ApiMessage[];
  /** What had to be repaired, with paths into the entries. */
  readonly findings: readonly Finding[];
}

/** The messages to send for these entries. */
export function flatten(entries: readonly Entry[], options: FlattenOptions = {}): readonly ApiMessage[] {
  return flattenChecked(entries, options).messages;
}

/**
 * The messages to send for these entries, and what was wrong with the entries. The rules are those of
 * {@link checkRequest}, applied by the same code, so what comes out passes it.
 */
export function flattenChecked(
  entries: readonly Entry[],
  options: FlattenOptions = {},
): FlattenedConversation {
  const { check = {} } = options;
  requireOwnShapes(entries);
  const draft = new Draft(frameOf(options), { pathOf: entryPath });
  draft.messages = readEntries(draft, entries, options);
  applyRules(draft, check);
  return { messages: finishDraft(draft).messages, findings: draft.findings };
}

/**
 * The number of messages that these entries are in a request: what one role says before the other does is one message,
 * whatever the number of entries. Repairs of the checker do not count.
 */
export function countMessages(entries: readonly Entry[]): number {
  return new MessageCounter(new Draft(frameOf({}), { pathOf: entryPath }), entries).total();
}

/** The request that the messages will go into. */
export function frameOf({ request, tools }: FlattenOptions): ApiRequest {
  return { ...request, ...(tools === undefined ? {} : { tools }), messages: [] };
}

export interface EntryReading {
  readonly clearedToolUseIds?: ReadonlySet<string>;
  /** The first entry to read; origins are indexes into the whole list all the same. */
  readonly from?: number;
}

/** The entries as messages that no rule has looked at yet. */
export function readEntries(
  draft: Draft,
  entries: readonly Entry[],
  { clearedToolUseIds, from = 0 }: EntryReading = {},
): readonly DraftMessage[] {
  const wanted = from === 0 ? entries : entries.slice(from);
  const seen = clearedToolUseIds === undefined ? wanted : withClearedResults(wanted, clearedToolUseIds);
  const sorter = new TurnSorter(draft);
  for (const [index, entry] of seen.entries()) sorter.add(entry, from + index);
  return sorter.finish();
}
