import { claudeVersion, isAtLeast, isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import type { ThinkingMode } from "@longhaul/core/measure";
import { type SimulatedModel, type SimulatedRequest, type Switches, thinkingMode } from "../request.ts";
import { BETAS } from "../wording/betas.ts";
import { refuse, refuseWithDetails } from "../wording/refuse.ts";
import type { TextName } from "../wording/texts.ts";
import {
  asksForCompaction,
  editsOf,
  isForced,
  outputFormatOf,
  recordField,
  recordsField,
} from "./checked-body.ts";

/** Refuses fields that the model does not accept, and fields that exclude each other. */
export function checkFields(request: SimulatedRequest, model: SimulatedModel, switches: Switches): void {
  const { body } = request;
  checkMaxTokens(body, model);
  checkStopSequences(body);
  checkSampling(body, model);
  checkEffort(body, model);
  checkThinking(request, model);
  checkTools(body, model);
  checkOutputFormat(body);
  checkContextEdits(body, model);
  checkCompactionRequest(request, model);
  checkThread(body, switches);
}

function checkMaxTokens(body: JsonRecord, model: SimulatedModel): void {
  const { max_tokens: maxTokens } = body;
  if (typeof maxTokens !== "number") return;
  if (maxTokens > model.maxOutputTokens) {
    refuse("maxTokensCap", { maxTokens, maximum: model.maxOutputTokens, model: String(body.model) });
  }
  if (maxTokens === 0) checkPrewarm(body);
}

/**
 * Checks a call that only fills the cache. Such a call cannot stream, think, have an output format, or force
 * a tool call.
 */
function checkPrewarm(body: JsonRecord): void {
  const field = firstTrue({
    stream: body.stream === true,
    thinking: recordField(body, "thinking")?.type === "enabled",
    "output_config.format": outputFormatOf(body) !== undefined,
    tool_choice: isForced(body),
  });
  if (field !== undefined) refuse("prewarm", { field });
}

const firstTrue = (conditions: Readonly<Record<string, boolean>>): string | undefined =>
  Object.keys(conditions).find((name) => conditions[name]);

function checkStopSequences({ stop_sequences: sequences }: JsonRecord): void {
  if (!Array.isArray(sequences)) return;
  for (const sequence of sequences) {
    if (sequence === "") refuse("stopSequenceEmpty");
    if (String(sequence).trim() === "") refuse("stopSequenceBlank");
  }
}

/**
 * Sampling parameters with their default values, which are the only values that newer models accept. `top_k`
 * has no default.
 */
const DEFAULT_SAMPLING: Readonly<Record<string, number | undefined>> = {
  temperature: 1,
  top_p: 1,
  top_k: undefined,
};

/** First version whose models refuse `temperature` together with `top_p`. */
const FIRST_WITH_ONE_SAMPLING_FIELD = [4, 1] as const;

function checkSampling(body: JsonRecord, model: SimulatedModel): void {
  if (model.features.sampling) {
    const isOld = !isAtLeast(claudeVersion(model.id), ...FIRST_WITH_ONE_SAMPLING_FIELD);
    const hasBoth = body.temperature !== undefined && body.top_p !== undefined;
    if (hasBoth && !isOld) refuse("temperatureWithTopP");
    return;
  }
  for (const [field, usual] of Object.entries(DEFAULT_SAMPLING)) {
    if (body[field] !== undefined && body[field] !== usual) refuse("sampling", { field });
  }
}

function checkEffort(body: JsonRecord, { features }: SimulatedModel): void {
  const effort = recordField(body, "output_config")?.effort;
  if (typeof effort !== "string") return;
  const levels: readonly string[] = features.effortLevels;
  if (levels.length === 0) refuse("effortUnsupported");
  if (!levels.includes(effort)) refuse("effortLevel", { effort, levels: levels.join(", ") });
}

const UNSUPPORTED = {
  adaptive: "thinkingAdaptive",
  enabled: "thinkingEnabled",
  disabled: "thinkingDisabled",
  between_tools: "thinkingBetweenTools",
} as const satisfies Record<ThinkingMode, TextName>;

function checkThinking({ body, betas }: SimulatedRequest, model: SimulatedModel): void {
  const thinking = recordField(body, "thinking");
  if (thinking === undefined) return;
  const mode = thinking.type as ThinkingMode;
  if (!model.features.thinkingModes.includes(mode)) refuse(UNSUPPORTED[mode]);
  if (!betas.has(BETAS.interleavedThinking)) checkBudget(thinking, body);
  const effort = recordField(body, "output_config")?.effort;
  if (mode === "disabled" && (effort === "xhigh" || effort === "max") && thinksAtHighEffort(model)) {
    refuse("thinkingDisabledAtEffort", { effort });
  }
  if (mode === "enabled" || mode === "adaptive") checkCompatibility(body, model);
}

/** Minimum of `top_p` for a request that turns thinking on. */
const MIN_TOP_P_WITH_THINKING = 0.95;

/**
 * Refuses fields that the documentation calls incompatible with thinking. It does not say whether they are
 * also refused on models that think by default, so only a request that turns thinking on is checked.
 */
function checkCompatibility(body: JsonRecord, model: SimulatedModel): void {
  const { temperature, top_p: topP, top_k: topK } = body;
  if (temperature !== undefined && temperature !== 1) refuse("thinkingTemperature");
  if (typeof topP === "number" && topP < MIN_TOP_P_WITH_THINKING) refuse("thinkingTopP");
  if (topK !== undefined) refuse("thinkingTopK");
  // Models without forced tools have their own text: see `checkTools`.
  if (isForced(body) && model.features.forcedTools) refuse("thinkingWithForcedTool");
}

/**
 * Checks the thinking budget. With interleaved thinking, the budget covers all replies of a turn, so it may
 * exceed `max_tokens` of one reply. Call this function only without interleaved thinking.
 */
function checkBudget({ budget_tokens: budget }: JsonRecord, { max_tokens: maxTokens }: JsonRecord): void {
  if (typeof budget === "number" && typeof maxTokens === "number" && budget >= maxTokens) {
    refuse("budgetOverMaxTokens");
  }
}

/** True for Opus 5, which allows disabled thinking only up to the effort `high`. */
function thinksAtHighEffort(model: SimulatedModel): boolean {
  const version = claudeVersion(model.id);
  return version?.line === "opus" && version.major === 5 && version.minor === 0;
}

function checkTools(body: JsonRecord, model: SimulatedModel): void {
  const tools = recordsField(body, "tools");
  const names = new Set<unknown>();
  for (const { name } of tools) {
    if (name !== undefined && names.has(name)) refuse("toolNamesRepeated");
    names.add(name);
  }
  for (const [index, tool] of tools.entries()) checkTool(tool, index);
  if (tools.length > 0 && tools.every((tool) => tool.defer_loading === true)) refuse("allToolsDeferred");
  const choice = recordField(body, "tool_choice");
  if (choice === undefined) return;
  if (isForced(body) && !model.features.forcedTools) refuse("forcedTool");
  const hasTools = tools.length > 0 || recordsField(body, "mcp_servers").length > 0;
  if (!hasTools && choice.type !== "none") refuse("choiceWithoutTools");
  if (choice.type === "tool" && !names.has(choice.name)) {
    refuse("chosenToolUnknown", { name: String(choice.name) });
  }
}

function checkTool(tool: JsonRecord, index: number): void {
  const hasMark = tool.cache_control !== undefined && tool.cache_control !== null;
  if (tool.defer_loading === true && hasMark) refuse("deferredToolMark", { name: String(tool.name) });
  if (tool.strict === true && isOpen(tool.input_schema))
    refuse("schemaOpen", { path: `tools.${index}.custom` });
  const isSearch = typeof tool.type === "string" && tool.type.startsWith("web_search_");
  if (isSearch && Array.isArray(tool.allowed_domains) && Array.isArray(tool.blocked_domains)) {
    refuse("domainsCombined", { path: `tools.${index}` });
  }
}

function checkOutputFormat(body: JsonRecord): void {
  const format = outputFormatOf(body);
  if (format === undefined) return;
  const field = recordField(body, "output_format") === format ? "output_format" : "output_config.format";
  if (isOpen(format.schema)) refuse("schemaOpen", { path: `${field}.schema` });
  const hasCitations = (block: JsonRecord): boolean =>
    recordField(block, "citations")?.enabled === true || recordsField(block, "content").some(hasCitations);
  const messages = recordsField(body, "messages");
  if (messages.some(({ role, ...message }) => role === "user" && hasCitations(message))) {
    refuse("citationsWithFormat");
  }
}

/** Keywords whose values are schemas by name, and keywords whose values are schemas or lists of schemas. */
const NAMED_SCHEMAS = ["properties", "$defs", "definitions"] as const;
const PART_SCHEMAS = ["items", "prefixItems", "anyOf", "oneOf", "allOf"] as const;

/** True if an object of the schema may have additional properties. Structured outputs forbid this. */
function isOpen(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(isOpen);
  if (!isRecord(schema)) return false;
  const isObject = schema.type === "object" || (Array.isArray(schema.type) && schema.type.includes("object"));
  if (isObject && schema.additionalProperties !== false) return true;
  const named = NAMED_SCHEMAS.flatMap((name) => Object.values(recordField(schema, name) ?? {}));
  return [...named, ...PART_SCHEMAS.map((name) => schema[name])].some(isOpen);
}

function checkContextEdits(body: JsonRecord, model: SimulatedModel): void {
  for (const [index, edit] of editsOf(body).entries()) {
    if (edit.type === "compact_20260112" && !model.features.compaction) refuse("compactionModel");
    if (edit.type !== "clear_thinking_20251015") continue;
    if (index > 0) refuse("clearThinkingFirst");
    if (!["enabled", "adaptive"].includes(thinkingMode(body, model))) refuse("clearThinkingNeedsThinking");
  }
}

function checkCompactionRequest(request: SimulatedRequest, model: SimulatedModel): void {
  const { body } = request;
  if (!asksForCompaction(request)) return;
  if (!model.features.compaction) refuse("compactionModel");
  const budget = recordField(recordField(body, "output_config") ?? {}, "task_budget");
  const field = firstTrue({
    context_management: recordField(body, "context_management") !== undefined,
    stop_sequences: recordsField(body, "stop_sequences").length > 0,
    "output_config.format": outputFormatOf(body) !== undefined,
    tool_choice: isForced(body),
    "output_config.task_budget.remaining": typeof budget?.remaining === "number",
  });
  if (field !== undefined) refuse("compactionCombined", { field });
}

/**
 * Refuses a thread together with fields that do not allow threads. `threads.ts` checks the state of the
 * thread.
 */
function checkThread(body: JsonRecord, switches: Switches): void {
  if (recordField(body, "thread") === undefined) return;
  if (switches.threads === "refused") refuse("threadsUnsupported");
  const unsupported: string[] = [];
  if (!editsOf(body).every(keepsAllThinking) || recordField(body, "compaction") !== undefined)
    unsupported.push("context_management");
  if (body.fallbacks !== undefined && body.fallbacks !== null) unsupported.push("fallbacks");
  if (unsupported.length > 0) refuseWithDetails("threadsUnsupported", { unsupported });
}

function keepsAllThinking(edit: JsonRecord): boolean {
  const isAll = edit.keep === "all" || recordField(edit, "keep")?.type === "all";
  return edit.type === "clear_thinking_20251015" && isAll;
}
