/** Versions of Claude models, read from their names, and the tokenizer that a version has. */

export interface ClaudeVersion {
  /** The family: opus, sonnet, haiku, fable, mythos. */
  readonly line: string;
  readonly major: number;
  readonly minor: number;
}

/** Names are `claude-<line>-<major>[-<minor>][-<date>]`; the older `claude-3-5-…` order is not read. */
export function claudeVersion(model: unknown): ClaudeVersion | undefined {
  if (typeof model !== "string") return undefined;
  const match = /claude-([a-z]+)-(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/.exec(model);
  if (match === null) return undefined;
  return { line: match[1] ?? "", major: Number(match[2]), minor: Number(match[3] ?? 0) };
}

export function isAtLeast(version: ClaudeVersion | undefined, major: number, minor: number): boolean {
  if (version === undefined) return false;
  return version.major > major || (version.major === major && version.minor >= minor);
}

/** The tokenizer of 4.7 and later makes about 30% more tokens of the same text. */
const LATER_TOKENIZER_SCALE = 1.3;

/** Tokens for the same text, relative to the models before 4.7. */
export const tokenScaleOf = (version: ClaudeVersion | undefined): number =>
  isAtLeast(version, 4, 7) ? LATER_TOKENIZER_SCALE : 1;
