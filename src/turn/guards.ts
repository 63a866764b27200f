import { LonghaulError } from "../errors.ts";
import type { Settings } from "../window/settings.ts";
import type { SkipReason } from "./events.ts";
import type { Caller } from "./options.ts";
import type { Needs } from "./parts.ts";

/** Actions that switches, callers and modes may forbid. */
type Action = "auto" | "collapse" | "recovery" | "manual";

/** Facts that decide before anything is counted. */
export interface GuardFacts {
  readonly settings: Pick<Settings, "compactEnabled" | "autoCompactEnabled">;
  readonly health: { mayCompact(): boolean; mayRecover(): boolean };
  readonly caller: Caller;
  /** Compact only after an overflow, never ahead of one. */
  readonly reactiveOnly: boolean;
  /** Context collapse owns the headroom. */
  readonly collapseOn: boolean;
}

type Guard = readonly [
  reason: SkipReason,
  forbids: readonly Action[],
  applies: (facts: GuardFacts) => boolean,
];

/**
 * Reasons not to compact, in the order of the specification: users see the first that applies. Modes that leave the
 * headroom to others do not forbid a recovery, and neither do strikes of automatic compactions: without a recovery the
 * conversation could not continue. A collapse is what makes compactions rare, so the breaker does not count for it. A
 * compaction that waited for itself would wait for ever, so its own calls are never compacted.
 */
const GUARDS: readonly Guard[] = [
  ["disabled", ["auto", "collapse", "recovery", "manual"], ({ settings }) => !settings.compactEnabled],
  ["breaker-open", ["auto"], ({ health }) => !health.mayCompact()],
  ["breaker-open", ["recovery"], ({ health }) => !health.mayRecover()],
  [
    "caller-is-compaction",
    ["auto", "collapse", "recovery"],
    ({ caller }) => caller === "compact" || caller === "session-memory",
  ],
  ["caller-is-collapse", ["auto", "collapse", "recovery"], ({ caller }) => caller === "collapse"],
  ["auto-disabled", ["auto", "collapse", "recovery"], ({ settings }) => !settings.autoCompactEnabled],
  ["reactive-only", ["auto", "collapse"], ({ reactiveOnly }) => reactiveOnly],
  ["collapse-on", ["auto"], ({ collapseOn }) => collapseOn],
];

/** Why this action is forbidden, whatever the number of tokens. Undefined: the tokens decide. */
export function whyNot(action: Action, facts: GuardFacts): SkipReason | undefined {
  return GUARDS.find(([, forbids, applies]) => forbids.includes(action) && applies(facts))?.[0];
}

/** The same for a conversation as it is now. */
export function whyNotNow(
  action: Action,
  { options, health, turn, modules }: Needs<"options" | "health" | "turn" | "modules">,
): SkipReason | undefined {
  return whyNot(action, {
    settings: options.settings,
    health,
    caller: turn.caller,
    reactiveOnly: options.compaction.reactiveOnly === true,
    collapseOn: modules.headroomBy !== undefined,
  });
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
