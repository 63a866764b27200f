import type { CompactionPorts } from "../compaction/apply/new-entries.ts";
import { CLEARING_TARGET_TOKENS, IDLE_THRESHOLD_MS, MINUTE_MS } from "../compaction/clear/clearing-limits.ts";
import { ELIGIBLE_TOOLS } from "../compaction/clear/stale-results.ts";
import { estimateO200k } from "../measure/tokens/estimate/o200k.ts";
import type { CountText } from "../measure/tokens/measure.ts";
import type { KnownModel } from "../measure/window/models.ts";
import { type PriceTable, readPrices } from "../measure/window/prices.ts";
import { sessionWindow } from "../measure/window/session-window.ts";
import { type EffectiveSettings, resolveSettings } from "../measure/window/settings.ts";
import { processEnvironment } from "../messages/environment.ts";
import { field } from "../messages/untrusted.ts";
import { type ModelTimeLimits, timeLimitsOf } from "../models/model-time-limits.ts";
import { PLAIN_CAPABILITIES } from "../models/plain-model.ts";
import type { Model, ModelCapabilities } from "../models/port.ts";
import type {
  ClearingOptions,
  CompactionOptions,
  CompactorOptions,
  CostOptions,
  SessionOptions,
  WindowSources,
} from "./options.ts";

/** Options with all defaults. `warnings` lists invalid values. */
export interface ResolvedOptions
  extends Omit<
    CompactorOptions,
    "model" | "window" | "cost" | "settings" | "clearing" | "compaction" | "ports" | "session"
  > {
  /** The model that writes summaries. Undefined if the host makes all calls itself. */
  readonly model: Model | undefined;
  readonly modelName: string | undefined;
  readonly facts: KnownModel;
  readonly capabilities: ModelCapabilities;
  readonly window: WindowSources;
  readonly settings: EffectiveSettings;
  readonly prices: PriceTable;
  readonly cacheTtl: CostOptions["cacheTtl"];
  readonly clearing: ClearingOptions;
  readonly compaction: Partial<CompactionOptions>;
  readonly timeLimits: ModelTimeLimits;
  readonly ports: CompactionPorts;
  readonly countText: CountText;
  readonly session: SessionOptions;
  readonly warnings: readonly string[];
}

const DEFAULT_CLEARING: ClearingOptions = Object.freeze({
  form: "auto",
  tools: ELIGIBLE_TOOLS,
  targetTokens: CLEARING_TARGET_TOKENS,
  idleMinutes: IDLE_THRESHOLD_MS / MINUTE_MS,
});

export function resolveOptions({ cost, ...options }: CompactorOptions): ResolvedOptions {
  const { window = {}, ports, compaction = {}, session = {} } = options;
  const model = typeof options.model === "string" ? undefined : options.model;
  const modelName = typeof options.model === "string" ? options.model : options.model?.name;
  const { values, file, environment = processEnvironment() } = options.settings ?? {};
  const { settings, warnings } = resolveSettings({ values, file, environment });
  const { tokens: windowTokens, models, evidence = null } = window;
  const facts = sessionWindow(
    { model: modelName, entries: [] },
    { windowTokens, models, settings, evidence },
  );
  const own = readPrices(cost?.prices, field(file, "prices"));
  return {
    ...options,
    model,
    modelName,
    facts,
    capabilities: model?.capabilities ?? {
      ...PLAIN_CAPABILITIES,
      boundThinking: facts.bindsThinking === true,
    },
    window,
    settings,
    prices: own.prices,
    cacheTtl: cost?.cacheTtl,
    clearing: { ...DEFAULT_CLEARING, ...options.clearing },
    compaction,
    timeLimits: timeLimitsOf({
      firstByteMs: compaction.firstByteTimeoutMs,
      totalMs: compaction.timeoutMs,
    }),
    ports: {
      now: ports?.now ?? (() => new Date()),
      newUuid: ports?.newUuid ?? randomUuid,
    },
    countText: ports?.countText ?? estimateO200k,
    session,
    warnings: [...warnings, ...own.warnings],
  };
}

/** Returns a random UUID (version 4). Browsers have `randomUUID` only in pages that they loaded over HTTPS. */
function randomUuid(): string {
  const { crypto } = globalThis as { readonly crypto?: Partial<typeof globalThis.crypto> };
  if (crypto?.randomUUID !== undefined) return crypto.randomUUID();
  // A few engines for apps have no `crypto` at all. Ids must be unique, not secret, so any random bytes do.
  const bytes = Uint8Array.from({ length: 16 }, () => Math.random() * 256);
  crypto?.getRandomValues?.(bytes);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const variant = "89ab"[Number.parseInt(hex.charAt(16), 16) % 4];
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
  ];
  return [...parts, hex.slice(20)].join("-");
}
