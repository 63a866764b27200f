import { type Entry, isEntry, isSynthetic, responseIdOf } from "../../messages/entry.ts";
import { requireOwnShapes } from "../../messages/given-messages.ts";
import type { ApiMessage, ApiRequest, ToolSchema } from "../../messages/message.ts";
import { withClearedResults } from "../../messages/stand-ins.ts";
import { applyRules } from "../check/check.ts";
import { GrowingCheck, type ItemForm } from "../check/growing-check.ts";
import {
  type CheckOptions,
  checkSettings,
  Draft,
  type DraftMessage,
  entryPath,
  type Finding,
  finishDraft,
} from "../check/rule.ts";
import { schemasByName } from "../check/tool-call-rules.ts";
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
  requireOwnShapes(entries);
  const draft = new Draft(frameOf(options), entryPath);
  draft.messages = readEntries(draft, entries, options.clearedToolUseIds);
  applyRules(draft, checkSettings(options.check ?? {}));
  return { messages: finishDraft(draft).messages, findings: draft.findings };
}

/**
 * The same for entries that grow at their end, at the cost of what is new. Messages of rounds that are over stay the
 * same objects.
 */
export class FlattenedEntries extends GrowingCheck<Entry> {
  constructor(options: FlattenOptions = {}) {
    super(entryForm(options), options.check ?? {});
  }
}

function entryForm(options: FlattenOptions): ItemForm<Entry> {
  const frame = frameOf(options);
  const schemas = schemasByName(options.tools);
  return {
    draft: (entries, from) => {
      const draft = new Draft(frame, entryPath);
      draft.schemas = schemas;
      draft.messages = readEntries(draft, entries, options.clearedToolUseIds, from);
      return draft;
    },
    makesMessages: true,
    joinId: (entry) =>
      isEntry(entry) && entry.type === "assistant" && !isSynthetic(entry) ? responseIdOf(entry) : undefined,
  };
}

/** The request that the messages will go into. */
function frameOf({ request, tools }: FlattenOptions): ApiRequest {
  return { ...request, ...(tools === undefined ? {} : { tools }), messages: [] };
}

/** The entries from `from` on as messages that no rule has looked at yet. Origins are indexes into the whole list. */
export function readEntries(
  draft: Draft,
  entries: readonly Entry[],
  clearedToolUseIds: ReadonlySet<string> = new Set(),
  from = 0,
): readonly DraftMessage[] {
  const wanted = from === 0 ? entries : entries.slice(from);
  const sorter = new TurnSorter(draft);
  for (const [index, entry] of withClearedResults(wanted, clearedToolUseIds).entries()) {
    sorter.add(entry, from + index);
  }
  return sorter.finish();
}
