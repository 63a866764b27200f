import { claudeVersion, isAtLeast, stringField, tagOf } from "@longhaul/core/internal/messages";
import { type MapBlock, withBlocks, withoutMarks } from "@longhaul/core/internal/models";
import { claudeFeatures, findModel } from "@longhaul/core/measure";
import type { ModelCapabilities, ModelRequest, RequestChange } from "@longhaul/core/models";
import { isCompactEdit } from "./request.ts";

/**
 * Capabilities of a model by its name. Servers that merely speak this API get what every one of them takes:
 * they exist for clients that always send marks, but know neither context management nor counting.
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

/** Leaves out what the model cannot take, and says so. The same request when it can take all of it. */
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
  if (!capabilities.images) apply("an image, sent as a mark in text", withBlocks(request, imageAsText));
  return { request, changes };
}

/** Some models always think and refuse to be told not to; nothing is known of other makers' models. */
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

/** A summary that the provider wrote serves another one as plain text; a failed one says nothing. */
const compactionAsText: MapBlock = (block) => {
  if (tagOf(block) !== "compaction") return block;
  const text = stringField(block, "content");
  return text === undefined || text.trim() === "" ? undefined : { type: "text", text };
};

const imageAsText: MapBlock = (block) => (block.type === "image" ? { type: "text", text: "[image]" } : block);
