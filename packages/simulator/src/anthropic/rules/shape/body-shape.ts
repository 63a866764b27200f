import { isRecord } from "@longhaul/core/internal/messages";
import { MAX_MESSAGES, TOOL_NAME_PATTERN, TOOL_USE_ID_PATTERN } from "@longhaul/core/internal/request";
import {
  anything,
  boolean,
  gated,
  integer,
  list,
  nullable,
  object,
  oneOf,
  record,
  required,
  shortString,
  string,
  stringOr,
  tagged,
  unless,
} from "../../../shape/shape-check.ts";
import { BETAS, BETAS_FOR } from "../../wording/betas.ts";
import { refuse } from "../../wording/refuse.ts";
import { cacheControl, contentBlock, textBlock, toolDefinition } from "./block-shapes.ts";
import { type Check, type Fields, type Inspection, share, withBeta } from "./inspection.ts";

/** Minimum thinking budget in tokens. */
const MIN_THINKING_BUDGET_TOKENS = 1_024;

/** Minimum trigger for the provider's own compaction. */
const MIN_COMPACTION_TRIGGER_TOKENS = 50_000;

/** Maximum characters of the instructions of an on-demand compaction. */
const MAX_INSTRUCTIONS_LENGTH = 16_384;

/** Checks types, required fields and unknown fields of the whole body. */
export function checkShape(inspection: Inspection): void {
  const { endpoint, body } = inspection.request;
  (endpoint === "messages" ? createBody : countBody)(body, inspection);
}

// Messages

/**
 * Returns true for blocks of the few forms that nearly all blocks have. They skip the general checks, which
 * take several times as long. Speed matters, because every call sends the whole conversation again.
 */
function isPlainBlock(block: unknown): boolean {
  if (!isRecord(block)) return false;
  switch (block.type) {
    case "text":
      return typeof block.text === "string" && hasFields(block, 2);
    case "thinking":
      return typeof block.thinking === "string" && typeof block.signature === "string" && hasFields(block, 3);
    case "tool_use":
      return (
        matches(block.id, TOOL_USE_ID_PATTERN) &&
        matches(block.name, TOOL_NAME_PATTERN) &&
        isRecord(block.input) &&
        hasFields(block, 4)
      );
    case "tool_result": {
      const fields = typeof block.is_error === "boolean" ? 4 : 3;
      const isAnswer = matches(block.tool_use_id, TOOL_USE_ID_PATTERN) && typeof block.content === "string";
      return isAnswer && hasFields(block, fields);
    }
    default:
      return false;
  }
}

function hasFields(block: object, count: number): boolean {
  let found = 0;
  for (const _ in block) found++;
  return found === count;
}

const matches = (value: unknown, pattern: RegExp): boolean =>
  typeof value === "string" && pattern.test(value);

const content = stringOr(
  list((block, inspection: Inspection) => {
    if (!isPlainBlock(block)) contentBlock(block, inspection);
  }),
);
const effort = nullable(oneOf("low", "medium", "high", "xhigh", "max"));

const spokenMessage = object({ role: anything, content: required(content) });

/** System message. Its content is optional, because a message may only set the effort. */
const systemMessage = object({
  role: anything,
  content,
  clear_at: gated(nullable(oneOf("next_user_message", "never")), withBeta(BETAS.systemClearAt)),
  output_config: gated(
    nullable(object({ effort })),
    withBeta(BETAS.systemOutputConfig, BETAS.perTurnControl),
  ),
});

const message: Check = (value, inspection) => {
  if (!isRecord(value)) return refuse("notObject", { path: inspection.path });
  const { role } = value;
  if (role === "user" || role === "assistant") {
    if (value.content === undefined || !hasFields(value, 2)) return spokenMessage(value, inspection);
    inspection.enter("content");
    content(value.content, inspection);
    return inspection.leave();
  }
  if (role === "system") return systemMessage(value, inspection);
  inspection.enter("role");
  refuse(role === undefined ? "fieldRequired" : "badRole", { path: inspection.path });
};

const messages = list(message, { maximum: MAX_MESSAGES });

// Thinking, tools and output

const display = nullable(
  unless(
    (value, inspection: Inspection) =>
      value === "updates" && inspection.hasBeta(BETAS.thinkingDisplayUpdates),
    oneOf("summarized", "omitted"),
  ),
);

const shownThinking: Fields = {
  display,
  block_binding: gated(
    nullable(object({ prefix_mismatch_behavior: nullable(oneOf("error", "drop_block")) })),
    withBeta(BETAS.thinkingBinding),
  ),
};

const thinking = tagged({
  adaptive: shownThinking,
  enabled: { ...shownThinking, budget_tokens: required(integer(MIN_THINKING_BUDGET_TOKENS)) },
  disabled: {},
  between_tools: {},
});

const parallel: Fields = { disable_parallel_tool_use: boolean };

const toolChoice = tagged({
  auto: parallel,
  any: parallel,
  tool: { ...parallel, name: required(string) },
  none: {},
});

