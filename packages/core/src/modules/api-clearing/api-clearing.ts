import { CLEARING_TARGET_TOKENS } from "../../compaction/clear/clearing-limits.ts";
import { KEPT_TOOL_USES } from "../../compaction/clear/context-edits.ts";
import { ELIGIBLE_TOOLS, isIdle, WRITE_LIKE_TOOLS } from "../../compaction/clear/stale-results.ts";
import type { RequestFrame } from "../../compaction/write/shared-prefix.ts";
import { whyNotToClear } from "../../engine/clear-stale.ts";
import type { EngineModule, EngineParts } from "../../engine/parts.ts";
import { inProportion } from "../../measure/window/thresholds.ts";
import type { ContextEdit } from "../../models/port.ts";

/** The provider begins to clear here: the usual window less what is set aside for the answer. */
export const API_CLEARING_TRIGGER_TOKENS = 180_000;

/**
 * The provider's own clearing, by strategies that go with the request. It works only with `clearing: { form: "api" }`:
 * the provider starts anew with every call and always spares the newest three, so the prefix changes with every turn and
 * nothing of it is read from the cache.
 */
export function apiClearing(): EngineModule {
  return {
    name: "api",
    attach: (parts) => {
      const { capabilities, clearing } = parts.options;
      if (!capabilities.contextEdits || clearing.form !== "api") return undefined;
      return { completeFrame: (frame) => withEdits(parts, frame) };
    },
  };
}

/** A host that sends edits of its own keeps them. */
function withEdits({ options, gauge, cache, thread }: EngineParts, frame: RequestFrame): RequestFrame {
  if (whyNotToClear(options) !== undefined || frame.context_management !== undefined) return frame;
  const { clearing } = options;
  const { thresholds } = gauge;
  const edits = contextEdits({
    // Above the warning, auto-compact or the blocking limit would come first and the provider never clear.
    triggerTokens: Math.min(API_CLEARING_TRIGGER_TOKENS, thresholds.warning),
    targetTokens: inProportion(thresholds, clearing.targetTokens),
    tools: clearing.tools,
    toolsInPlay: [...(frame.tools ?? []).map(({ name }) => name), ...thread.contents.toolNames],
    unseenResults: thread.contents.results.unseenCount,
    idleMs: cache.longestIdleMs,
    thinkingOn: isThinkingOn(frame),
  });
  return edits.length === 0 ? frame : { ...frame, context_management: { edits } };
}

/** The API takes `clear_thinking` with these two types of thinking and refuses it with all others. */
const isThinkingOn = ({ thinking }: RequestFrame): boolean =>
  thinking?.type === "enabled" || thinking?.type === "adaptive";

export interface ContextEditOptions {
  /** Those whose results can be had again. */
  readonly tools?: readonly string[] | undefined;
  /** Every tool of the request, and of calls in its messages: the provider clears all it is not told to spare. */
  readonly toolsInPlay: readonly string[];
  readonly triggerTokens?: number | undefined;
  readonly targetTokens?: number | undefined;
  /**
   * The longest pause since the conversation was last compacted. The pause before this call alone would
   * bring all thinking back with the next one, and break the cache a second time.
   */
  readonly idleMs?: number | undefined;
  /** Results that no model has seen: the provider keeps at least these. */
  readonly unseenResults?: number | undefined;
  /** The request lets the model think: without that the provider refuses to clear thinking. */
  readonly thinkingOn: boolean;
}

/** What has the provider clear by itself. The same for the same input, byte for byte: it is part of the request. */
export function contextEdits(options: ContextEditOptions): readonly ContextEdit[] {
  const clearing = clearToolUses(options);
  // The API wants thinking first.
  const thinking = options.thinkingOn ? [clearThinking(isIdle(options.idleMs))] : [];
  return clearing === undefined ? thinking : [...thinking, clearing];
}

function clearThinking(wasIdle: boolean): ContextEdit {
  return {
    type: "clear_thinking_20251015",
    keep: wasIdle ? { type: "thinking_turns", value: 1 } : "all",
  };
}

function clearToolUses(options: ContextEditOptions): ContextEdit | undefined {
  const {
    tools = ELIGIBLE_TOOLS,
    triggerTokens = API_CLEARING_TRIGGER_TOKENS,
    targetTokens = CLEARING_TARGET_TOKENS,
  } = options;
  const eligible = new Set(tools);
  const names = [...new Set(options.toolsInPlay)].sort();
  const spared = names.filter((name) => !eligible.has(name));
  const writing = names.filter((name) => eligible.has(name) && WRITE_LIKE_TOOLS.has(name));
  if (spared.length === names.length) return undefined;
  return {
    type: "clear_tool_uses_20250919",
    trigger: { type: "input_tokens", value: asTokens(triggerTokens) },
    keep: { type: "tool_uses", value: Math.max(KEPT_TOOL_USES, options.unseenResults ?? 0) },
    clear_at_least: { type: "input_tokens", value: asTokens(triggerTokens - targetTokens) },
    ...(spared.length === 0 ? {} : { exclude_tools: spared }),
    ...(writing.length === 0 ? {} : { clear_tool_inputs: writing }),
  };
}

/** The API takes whole numbers from 0 on. */
const asTokens = (value: number): number => Math.max(0, Math.round(value) || 0);
