import {
  BETAS,
  FALLBACK_BETAS,
  FALLBACK_CREDIT_BETAS,
  MCP_BETAS,
  OUTPUT_FORMAT_BETAS,
  SAFEGUARD_BETAS,
} from "../../wording/betas.ts";
import type { Inspection } from "../inspection.ts";
import {
  anything,
  boolean,
  type Check,
  type Field,
  type Fields,
  gated,
  integer,
  list,
  nullable,
  numberBetween,
  object,
  oneOf,
  record,
  required,
  string,
  stringOr,
  tagged,
  withBeta,
} from "./checks.ts";
import { cacheEdits, compaction, container, contextManagement, thread } from "./context-management.ts";
import { cacheControl, textBlock } from "./media.ts";
import { effort, messages } from "./messages.ts";
import { toolDefinition } from "./tools.ts";

const type = string;

/** The smallest budget of thinking that is set by hand, in tokens. */
const MIN_THINKING_BUDGET_TOKENS = 1_024;

const shownAs = oneOf("summarized", "omitted");

const display: Check = (value, inspection) => {
  const isNewer = inspection.hasBeta(BETAS.thinkingDisplayUpdates) && value === "updates";
  if (value !== null && !isNewer) shownAs(value, inspection);
};

const blockBinding = gated(
  nullable(object({ prefix_mismatch_behavior: nullable(oneOf("error", "drop_block")) })),
  withBeta(BETAS.thinkingBinding),
);

const thinking = tagged({
  adaptive: object({ type, display, block_binding: blockBinding }),
  enabled: object({
    type,
    budget_tokens: required(integer(MIN_THINKING_BUDGET_TOKENS)),
    display,
    block_binding: blockBinding,
  }),
  disabled: object({ type }),
  between_tools: object({ type }),
});

const parallel: Fields = { type, disable_parallel_tool_use: boolean };

const toolChoice = tagged({
  auto: object(parallel),
  any: object(parallel),
  tool: object({ ...parallel, name: required(string) }),
  none: object({ type }),
});

const outputFormat = nullable(object({ type: required(oneOf("json_schema")), schema: required(record) }));

const outputConfig = nullable(
  object({
    effort,
    format: outputFormat,
    task_budget: gated(
      nullable(
        object({
          type: required(oneOf("tokens")),
          total: required(integer(1)),
          remaining: nullable(integer(0)),
        }),
      ),
      withBeta(BETAS.taskBudgets),
    ),
  }),
);

/** Fields of both endpoints. */
const counted: Fields = {
  model: required(string),
  messages: required(messages),
  system: stringOr(list(tagged({ text: textBlock }))),
  tools: list(toolDefinition),
  tool_choice: toolChoice,
  thinking,
  output_config: outputConfig,
  output_format: gated(outputFormat, withBeta(...OUTPUT_FORMAT_BETAS)),
  cache_control: cacheControl,
  context_management: gated(contextManagement, withBeta(BETAS.contextManagement, BETAS.thresholdCompaction)),
  compaction,
  mcp_servers: gated(
    list(
      object({
        type: required(oneOf("url")),
        name: required(string),
        url: required(string),
        authorization_token: nullable(string),
        tool_configuration: nullable(record),
      }),
    ),
    withBeta(...MCP_BETAS),
  ),
  speed: nullable(oneOf("standard", "fast")),
  cache_edits: gated(cacheEdits, ({ switches }) => switches.cacheEdits),
};

const isOlderVersion = ({ request }: Inspection): boolean => request.version === "2023-06-01";
const share: Field = gated(numberBetween(0, 1), isOlderVersion);

const createBody = object({
  ...counted,
  max_tokens: required(integer(0)),
  stream: boolean,
  stop_sequences: list(string),
  metadata: object({ user_id: nullable(string) }),
  service_tier: oneOf("auto", "standard_only"),
  inference_geo: nullable(string),
  container,
  diagnostics: nullable(object({ previous_message_id: nullable(string) })),
  thread: gated(thread, withBeta(BETAS.threads)),
  fallbacks: gated(nullable(anything), withBeta(...FALLBACK_BETAS)),
  fallback_credit_token: gated(nullable(stringOr(record)), withBeta(...FALLBACK_CREDIT_BETAS)),
  safeguards: gated(list(record), withBeta(...SAFEGUARD_BETAS)),
  temperature: share,
  top_p: share,
  top_k: gated(integer(0), isOlderVersion),
});

const countBody = object(counted);

/** Types, required fields, and fields that nobody knows, for the whole body. */
export function checkShape(inspection: Inspection): void {
  const { endpoint, body } = inspection.request;
  (endpoint === "messages" ? createBody : countBody)(body, inspection);
}
