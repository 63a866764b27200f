import type { ApiMessage } from "../../../conversation/message.ts";
import { type ContentBlock, contentBlocks, type ToolUseBlock } from "../../../conversation/message.ts";
import { asList, field, isRecord, type JsonRecord, stringField } from "../../../conversation/untrusted.ts";
import { textOf } from "../wording/refuse.ts";

/** The defaults of the edit as documented. */
const DEFAULT_TRIGGER_TOKENS = 100_000;
const DEFAULT_KEPT_TOOL_USES = 3;
/** Where the results are no longer than the placeholder there is nothing to gain. */
const LEAST_GAIN_TOKENS = 1;
/** What stands in the place of a cleared result. */
export const CLEARED_RESULT: string = textOf("clearedResult");

export interface ClearToolUses {
  readonly trigger: { readonly type: "input_tokens" | "tool_uses"; readonly value: number };
  readonly keep: number;
  /** Below this the edit is not worth a broken cache, and is left out. */
  readonly clearAtLeastTokens: number;
  readonly excludedTools: ReadonlySet<string>;
  readonly clearsInput: (tool: string) => boolean;
}

export function readClearToolUses(edit: JsonRecord): ClearToolUses {
  const inputs = edit.clear_tool_inputs;
  return {
    trigger: {
      type: stringField(edit.trigger, "type") === "tool_uses" ? "tool_uses" : "input_tokens",
      value: numberOf(edit.trigger) ?? DEFAULT_TRIGGER_TOKENS,
    },
    keep: numberOf(edit.keep) ?? DEFAULT_KEPT_TOOL_USES,
    clearAtLeastTokens: Math.max(LEAST_GAIN_TOKENS, numberOf(edit.clear_at_least) ?? 0),
    excludedTools: new Set(asList(edit.exclude_tools).map(String)),
    clearsInput: (tool) => inputs === true || asList(inputs).includes(tool),
  };
}

function numberOf(value: unknown): number | undefined {
  const found = field(value, "value");
  return typeof found === "number" ? found : undefined;
}

export interface ClearedToolUses {
  readonly messages: readonly ApiMessage[];
  readonly clearedToolUses: number;
}

/** Whether there is so much that something should be cleared. */
export function isTriggered(
  { trigger }: ClearToolUses,
  messages: readonly ApiMessage[],
  tokens: number,
): boolean {
  const size = trigger.type === "tool_uses" ? toolUses(messages).length : tokens;
  return size > trigger.value;
}

/** Results of the oldest uses become a placeholder; call and result stay a pair. */
export function clearToolUses(messages: readonly ApiMessage[], edit: ClearToolUses): ClearedToolUses {
  const answered = answeredIds(messages);
  const uses = toolUses(messages).filter(({ id }) => answered.has(id));
  const old = uses.slice(0, Math.max(0, uses.length - edit.keep));
  const names = new Map(
    old.filter(({ name }) => !edit.excludedTools.has(name)).map(({ id, name }) => [id, name]),
  );
  const cleared = new Set<string>();
  const clearBlock = (block: ContentBlock): ContentBlock => {
    if (block.type === "tool_result" && names.has(block.tool_use_id)) {
      if (block.content === CLEARED_RESULT) return block;
      cleared.add(block.tool_use_id);
      return { ...block, content: CLEARED_RESULT };
    }
    const name = block.type === "tool_use" ? names.get(block.id) : undefined;
    if (block.type !== "tool_use" || name === undefined || !edit.clearsInput(name) || isEmpty(block.input)) {
      return block;
    }
    cleared.add(block.id);
    return { ...block, input: {} };
  };
  const changed = messages.map((message) => rewrite(message, clearBlock));
  return cleared.size === 0
    ? { messages, clearedToolUses: 0 }
    : { messages: changed, clearedToolUses: cleared.size };
}

function rewrite(message: ApiMessage, change: (block: ContentBlock) => ContentBlock): ApiMessage {
  if (typeof message.content === "string") return message;
  const blocks = contentBlocks(message.content);
  const content = blocks.map(change);
  return content.every((block, index) => block === blocks[index]) ? message : { ...message, content };
}

const toolUses = (messages: readonly ApiMessage[]): readonly ToolUseBlock[] =>
  messages.flatMap((message) =>
    typeof message.content === "string" || message.role !== "assistant"
      ? []
      : contentBlocks(message.content).filter((block) => block.type === "tool_use"),
  );

/** A call that still waits for its result cannot be cleared. */
function answeredIds(messages: readonly ApiMessage[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const message of messages) {
    if (typeof message.content === "string") continue;
    for (const block of contentBlocks(message.content)) {
      if (block.type === "tool_result") ids.add(block.tool_use_id);
    }
  }
  return ids;
}

const isEmpty = (input: unknown): boolean => isRecord(input) && Object.keys(input).length === 0;
