import { LonghaulError } from "../errors.ts";
import type { Settings } from "../window/settings.ts";
import type { SkipReason } from "./events.ts";
import type { Caller } from "./options.ts";
import type { ConversationState } from "./state.ts";

export interface GuardState {
  readonly settings: Pick<Settings, "compactEnabled" | "autoCompactEnabled">;
  readonly breaker: { mayCompact(): boolean };
  readonly caller: Caller;
  /** Compact only after an overflow, never ahead of one. */
  readonly reactiveOnly: boolean;
  /** Context collapse owns the headroom. */
  readonly collapseOn: boolean;
}

/**
 * Why the engine must not compact by itself, asked before anything is counted: undefined means that the
 * tokens decide. The order is part of the contract, for the first reason is the one that people are told.
 */
export function whyNotToCompact(state: GuardState): SkipReason | undefined {
  const { settings, breaker, caller, reactiveOnly, collapseOn } = state;
  if (!settings.compactEnabled) return "disabled";
  if (!breaker.mayCompact()) return "breaker-open";
  const ownWork = whyNotFor(caller);
  if (ownWork !== undefined) return ownWork;
  if (!settings.autoCompactEnabled) return "auto-disabled";
  if (reactiveOnly) return "reactive-only";
  return collapseOn ? "collapse-on" : undefined;
}

/** The same of a conversation as it is now. */
export function whyNotToCompactNow(state: ConversationState): SkipReason | undefined {
  const { breaker, caller, collapse, options } = state;
  const reactiveOnly = options.compaction.reactiveOnly === true;
  return whyNotToCompact({
    settings: options.settings,
    breaker,
    caller,
    reactiveOnly,
    collapseOn: collapse !== undefined,
  });
}

/**
 * Spans are collapsed where auto-compact would be allowed, but for the breaker: that counts compactions, and a
 * collapse is what makes them rare.
 */
export function whyNotToCollapse(
  state: Pick<GuardState, "settings" | "caller" | "reactiveOnly">,
): SkipReason | undefined {
  return whyNotToCompact({ ...state, breaker: { mayCompact: () => true }, collapseOn: false });
}

/** The user asks: nothing but the switch for everything stands in the way. */
export function whyNotToCompactByHand({ settings }: Pick<GuardState, "settings">): SkipReason | undefined {
  return settings.compactEnabled ? undefined : "disabled";
}

/** Stale tool results: clearing has a switch of its own, and the switch for everything stops it as well. */
export function whyNotToClear({
  settings,
}: {
  readonly settings: Pick<Settings, "compactEnabled" | "microcompactEnabled">;
}): "disabled" | "clearing-disabled" | undefined {
  if (!settings.compactEnabled) return "disabled";
  return settings.microcompactEnabled ? undefined : "clearing-disabled";
}

const ENABLE_COMPACTION = "Unset DISABLE_COMPACT, or set compactEnabled to true in the settings.";

export function compactionDisabled(): LonghaulError {
  return new LonghaulError(
    "compaction-disabled",
    "Compaction is switched off (DISABLE_COMPACT or compactEnabled).",
    { remedy: ENABLE_COMPACTION },
  );
}

/** Advice for a conversation that no longer fits and that the engine must not compact by itself. */
export function remedyWithoutAutoCompact({ compactEnabled }: Pick<Settings, "compactEnabled">): string {
  return compactEnabled
    ? "Automatic compaction is switched off (DISABLE_AUTO_COMPACT or autoCompactEnabled). Compact the conversation manually, or switch automatic compaction on, then call again."
    : `Compaction is switched off (DISABLE_COMPACT or compactEnabled). ${ENABLE_COMPACTION} Then compact and call again.`;
}

export interface RecoveryState extends Pick<GuardState, "settings" | "caller"> {
  readonly breaker: { mayRecover(): boolean };
}

/**
 * After an overflow. Modes that leave the headroom to others do not matter here, and neither do strikes of
 * the proactive kind: without a recovery the conversation could not go on at all. But auto-compact that is
 * off stays off on this path as well (then the user gets the error with {@link remedyWithoutAutoCompact}), and
 * recoveries that failed again and again are not tried further.
 */
export function whyNotToRecover({ settings, breaker, caller }: RecoveryState): SkipReason | undefined {
  if (!settings.compactEnabled) return "disabled";
  if (!breaker.mayRecover()) return "breaker-open";
  return whyNotFor(caller) ?? (settings.autoCompactEnabled ? undefined : "auto-disabled");
}

/** A compaction that waited for itself would wait for ever. */
function whyNotFor(caller: Caller): SkipReason | undefined {
  if (caller === "compact" || caller === "session-memory") return "caller-is-compaction";
  return caller === "collapse" ? "caller-is-collapse" : undefined;
}
