import { CLEARING_TARGET_TOKENS } from "../../compaction/clear/clearing-limits.ts";
import { KEPT_TOOL_USES } from "../../compaction/clear/context-edits.ts";
import { ELIGIBLE_TOOLS, isIdle, WRITE_LIKE_TOOLS } from "../../compaction/clear/stale-results.ts";
import type { RequestFrame } from "../../compaction/write/shared-prefix.ts";
import { clearingDisabledReason } from "../../engine/clear-stale.ts";
import type { EngineModule, EngineParts } from "../../engine/parts.ts";
import { inProportion } from "../../measure/window/thresholds.ts";
import type { ContextEdit } from "../../models/port.ts";

/** Size at which the provider starts to clear: the usual window minus the reserve for the answer. */
export const API_CLEARING_TRIGGER_TOKENS = 180_000;

/**
 * Lets the provider clear tool results, with strategies that are part of the request. Works only with
 * `clearing: { form: "api" }`. The provider clears anew in every call and always keeps the newest three
 * results. The prefix therefore changes with every turn, and the cache does not help.
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

/** Adds the edits to the request frame. A host that sends its own edits keeps them. */
function withEdits({ options, gauge, cache, thread }: EngineParts, frame: RequestFrame): RequestFrame {
  if (clearingDisabledReason(options) !== undefined || frame.context_management !== undefined) return frame;
  const { clearing } = options;
  const { thresholds } = gauge;
  const edits = contextEdits({
    // If the trigger were above the warning threshold, auto-compact or the blocking limit would act first,
    // and the provider would never clear.
    triggerTokens: Math.min(API_CLEARING_TRIGGER_TOKENS, thresholds.warning),
    targetTokens: inProportion(thresholds, clearing.targetTokens),
    tools: clearing.tools,
    usedTools: [...(frame.tools ?? []).map(({ name }) => name), ...thread.contents.toolNames],
    unseenResults: thread.contents.results.unseenCount,
    idleMs: cache.longestIdleMs,
    thinkingOn: isThinkingOn(frame),
  });
  return edits.length === 0 ? frame : { ...frame, context_management: { edits } };
}

/** Returns true for the two types of thinking with which the API accepts `clear_thinking`. */
const isThinkingOn = ({ thinking }: RequestFrame): boolean =>
  thinking?.type === "enabled" || thinking?.type === "adaptive";

export interface ContextEditOptions {
  /** Tools whose results can be fetched again. */
  readonly tools?: readonly string[] | undefined;
  /**
   * Every tool in the request and in its messages. The provider clears the results of all tools that are not
   * excluded.
   */
  readonly usedTools: readonly string[];
  readonly triggerTokens?: number | undefined;
  readonly targetTokens?: number | undefined;
  /**
   * The longest pause since the last compaction. If only the pause before this call counted, the next call
   * would bring all thinking back and break the cache a second time.
   */
  readonly idleMs?: number | undefined;
  /** Number of results that no model has seen. The provider keeps at least these. */
  readonly unseenResults?: number | undefined;
  /** True if the request enables thinking. Otherwise the provider refuses to clear thinking. */
  readonly thinkingOn: boolean;
}

/**
 * Creates the edits that make the provider clear tool results and thinking. The edits are part of the
 * request, so the same input gives the same bytes.
 */
export function contextEdits(options: ContextEditOptions): readonly ContextEdit[] {
  const clearing = clearToolUses(options);
  // The API requires the thinking edit to come first.
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
  const names = [...new Set(options.usedTools)].sort();
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

/** Rounds to tokens. The API accepts only whole numbers of at least 0. */
const asTokens = (value: number): number => Math.max(0, Math.round(value) || 0);
