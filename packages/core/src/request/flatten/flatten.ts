import { type Entry, isEntry, isSynthetic, responseIdOf } from "../../messages/entry.ts";
import type { ApiMessage, ApiRequest, ToolSchema } from "../../messages/message.ts";
import { requireApiMessages } from "../../messages/require-messages.ts";
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
  /** Tool use ids of results to send as cleared. */
  readonly clearedToolUseIds?: ReadonlySet<string>;
  /** The tools of the request. Tool inputs are repaired to match their schemas. */
  readonly tools?: readonly ToolSchema[];
  /** Request fields besides messages and tools. Some rules depend on the model and on thinking. */
  readonly request?: Omit<ApiRequest, "messages" | "tools">;
  readonly check?: CheckOptions;
}

export interface FlattenedConversation {
  readonly messages: readonly ApiMessage[];
  /** Repairs, with paths into the entries. */
  readonly findings: readonly Finding[];
}

/** Converts entries to the messages to send. */
export function flatten(entries: readonly Entry[], options: FlattenOptions = {}): readonly ApiMessage[] {
  return flattenChecked(entries, options).messages;
}

/**
 * Converts entries to the messages to send, and reports problems of the entries. Applies the same rules with
 * the same code as {@link checkRequest}, so the result passes that check.
 */
export function flattenChecked(
  entries: readonly Entry[],
  options: FlattenOptions = {},
): FlattenedConversation {
  requireApiMessages(entries);
  const draft = new Draft(frameOf(options), entryPath);
  draft.messages = readEntries(draft, entries, options.clearedToolUseIds);
  applyRules(draft, checkSettings(options.check ?? {}));
  return { messages: finishDraft(draft).messages, findings: draft.findings };
}

/**
 * Flattens like {@link flattenChecked}, for entries that grow at their end. Each step costs only as much as
 * the new entries. Messages of completed rounds stay the same objects.
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

/** Returns the request fields around the messages. */
function frameOf({ request, tools }: FlattenOptions): ApiRequest {
  return { ...request, ...(tools === undefined ? {} : { tools }), messages: [] };
}

/**
 * Converts the entries from the index `from` on to messages that no rule has checked yet. Origins are indexes
 * into the whole list.
 */
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
