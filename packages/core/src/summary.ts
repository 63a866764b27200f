export {
  BUILT_IN_MODEL_NAME,
  type BuiltInModelOptions,
  builtInModel,
} from "./compaction/summary/builtin/builtin-model.ts";
export {
  type BuiltInSummary,
  type SummarizeOptions,
  summarize,
} from "./compaction/summary/builtin/summarize.ts";
export { formatSummary } from "./compaction/summary/format.ts";
export { PROMPT_VERSION } from "./compaction/summary/prompt-version.ts";
export { SUMMARY_BUDGET_TOKENS } from "./compaction/summary/summary-budget.ts";
export {
  type ContinuationInput,
  continuationMessage,
  presentSections,
  SECTION_NAMES,
  type SectionName,
  type SummaryVariant,
} from "./compaction/summary/summary-message.ts";
export {
  SUMMARY_SYSTEM_PROMPT,
  type SummaryInstructions,
  type SummaryPromptOptions,
  summaryPrompt,
} from "./compaction/summary/summary-prompt.ts";
