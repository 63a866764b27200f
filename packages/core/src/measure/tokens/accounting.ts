import {
  type AttachmentEntry,
  type Entry,
  entryBlocks,
  isEntry,
  isSynthetic,
  type UserEntry,
} from "../../messages/entry.ts";
import { isHarnessText } from "../../messages/lines.ts";
import type { ContentBlock, ToolResultBlock, ToolUseBlock } from "../../messages/message.ts";
import { requireApiMessages } from "../../messages/require-messages.ts";
import { isCleared } from "../../messages/stand-ins.ts";
import { filePathIn, fileUseOf } from "../../messages/tool-kinds.ts";
import { contentText, stringField } from "../../messages/untrusted.ts";
import { isSentAttachment } from "../../request/flatten/attachment-content.ts";
import { type CountText, measureBlock, measureEntry } from "./measure.ts";

/**
 * Breakdown of a conversation's tokens by source. Uses maps instead of objects because tool names come from
 * files.
 */
export interface TokenAccounting {
  readonly total: number;
  readonly humanText: number;
  readonly assistantText: number;
  readonly localCommandOutput: number;
  readonly toolRequests: ReadonlyMap<string, number>;
  /** Tokens of all tool requests. */
  readonly toolRequestTokens: number;
  readonly toolResults: ReadonlyMap<string, number>;
  /** Tokens of all tool results. */
  readonly toolResultTokens: number;
  /** Number of sent attachments by type. Their tokens are part of `other`. */
  readonly attachments: ReadonlyMap<string, number>;
  readonly other: number;
  /** Breakdown of `other`: thinking, media, summaries, attachments, and text that the host injected. */
  readonly otherByKind: ReadonlyMap<string, number>;
  readonly duplicateReads: readonly DuplicateRead[];
  /** Every tool result, largest first. */
  readonly results: readonly MeasuredResult[];
}

export interface DuplicateRead {
  readonly path: string;
  readonly reads: number;
  readonly tokens: number;
  readonly wastedTokens: number;
}

export interface MeasuredResult {
  readonly toolUseId: string;
  readonly tool: string;
  /** The path, command or pattern that the tool was called with. */
  readonly subject: string | undefined;
  readonly tokens: number;
  readonly isCleared: boolean;
}

const UNKNOWN_TOOL = "unknown";
const LOCAL_COMMAND_TAG = "local-command-stdout";
/** Input fields that name the subject of a tool call, the most descriptive first. */
const SUBJECT_FIELDS = [
  "file_path",
  "notebook_path",
  "path",
  "command",
  "pattern",
  "url",
  "query",
  "description",
];

/**
 * Tokens of entries and blocks that were counted earlier. Fractions are rounded so that the parts add up to
 * the total.
 */
export interface KnownTokens {
  /** @param index Position of the entry in the list of accounted entries. */
  ofEntry(entry: Entry, index: number): number;
  ofBlock(block: ContentBlock): number;
}

export function accountTokens(entries: readonly Entry[], countText: CountText): TokenAccounting {
  requireApiMessages(entries);
  return accountKnown(entries, {
    ofEntry: (entry) => measureEntry(entry, countText),
    ofBlock: (block) => measureBlock(block, countText),
  });
}

/** Works like {@link accountTokens}, but uses known counts instead of counting again. */
export function accountKnown(entries: readonly Entry[], known: KnownTokens): TokenAccounting {
  const ledger = new Ledger(known);
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index];
    if (isEntry(entry)) ledger.enter(entry, index);
  }
  return ledger.close();
}

/** Collects the figures in one pass. One pass is enough, because a tool call comes before its result. */
class Ledger {
  readonly #known: KnownTokens;
  readonly #calls = new Map<string, ToolUseBlock>();
  readonly #requests = new Map<string, number>();
  readonly #results = new Map<string, number>();
  readonly #attachments = new Map<string, number>();
  readonly #other = new Map<string, number>();
  readonly #reads = new Map<string, { reads: number; tokens: number }>();
  readonly #measured: LedgerResult[] = [];
  #exact = 0;
  #entered = 0;
  #human = 0;
  #assistant = 0;
  #localCommand = 0;

