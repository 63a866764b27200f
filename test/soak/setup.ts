import type { ToolDefinition } from "@longhaul/core";
import type { RequestFrame } from "@longhaul/core/compaction";
import type { ClearingOptions, CompactionOptions } from "@longhaul/core/engine";
import type { ThinkingMode } from "@longhaul/core/measure";
import { claudeFeatures, MODELS } from "@longhaul/core/measure";
import type { BadNotesKind, SpanKind } from "@longhaul/simulator";
import { BAD_NOTES_KINDS, BAD_SUMMARY_KINDS, type SummaryKind } from "@longhaul/simulator";
import { SPAN_KINDS } from "../../packages/simulator/src/behaviors/spans.ts";
import { TOOLS } from "../../packages/simulator/src/behaviors/toy-session.case.ts";
import type { Chance } from "./chance.ts";

/** How a host keeps the list that it passes to `before`. */
export type ListMode = "take" | "full" | "alternate";

/** Settings of a schedule that stay the same from its start to its end. */
export interface Setup {
  readonly windowTokens: number;
  /** The window size that the host configures. Undefined to use the table of models. */
  readonly configuredWindow: number | undefined;
  readonly model: string;
  readonly thinking: ThinkingMode | undefined;
  readonly maxTokens: number;
  readonly charactersPerToken: number;
  readonly latency: { readonly firstByteMs: number; readonly betweenEventsMs: number };
  readonly form: "messages" | "entries";
  readonly mode: ListMode;
  /** Share of calls for which the host copies all its objects. */
  readonly copies: number;
  readonly clearing: Partial<ClearingOptions>;
  readonly compaction: Partial<CompactionOptions>;
  readonly headroom: "none" | "notes" | "built-in-notes" | "collapse" | "built-in-collapse";
  readonly summaryKind: SummaryKind;
  readonly notesKind: "good" | "one-by-one" | "nothing" | BadNotesKind;
  readonly spanKind: SpanKind;
  /** Share of steps before which a fault is injected. */
  readonly faults: number;
  /** True if a fault hits every model call of the engine itself. */
  readonly isEngineCutOff: boolean;
  readonly wrongUsage: number;
  readonly aborts: number;
  readonly transcript: "sound" | "fails at times" | "hangs at times";
  readonly steps: number;
}

/** Rows of the model table for whole families. Schedules use the other rows. */
const FAMILIES: readonly string[] = ["claude", "claude-3"];
const MODEL_NAMES = Object.keys(MODELS).filter(
  (name) => name.startsWith("claude") && !FAMILIES.includes(name),
);
const CLEARING_FORMS = ["auto", "size", "time", "api", "off"] as const;

export function drawSetup(chance: Chance): Setup {
  const windowTokens = chance.pick([20_000, 24_000, 32_000, 32_000, 44_000, 60_000]);
  const model = chance.pick(MODEL_NAMES);
  return {
    windowTokens,
    configuredWindow: chance.is(0.85) ? windowTokens : chance.pick([undefined, windowTokens * 2]),
    model,
    thinking: chance.maybe(0.6, () => chance.pick(claudeFeatures(model).thinkingModes)),
    maxTokens: chance.pick([1_500, 2_500, 4_000]),
    charactersPerToken: chance.between(30, 44) / 10,
    latency: chance.is(0.5)
      ? { firstByteMs: 0, betweenEventsMs: 0 }
      : { firstByteMs: chance.between(100, 4_000), betweenEventsMs: chance.pick([0, 20]) },
    form: chance.pick(["messages", "messages", "entries"]),
    mode: chance.pick(["take", "full", "alternate"]),
    copies: chance.pick([0, 0, 0.3, 1]),
    clearing: { form: chance.pick(CLEARING_FORMS) },
    compaction: drawCompaction(chance),
    headroom: chance.weighted({
      none: 10,
      notes: 3,
      "built-in-notes": 2,
      collapse: 3,
      "built-in-collapse": 2,
    }),
    summaryKind: chance.is(0.7) ? "good" : chance.pick(BAD_SUMMARY_KINDS),
    notesKind: chance.is(0.7) ? "good" : chance.pick(["one-by-one", "nothing", ...BAD_NOTES_KINDS] as const),
    spanKind: chance.is(0.7) ? "good" : chance.pick(SPAN_KINDS),
    faults: chance.pick([0, 0.05, 0.2, 0.4]),
    isEngineCutOff: chance.is(0.06),
    wrongUsage: chance.pick([0, 0, 0.1, 0.5, 1]),
    aborts: chance.pick([0, 0, 0.08, 0.2]),
    transcript: chance.weighted({ sound: 92, "fails at times": 4, "hangs at times": 4 }),
    steps: chance.between(10, 26),
  };
}

function drawCompaction(chance: Chance): Partial<CompactionOptions> {
  return {
    summarizer: chance.weighted({ model: 8, "built-in": 2, provider: 1 }),
    background: chance.is(0.6),
    ...(chance.is(0.3) ? { keepRecentTokens: chance.pick([0, 500, 3_000, 12_000]) } : {}),
    ...(chance.is(0.1) ? { reactiveOnly: true } : {}),
  };
}

/** Returns the tokens per character of the provider's tokenizer for this model. */
export const tokensPerCharacter = ({ charactersPerToken, model }: Setup): number =>
  claudeFeatures(model).tokenScale / charactersPerToken;

const SYSTEM = "You are a careful engineer. Working directory: /home/dev/harbor\n";

/** Returns the request without its messages, with this thinking mode. */
export function frameOf(setup: Setup, thinking: ThinkingMode | undefined): RequestFrame {
  const chosen = thinkingParameter(thinking);
  return {
    system: SYSTEM.repeat(6),
    tools: TOOLS as unknown as readonly ToolDefinition[],
    max_tokens: setup.maxTokens,
    ...(chosen === undefined ? {} : { thinking: chosen }),
  } as RequestFrame;
}

const thinkingParameter = (thinking: ThinkingMode | undefined): object | undefined => {
  if (thinking === undefined) return undefined;
  return thinking === "enabled" ? { type: "enabled", budget_tokens: 1_024 } : { type: thinking };
};
