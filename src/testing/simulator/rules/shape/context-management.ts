import { BETAS } from "../../wording/betas.ts";
import { refuse } from "../../wording/refuse.ts";
import type { Inspection } from "../inspection.ts";
import {
  boolean,
  type Check,
  gated,
  integer,
  list,
  nullable,
  object,
  oneOf,
  required,
  string,
  stringOr,
  tagged,
  withBeta,
} from "./checks.ts";

const type = string;
const strings = list(string);

/** Below this many tokens the provider does not compact by itself. */
const MIN_COMPACTION_TRIGGER_TOKENS = 50_000;

/** Characters of the instructions of a compaction that is asked for. */
const MAX_INSTRUCTIONS_LENGTH = 16_384;

const amount = (kind: string, minimum: number): Check =>
  object({ type: required(oneOf(kind)), value: required(integer(minimum)) });

const count = object({ type, value: required(integer(0)) });

const clearToolUses = object({
  type,
  trigger: tagged({ input_tokens: count, tool_uses: count }),
  keep: amount("tool_uses", 0),
  clear_at_least: nullable(amount("input_tokens", 0)),
  exclude_tools: nullable(strings),
  clear_tool_inputs: (value: unknown, inspection: Inspection): void => {
    if (value !== null && typeof value !== "boolean") strings(value, inspection);
  },
});

const thinkingTurns = tagged({
  thinking_turns: object({ type, value: required(integer(1)) }),
  all: object({ type }),
});

const clearThinking = object({
  type,
  keep: (value: unknown, inspection: Inspection): void => {
    if (value !== "all") thinkingTurns(value, inspection);
  },
});

const compact = object({
  type,
  trigger: nullable(amount("input_tokens", MIN_COMPACTION_TRIGGER_TOKENS)),
  pause_after_compaction: boolean,
  instructions: nullable(string),
});

export const contextManagement: Check = nullable(
  object({
    edits: list(
      tagged({
        clear_thinking_20251015: gated(clearThinking, withBeta(BETAS.contextManagement)),
        clear_tool_uses_20250919: gated(clearToolUses, withBeta(BETAS.contextManagement)),
        compact_20260112: gated(compact, withBeta(BETAS.thresholdCompaction)),
      }),
    ),
  }),
);

const instructions: Check = (value, inspection) => {
  string(value, inspection);
  if (String(value).length > MAX_INSTRUCTIONS_LENGTH) {
    refuse("stringTooLong", { path: inspection.path, maximum: MAX_INSTRUCTIONS_LENGTH });
  }
};

const onDemandCompaction = object({
  type: required(oneOf("summarize")),
  instructions: nullable(instructions),
});

/** Other fields of a beta that is missing are unknown; this one says which beta it wants. */
export const compaction: Check = nullable((value, inspection) => {
  if (!inspection.hasBeta(BETAS.onDemandCompaction))
    refuse("compactionBeta", { beta: BETAS.onDemandCompaction });
  onDemandCompaction(value, inspection);
});

export const thread: Check = nullable(
  tagged({ create: object({ type }), continue: object({ type, previous_message_id: required(string) }) }),
);

/** The opt-in of the simulator: no public API has this field. */
export const cacheEdits: Check = list(
  object({ type: required(oneOf("delete_tool_result")), tool_use_id: required(string) }),
);

export const container: Check = nullable(
  stringOr(
    object({
      id: nullable(string),
      skills: nullable(list(object({ type, skill_id: string, version: string }))),
    }),
  ),
);
