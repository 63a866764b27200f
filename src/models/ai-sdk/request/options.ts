import { field, isRecord, type JsonRecord, stringField } from "../../../conversation/untrusted.ts";
import type { ModelRequest } from "../../port.ts";
import { mergeOptions } from "../provider-options.ts";
import { markOptions } from "./marks.ts";
import type { Mapping } from "./prompt.ts";
import { thinkingOptions } from "./thinking-options.ts";
import { parallelOptions } from "./tools.ts";

/** Fields of a request that are mapped, or that mean nothing here (`model` is the port's own). */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "stream",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "max_tokens",
  "stop_sequences",
  "temperature",
  "top_p",
  "top_k",
  "thinking",
  "output_config",
  "cache_control",
  "cache_edits",
  "context_management",
  "compaction",
  "metadata",
]);

export function providerOptionsOf(request: ModelRequest, mapping: Mapping): JsonRecord | undefined {
  for (const [name, value] of Object.entries(request)) {
    if (!KNOWN_FIELDS.has(name) && value !== undefined) mapping.changes.notSupported(name);
  }
  if ((request.cache_edits?.length ?? 0) > 0) mapping.changes.notSupported("cache_edits");
  return mergeOptions(
    statelessOptions(mapping),
    thinkingOptions(request, mapping),
    outputOptions(request, mapping),
    parallelOptions(request.tool_choice, mapping),
    markOptions(request, mapping),
    contextOptions(request, mapping),
    userOptions(request, mapping),
  );
}

/**
 * The conversation is ours and may be rewritten: nothing is kept at OpenAI, so that no request refers to
 * items that are no longer what they were. Encrypted reasoning comes back for the next request instead.
 */
function statelessOptions({ dialect }: Mapping): JsonRecord | undefined {
  return dialect.flavour === "openai-responses" ? { [dialect.namespace]: { store: false } } : undefined;
}

function outputOptions(request: ModelRequest, { dialect, changes }: Mapping): JsonRecord | undefined {
  for (const name of Object.keys(request.output_config ?? {})) {
    if (name === "effort" || (name === "task_budget" && dialect.flavour === "anthropic")) continue;
    changes.notSupported(`output_config.${name}`);
  }
  const budget = field(request.output_config, "task_budget");
  return isRecord(budget) && dialect.flavour === "anthropic"
    ? { anthropic: { taskBudget: budget } }
    : undefined;
}

function contextOptions(request: ModelRequest, { dialect, changes }: Mapping): JsonRecord | undefined {
  const edits = request.context_management?.edits ?? [];
  const takesEdits = dialect.flavour === "anthropic";
  if (edits.length > 0 && !takesEdits) changes.notSupported("context_management");
  // Only version 7 has it, and which one is at hand is not known before the first call: never promised, never sent.
  if (request.compaction !== undefined) changes.notSupported("compaction");
  if (edits.length === 0 || !takesEdits) return undefined;
  return { anthropic: { contextManagement: { edits: edits.map(withCamelFields) } } };
}

function userOptions(request: ModelRequest, { dialect, changes }: Mapping): JsonRecord | undefined {
  const metadata = field(request, "metadata");
  if (metadata === undefined) return undefined;
  const userId = stringField(metadata, "user_id");
  if (dialect.flavour === "anthropic" && userId !== undefined) return { anthropic: { metadata: { userId } } };
  changes.notSupported("metadata");
  return undefined;
}

/** Only the names of an edit's own fields: values are the provider's words. */
const withCamelFields = (edit: JsonRecord): JsonRecord =>
  Object.fromEntries(Object.entries(edit).map(([name, value]) => [camelCase(name), value]));

const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
