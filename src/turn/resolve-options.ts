import {
  CLEARING_TARGET_TOKENS,
  ELIGIBLE_TOOLS,
  IDLE_THRESHOLD_MS,
  MINUTE_MS,
} from "../clear/stale-results.ts";
import type { CompactionPorts } from "../compaction/apply/new-entries.ts";
import { field } from "../conversation/untrusted.ts";
import { type ModelTimeLimits, timeLimitsOf } from "../models/abortable.ts";
import { PLAIN_CAPABILITIES } from "../models/plain-model.ts";
import type { ModelCapabilities } from "../models/port.ts";
import { type CountText, ESTIMATORS } from "../tokens/measure.ts";
import type { KnownModel } from "../window/models.ts";
import { type PriceTable, readPrices } from "../window/prices.ts";
import { sessionWindow } from "../window/session-window.ts";
import { type EffectiveSettings, resolveSettings } from "../window/settings.ts";
import type { ClearingOptions, CompactionOptions, CompactorOptions } from "./options.ts";

/** Complete: what nobody set has its default, and what was set wrong is named in `warnings`. */
export interface ResolvedOptions
  extends Omit<CompactorOptions, "settings" | "prices" | "clearing" | "compaction" | "ports" | "countText"> {
  readonly facts: KnownModel;
  readonly capabilities: ModelCapabilities;
  readonly settings: EffectiveSettings;
  readonly prices: PriceTable;
  readonly clearing: ClearingOptions;
  readonly compaction: Partial<CompactionOptions>;
  readonly timeLimits: ModelTimeLimits;
  readonly ports: CompactionPorts;
  readonly countText: CountText;
  readonly warnings: readonly string[];
}

const DEFAULT_CLEARING: ClearingOptions = Object.freeze({
  form: "auto",
  tools: ELIGIBLE_TOOLS,
  targetTokens: CLEARING_TARGET_TOKENS,
  idleMinutes: IDLE_THRESHOLD_MS / MINUTE_MS,
});

export function resolveOptions(options: CompactorOptions): ResolvedOptions {
  const name = options.model?.name ?? options.modelName;
  const { settings, warnings } = resolveSettings({
    environment: options.environment ?? environmentOfProcess(),
    ...(options.settings === undefined ? {} : { options: options.settings }),
    file: options.settingsFile,
  });
  const { windowTokens, models, windowEvidence: evidence = null } = options;
  const facts = sessionWindow({ model: name, entries: [] }, { windowTokens, models, settings, evidence });
  const own = readPrices(options.prices, field(options.settingsFile, "prices"));
  return {
    ...options,
    modelName: name,
    facts,
    capabilities: options.model?.capabilities ?? {
      ...PLAIN_CAPABILITIES,
      boundThinking: facts.bindsThinking === true,
    },
    settings,
    prices: own.prices,
    clearing: { ...DEFAULT_CLEARING, ...options.clearing },
    compaction: options.compaction ?? {},
    timeLimits: timeLimitsOf({
      firstByteMs: options.compaction?.firstByteTimeoutMs,
      totalMs: options.compaction?.timeoutMs,
    }),
    ports: {
      now: options.ports?.now ?? (() => new Date()),
      newUuid: options.ports?.newUuid ?? (() => globalThis.crypto.randomUUID()),
    },
    countText: options.countText ?? ESTIMATORS.o200k,
    warnings: [...warnings, ...own.warnings],
  };
}

/** Where there is a process: the core runs in browsers too. */
function environmentOfProcess(): Readonly<Record<string, string | undefined>> {
  const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } };
  return process?.env ?? {};
}