  constructor(known: KnownTokens) {
    this.#known = known;
  }

  enter(entry: Entry, index: number): void {
    if (entry.type === "attachment")
      this.#enterAttachment(entry, this.#whole(this.#known.ofEntry(entry, index)));
    else if (entry.type === "user" || (entry.type === "assistant" && !isSynthetic(entry))) {
      const blocks = entryBlocks(entry);
      for (const block of blocks) {
        const isOnly = blocks.length === 1;
        const tokens = this.#whole(isOnly ? this.#known.ofEntry(entry, index) : this.#known.ofBlock(block));
        if (entry.type === "user") this.#enterUserBlock(block, entry, tokens);
        else this.#enterAssistantBlock(block, tokens);
      }
    }
  }

  /** Rounds so that the parts add up to the rounded total. */
  #whole(tokens: number): number {
    this.#exact += tokens;
    const whole = Math.round(this.#exact) - this.#entered;
    this.#entered += whole;
    return whole;
  }

  close(): TokenAccounting {
    const other = sum(this.#other);
    const measured = this.#measured;
    const texts = this.#human + this.#assistant + this.#localCommand;
    const toolRequestTokens = sum(this.#requests);
    const toolResultTokens = sum(this.#results);
    return {
      total: texts + toolRequestTokens + toolResultTokens + other,
      humanText: this.#human,
      assistantText: this.#assistant,
      localCommandOutput: this.#localCommand,
      toolRequests: largestFirst(this.#requests),
      toolRequestTokens,
      toolResults: largestFirst(this.#results),
      toolResultTokens,
      attachments: largestFirst(this.#attachments),
      other,
      otherByKind: largestFirst(this.#other),
      duplicateReads: duplicateReads(this.#reads),
      // Computed on demand: there are thousands of results, and most callers do not need them.
      get results() {
        return measured.map(describeResult).sort((a, b) => b.tokens - a.tokens);
      },
    };
  }

  #enterAttachment(entry: AttachmentEntry, tokens: number): void {
    if (!isSentAttachment(entry)) return;
    const type = String(entry.attachment?.type ?? UNKNOWN_TOOL);
    add(this.#attachments, type, 1);
    // The user typed this text while the agent worked. No user entry contains it.
    const isTyped = type === "queued_command" && !isHarnessText(contentText(entry.attachment.prompt));
    if (isTyped) this.#human += tokens;
    else add(this.#other, "attachment", tokens);
  }

  #enterAssistantBlock(block: ContentBlock, tokens: number): void {
    if (block.type === "text") this.#assistant += tokens;
    else if (block.type === "tool_use") {
      add(this.#requests, toolName(block), tokens);
      this.#calls.set(block.id, block);
    } else add(this.#other, block.type, tokens);
  }

  #enterUserBlock(block: ContentBlock, entry: UserEntry, tokens: number): void {
    if (block.type === "tool_result") this.#enterResult(block, tokens);
    else if (block.type !== "text") add(this.#other, block.type, tokens);
    else if (entry.isCompactSummary) add(this.#other, "summary", tokens);
    else this.#enterUserText(contentText([block]), entry, tokens);
  }

  #enterUserText(text: string, entry: UserEntry, tokens: number): void {
    // Notices of the agent program are checked first, because a notice may quote the tag of local commands.
    if (isHarnessText(text)) add(this.#other, "injected", tokens);
    else if (text.includes(LOCAL_COMMAND_TAG)) this.#localCommand += tokens;
    else if (entry.isMeta) add(this.#other, "injected", tokens);
    else this.#human += tokens;
  }

  #enterResult(block: ToolResultBlock, tokens: number): void {
    const call = this.#calls.get(block.tool_use_id);
    add(this.#results, toolName(call), tokens);
    this.#measured.push({ block, call, tokens });
    const readPath = call && readPathIn(call);
    if (readPath === undefined || isCleared(block)) return;
    const { reads, tokens: before } = this.#reads.get(readPath) ?? { reads: 0, tokens: 0 };
    this.#reads.set(readPath, { reads: reads + 1, tokens: before + tokens });
  }
}

interface LedgerResult {
  readonly block: ToolResultBlock;
  readonly call: ToolUseBlock | undefined;
  readonly tokens: number;
}

const toolName = (call: ToolUseBlock | undefined): string => String(call?.name ?? UNKNOWN_TOOL);

const readPathIn = (call: ToolUseBlock): string | undefined =>
  fileUseOf(toolName(call), call.input) === "read" ? filePathIn(call.input) : undefined;

function describeResult({ block, call, tokens }: LedgerResult): MeasuredResult {
  const key = SUBJECT_FIELDS.find((name) => stringField(call?.input, name) !== undefined);
  return {
    toolUseId: block.tool_use_id,
    tool: toolName(call),
    subject: key === undefined ? undefined : stringField(call?.input, key),
    tokens,
    isCleared: isCleared(block),
  };
}

/**
 * Returns the files that were read more than once. All reads except one count as waste, each with the average
 * size of a read.
 */
function duplicateReads(
  reads: ReadonlyMap<string, { readonly reads: number; readonly tokens: number }>,
): readonly DuplicateRead[] {
  const duplicates: DuplicateRead[] = [];
  for (const [path, { reads: count, tokens }] of reads) {
    if (count < 2) continue;
    duplicates.push({ path, reads: count, tokens, wastedTokens: Math.floor(tokens / count) * (count - 1) });
  }
  return duplicates.sort((a, b) => b.wastedTokens - a.wastedTokens);
}

const add = (map: Map<string, number>, key: string, tokens: number): void => {
  map.set(key, (map.get(key) ?? 0) + tokens);
};

const sum = (map: ReadonlyMap<string, number>): number => {
  let total = 0;
  for (const tokens of map.values()) total += tokens;
  return total;
};

const largestFirst = (map: ReadonlyMap<string, number>): ReadonlyMap<string, number> =>
  new Map([...map].sort((a, b) => b[1] - a[1]));

/**
 * Returns the accounting as flat names and numbers for events and dashboards. It has counts only, no content.
 */
export function accountingMetrics(accounting: TokenAccounting): Readonly<Record<string, number>> {
  const duplicateTokens = accounting.duplicateReads.reduce((sum, read) => sum + read.wastedTokens, 0);
  const tokens: [string, number][] = [
    ["human_message", accounting.humanText],
    ["assistant_message", accounting.assistantText],
    ["local_command_output", accounting.localCommandOutput],
    ["other", accounting.other],
    ["duplicate_read", duplicateTokens],
    ["tool_request", accounting.toolRequestTokens],
    ["tool_result", accounting.toolResultTokens],
    ...[...accounting.toolRequests].map(([tool, count]): [string, number] => [`tool_request_${tool}`, count]),
    ...[...accounting.toolResults].map(([tool, count]): [string, number] => [`tool_result_${tool}`, count]),
  ];
  return Object.fromEntries([
    ["total_tokens", accounting.total],
    ...tokens.map(([name, count]) => [`${name}_tokens`, count]),
    ["duplicate_read_file_count", accounting.duplicateReads.length],
    ...[...accounting.attachments].map(([type, count]) => [`attachment_${type}_count`, count]),
    ...percentages(tokens, accounting.total),
  ]);
}

function percentages(tokens: readonly [string, number][], total: number): [string, number][] {
  if (total === 0) return [];
  return tokens.map(([name, count]) => [`${name}_percent`, Math.round((count / total) * 100)]);
}
