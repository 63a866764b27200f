import { type ClaudeVersion, claudeVersion, isAtLeast, tokenScaleOf } from "../../messages/claude-version.ts";
import {
  FIRST_VERSION_WITH_SYSTEM_MESSAGES,
  FIRST_VERSION_WITHOUT_PREFILL,
} from "../../request/check/limits.ts";

export type ThinkingMode = "adaptive" | "enabled" | "disabled" | "between_tools";

export type EffortLevel = "low" | "medium" | "high" | "xhigh" | "max";

/**
 * Differences between Claude models, except for the context window. They say which content a model accepts,
 * rejects and retains.
 */
export interface ClaudeFeatures {
  /** Values of `thinking.type` that the model accepts. */
  readonly thinkingModes: readonly ThinkingMode[];
  /** True if the model thinks unless the request turns thinking off. */
  readonly thinksByDefault: boolean;
  /**
   * True if thinking of earlier turns stays in the context. Older models see only the thinking of the last
   * turn.
   */
  readonly keepsEarlierThinking: boolean;
  /** Values of `output_config.effort` that the model accepts. Empty if it does not know the field. */
  readonly effortLevels: readonly EffortLevel[];
  /** True if the model accepts `tool_choice` of type `any` and `tool`. */
  readonly forcedTools: boolean;
  /**
   * True if the model accepts other values than the defaults for temperature, top_p and top_k. Applies to API
   * versions that have these fields.
   */
  readonly sampling: boolean;
  /** True if the conversation may end with the beginning of the assistant's answer. */
  readonly prefill: boolean;
  /** True if the conversation may contain messages of the role `system`. */
  readonly systemMessages: boolean;
  /**
   * True if input and `max_tokens` together may exceed the window. In that case the model stops at the end of
   * the window.
   */
  readonly stopsAtWindow: boolean;
  /** True if the provider offers its own compaction, at a threshold and on demand. */
  readonly compaction: boolean;
  /** Minimum size of a prompt that the provider caches. */
  readonly minimumCacheTokens: number;
  /** Number of tokens for a text, divided by the number for the same text in models before 4.7. */
  readonly tokenScale: number;
}

const NEWEST: ClaudeVersion = { line: "sonnet", major: 5, minor: 5 };

/** First numbered version of the lines Fable and Mythos. */
const MYTHOS_5 = 5;

/**
 * Returns the features of a Claude model. Unknown names get the features of the newest models, because this
 * is the strictest assumption.
 */
export function claudeFeatures(model: string): ClaudeFeatures {
  const version = claudeVersion(model) ?? (/claude-\d/.test(model) ? OLDEST : NEWEST);
  const isSuper = version.line === "fable" || version.line === "mythos";
  const from = (major: number, minor: number): boolean => isAtLeast(version, major, minor);
  return {
    thinkingModes: thinkingModes(version, isSuper),
    thinksByDefault: isSuper || from(5, 0),
    keepsEarlierThinking:
      isSuper ||
      (version.line === "opus" && from(4, 5)) ||
      (version.line === "sonnet" && from(4, 6)) ||
      from(5, 0),
    effortLevels: effortLevels(version, isSuper),
    forcedTools: !(from(5, 5) && version.line !== "haiku") && !(isSuper && from(5, 1)),
    sampling: !(isSuper || from(5, 0) || (version.line === "opus" && from(4, 7))),
    prefill: !from(FIRST_VERSION_WITHOUT_PREFILL.major, FIRST_VERSION_WITHOUT_PREFILL.minor),
    systemMessages: from(FIRST_VERSION_WITH_SYSTEM_MESSAGES.major, FIRST_VERSION_WITH_SYSTEM_MESSAGES.minor),
    stopsAtWindow: from(4, 5),
    compaction: from(4, 6),
    minimumCacheTokens: minimumCacheTokens(version, isSuper),
    tokenScale: tokenScaleOf(version),
  };
}

const OLDEST: ClaudeVersion = { line: "sonnet", major: 3, minor: 0 };

function thinkingModes({ line, major, minor }: ClaudeVersion, isSuper: boolean): readonly ThinkingMode[] {
  const version = { line, major, minor };
  // Mythos Preview refuses `disabled` (docs of Amazon Bedrock: Adaptive thinking). That page also refuses `enabled`, but
  // the SDK (1.8.0) only warns about it.
  if (isSuper && major < MYTHOS_5) return ["adaptive", "enabled"];
  if (isSuper || (line === "opus" && isAtLeast(version, 5, 5))) return ["adaptive"];
  if (line === "sonnet" && isAtLeast(version, 5, 5)) return ["adaptive", "between_tools", "disabled"];
  if (isAtLeast(version, 4, 7)) return ["adaptive", "disabled"];
  if (isAtLeast(version, 4, 6)) return ["adaptive", "enabled", "disabled"];
  return ["enabled", "disabled"];
}

/**
 * Source: the documentation page about effort. Opus 4.5 was the first model with effort, 4.6 added `max`, and
 * 4.7 added `xhigh`. Haiku has effort since 5.5.
 */
function effortLevels({ line, major, minor }: ClaudeVersion, isSuper: boolean): readonly EffortLevel[] {
  const isFrom = (first: number, second: number): boolean => isAtLeast({ line, major, minor }, first, second);
  if (isSuper || isFrom(4, 7)) return ["low", "medium", "high", "xhigh", "max"];
  if (isFrom(4, 6)) return ["low", "medium", "high", "max"];
  return line === "opus" && isFrom(4, 5) ? ["low", "medium", "high"] : [];
}

function minimumCacheTokens(version: ClaudeVersion, isSuper: boolean): number {
  const { line } = version;
  const isFrom = (major: number, minor: number): boolean => isAtLeast(version, major, minor);
  if (isSuper && !isFrom(MYTHOS_5, 0)) return 2_048;
  if (isSuper || (line === "opus" && isFrom(5, 0)) || (line === "sonnet" && isFrom(5, 5))) return 512;
  if (line === "opus" && isFrom(4, 8)) return 1_024;
  if (line === "opus" && isFrom(4, 7)) return 2_048;
  if (line === "opus" && isFrom(4, 5)) return 4_096;
  // The minimum for Haiku 5.5 is not published. The value of its predecessor is the safe assumption.
  if (line === "haiku" && isFrom(4, 5)) return 4_096;
  return 1_024;
}
