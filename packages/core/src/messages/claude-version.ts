/** Version of a Claude model, parsed from its name. */

export interface ClaudeVersion {
  /** The family: opus, sonnet, haiku, fable, mythos. */
  readonly line: string;
  readonly major: number;
  readonly minor: number;
}

/**
 * Claude Mythos Preview has no version in its name. Claude Code sends it system messages, which other models take
 * since 4.8.
 */
const MYTHOS_PREVIEW: ClaudeVersion = { line: "mythos", major: 4, minor: 8 };

/**
 * Parses names like `claude-<line>-<major>[-<minor>][-<date>]`. Does not parse the older `claude-3-5-…`
 * order.
 */
export function claudeVersion(model: unknown): ClaudeVersion | undefined {
  if (typeof model !== "string") return undefined;
  if (model.includes("claude-mythos-preview")) return MYTHOS_PREVIEW;
  const match = /claude-([a-z]+)-(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/.exec(model);
  if (match === null) return undefined;
  return { line: match[1] ?? "", major: Number(match[2]), minor: Number(match[3] ?? 0) };
}

export function isAtLeast(version: ClaudeVersion | undefined, major: number, minor: number): boolean {
  if (version === undefined) return false;
  return version.major > major || (version.major === major && version.minor >= minor);
}

/** The tokenizer of version 4.7 and later produces about 30% more tokens for the same text. */
const LATER_TOKENIZER_SCALE = 1.3;

/** Returns this version's token count for a text, divided by the count of models before 4.7. */
export const tokenScaleOf = (version: ClaudeVersion | undefined): number =>
  isAtLeast(version, 4, 7) ? LATER_TOKENIZER_SCALE : 1;
