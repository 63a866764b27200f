import { applyRules } from "../check/check.ts";
import { Draft, entryPath, finishDraft } from "../check/draft.ts";
import type { Finding } from "../check/finding.ts";
import type { CheckOptions } from "../check/rule.ts";
import { withClearedResults } from "../cleared.ts";
import type { Entry } from "../entry.ts";
import type { ApiMessage } from "../message.ts";
import { schemasByName, type ToolSchema } from "./tool-input.ts";
import { TurnSorter } from "./turns.ts";

export interface FlattenOptions {
  /** Tool results that are sent as cleared, by the id of their tool use. */
  readonly clearedToolUseIds?: ReadonlySet<string>;
  /** The tools of the request; inputs are put right against their schemas. */
  readonly tools?: readonly ToolSchema[];
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
  const { clearedToolUseIds, tools, check = {} } = options;
  const draft = new Draft({ messages: [], ...(tools === undefined ? {} : { tools }) }, entryPath);
  const sorter = new TurnSorter(draft, schemasByName(tools ?? []));
  const seen = clearedToolUseIds === undefined ? entries : withClearedResults(entries, clearedToolUseIds);
  for (const [index, entry] of seen.entries()) sorter.add(entry, index);
  draft.messages = sorter.finish();
  applyRules(draft, check);
  return { messages: finishDraft(draft).messages, findings: draft.findings };
}