const outputFormat = nullable(object({ type: required(oneOf("json_schema")), schema: required(record) }));

const taskBudget = object({
  type: required(oneOf("tokens")),
  total: required(integer(1)),
  remaining: nullable(integer(0)),
});

const outputConfig = nullable(
  object({
    effort,
    format: outputFormat,
    task_budget: gated(nullable(taskBudget), withBeta(BETAS.taskBudgets)),
  }),
);

// Context management

const strings = list(string);
const amount = (kind: string, minimum: number): Check =>
  object({ type: required(oneOf(kind)), value: required(integer(minimum)) });
const count: Fields = { value: required(integer(0)) };

const contextManagement = nullable(
  object({
    edits: list(
      tagged(
        {
          clear_thinking_20251015: {
            keep: unless(
              (value) => value === "all",
              tagged({ thinking_turns: { value: required(integer(1)) }, all: {} }),
            ),
          },
          clear_tool_uses_20250919: {
            trigger: tagged({ input_tokens: count, tool_uses: count }),
            keep: amount("tool_uses", 0),
            clear_at_least: nullable(amount("input_tokens", 0)),
            exclude_tools: nullable(strings),
            clear_tool_inputs: nullable(unless((value) => typeof value === "boolean", strings)),
          },
          compact_20260112: {
            trigger: nullable(amount("input_tokens", MIN_COMPACTION_TRIGGER_TOKENS)),
            pause_after_compaction: boolean,
            instructions: nullable(string),
          },
        },
        {
          clear_thinking_20251015: withBeta(BETAS.contextManagement),
          clear_tool_uses_20250919: withBeta(BETAS.contextManagement),
          compact_20260112: withBeta(BETAS.thresholdCompaction),
        },
      ),
    ),
  }),
);

const onDemandCompaction = object({
  type: required(oneOf("summarize")),
  instructions: nullable(shortString(MAX_INSTRUCTIONS_LENGTH)),
});

/**
 * Checks the field `compaction`. Without its beta, the error names the missing beta. Other fields without
 * their beta are reported as unknown fields.
 */
const compaction = nullable((value, inspection: Inspection) => {
  if (!inspection.hasBeta(BETAS.onDemandCompaction)) {
    refuse("compactionBeta", { beta: BETAS.onDemandCompaction });
  }
  onDemandCompaction(value, inspection);
});

/** Field `cache_edits`, which the simulator accepts if a switch enables it. No public API has this field. */
const cacheEdits = list(
  object({ type: required(oneOf("delete_tool_result")), tool_use_id: required(string) }),
);

// The body

const mcpServer = object({
  type: required(oneOf("url")),
  name: required(string),
  url: required(string),
  authorization_token: nullable(string),
  tool_configuration: nullable(record),
});

/** Fields of both endpoints: messages and token counts. */
const counted: Fields = {
  model: required(string),
  messages: required(messages),
  system: stringOr(list(tagged({ text: textBlock }))),
  tools: list(toolDefinition),
  tool_choice: toolChoice,
  thinking,
  output_config: outputConfig,
  output_format: gated(outputFormat, withBeta(...BETAS_FOR.outputFormat)),
  cache_control: cacheControl,
  context_management: gated(contextManagement, withBeta(BETAS.contextManagement, BETAS.thresholdCompaction)),
  compaction,
  mcp_servers: gated(list(mcpServer), withBeta(...BETAS_FOR.mcp)),
  speed: nullable(oneOf("standard", "fast")),
  billing_policy: gated(
    nullable(object({ type: required(oneOf("billing_policy")), bill_to: oneOf("self", "user_profile") })),
    withBeta(...BETAS_FOR.billingPolicy),
  ),
  cache_edits: gated(cacheEdits, ({ switches }: Inspection) => switches.cacheEdits),
};

const isOlderVersion = ({ request }: Inspection): boolean => request.version === "2023-06-01";
const skill = object({ type: string, skill_id: string, version: string });

const createBody = object({
  ...counted,
  max_tokens: required(integer(0)),
  stream: boolean,
  stop_sequences: strings,
  metadata: object({ user_id: nullable(string) }),
  service_tier: oneOf("auto", "standard_only"),
  inference_geo: nullable(string),
  container: nullable(stringOr(object({ id: nullable(string), skills: nullable(list(skill)) }))),
  diagnostics: nullable(object({ previous_message_id: nullable(string) })),
  thread: gated(
    nullable(tagged({ create: {}, continue: { previous_message_id: required(string) } })),
    withBeta(BETAS.threads),
  ),
  fallbacks: gated(anything, withBeta(...BETAS_FOR.fallback)),
  fallback_credit_token: gated(nullable(stringOr(record)), withBeta(...BETAS_FOR.fallbackCredit)),
  safeguards: gated(list(record), withBeta(...BETAS_FOR.safeguards)),
  temperature: gated(share, isOlderVersion),
  top_p: gated(share, isOlderVersion),
  top_k: gated(integer(0), isOlderVersion),
});

const countBody = object(counted);
