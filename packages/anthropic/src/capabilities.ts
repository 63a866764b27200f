import { claudeVersion, isAtLeast, stringField, tagOf } from "@longhaul/core/internal/messages";
import { type MapBlock, withBlocks, withoutMarks } from "@longhaul/core/internal/models";
import { claudeFeatures, findModel } from "@longhaul/core/measure";
import type { ModelCapabilities, ModelRequest, RequestChange } from "@longhaul/core/models";
import { isCompactEdit } from "./request.ts";

/**
 * Derives a model's capabilities from its name. Other servers that implement this API get only the features
 * that all of them accept. They accept cache marks, because their clients always send cache marks. They
 * support neither context management nor token counting.
 */
export function anthropicCapabilities(
  model: string,
  overrides: Partial<ModelCapabilities> = {},
): ModelCapabilities {
  const isClaude = /claude/i.test(model);
  const compacts = isClaude && claudeFeatures(model).compaction;
  return {
    promptCache: true,
    cacheEdits: false,
    contextEdits: isClaude && isAtLeast(claudeVersion(model), 4, 0),
    compaction: { onDemand: compacts, threshold: compacts },
    boundThinking: findModel(model).bindsThinking === true,
    images: true,
    countTokens: isClaude ? "exact" : "estimate",
    ...overrides,
  };
}

interface SupportedRequest {
  readonly request: ModelRequest;
  readonly changes: readonly RequestChange[];
}

/**
 * Removes everything that the model does not support, and lists the changes. Returns the same request if the
 * model supports everything in it.
 */
export function onlySupported(
  given: ModelRequest,
  capabilities: ModelCapabilities,
  model: string,
): SupportedRequest {
  const changes: RequestChange[] = [];
  let request = given;
  const apply = (what: string, changed: ModelRequest): void => {
    if (changed === request) return;
    request = changed;
    changes.push({ type: "not-supported", what });
  };
  if (!canStopThinking(model)) apply("thinking: disabled", withoutDisabledThinking(request));
  if (!capabilities.promptCache) apply("cache_control", withoutMarks(request));
  if (!capabilities.cacheEdits) apply("cache_edits", withoutField(request, "cache_edits"));
  if (!capabilities.compaction.onDemand) {
    apply("compaction", withoutField(request, "compaction"));
    apply("a compaction block, sent as text", withBlocks(request, compactionAsText));
  }
  if (!capabilities.compaction.threshold) {
    apply(
      "context_management: compaction",
      withEdits(request, (edit) => !isCompactEdit(edit)),
    );
  }
  if (!capabilities.contextEdits) apply("context_management", withEdits(request, isCompactEdit));
  if (!capabilities.images) apply("an image, replaced by the text [image]", withBlocks(request, imageAsText));
  return { request, changes };
}

/**
 * Returns true if thinking can be disabled. Some models always think and refuse `thinking: disabled`. For
 * models of other vendors this is unknown.
 */
function canStopThinking(model: string): boolean {
  return claudeVersion(model) === undefined || claudeFeatures(model).thinkingModes.includes("disabled");
}

function withoutDisabledThinking(request: ModelRequest): ModelRequest {
  if (request.thinking?.type !== "disabled") return request;
  const { thinking: _, ...rest } = request;
  return rest;
}

function withoutField(request: ModelRequest, name: "cache_edits" | "compaction"): ModelRequest {
  if (request[name] === undefined) return request;
  const { [name]: _, ...rest } = request;
  return rest;
}

function withEdits(request: ModelRequest, keep: (edit: { readonly type: string }) => boolean): ModelRequest {
  const { context_management, ...rest } = request;
  if (context_management === undefined) return request;
  const edits = context_management.edits.filter(keep);
  if (edits.length === context_management.edits.length) return request;
  return edits.length === 0 ? rest : { ...rest, context_management: { ...context_management, edits } };
}

/**
 * Sends a provider-written summary to another provider as plain text. Drops a failed summary, which has no
 * text.
 */
const compactionAsText: MapBlock = (block) => {
  if (tagOf(block) !== "compaction") return block;
  const text = stringField(block, "content");
  return text === undefined || text.trim() === "" ? undefined : { type: "text", text };
};

const imageAsText: MapBlock = (block) => (block.type === "image" ? { type: "text", text: "[image]" } : block);
