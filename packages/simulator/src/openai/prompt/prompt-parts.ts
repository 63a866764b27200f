import type { PrefixNode, PrefixTree } from "../../prompt/prefix-tree.ts";
import type { TokenCounter } from "../../prompt/token-count.ts";

/**
 * One part of a prompt, in prompt order. Both APIs of OpenAI describe their prompts as lists of such parts, so
 * that they share the token counts and the cache.
 */
export interface PromptPart {
  /** Place of the part, for example `tools`, `format` or a role. Equal values at different places differ. */
  readonly place: string;
  /** The part as sent. Equal values in equal order are an equal prefix. */
  readonly value: unknown;
  /** True if the client marks the end of a reusable prefix here (`prompt_cache_breakpoint`). */
  readonly isBreakpoint?: boolean;
  /** Counts the tokens of the part, with its markup. Called only if the prefix is new. */
  count(counter: TokenCounter): number;
}

export interface PromptPosition {
  readonly node: PrefixNode;
  /** Tokens of the prompt up to here, including this part. */
  readonly tokens: number;
  readonly isBreakpoint: boolean;
}

export interface OpenAiPrompt {
  readonly tokens: number;
  /** Tokens of the tool definitions. */
  readonly toolTokens: number;
  /** Start of all prompts. */
  readonly root: PrefixNode;
  readonly positions: readonly PromptPosition[];
}

/** Tokens that prime the reply. Source: "How to count tokens with tiktoken" in the OpenAI cookbook. */
const PRIMING_TOKENS = 3;

/** Place of tool definitions. */
export const TOOLS_PLACE = "tools";

export function buildPrompt(
  parts: readonly PromptPart[],
  { tree, counter }: { readonly tree: PrefixTree; readonly counter: TokenCounter },
): OpenAiPrompt {
  tree.beginCall();
  const positions: PromptPosition[] = [];
  let node = tree.root;
  let tokens = PRIMING_TOKENS;
  let toolTokens = 0;
  for (const part of parts) {
    const { place, value, isBreakpoint = false } = part;
    node = node.child(place, withoutBreakpoints(value, isBreakpoint));
    node.facts ??= factsOf(tokens + part.count(counter), place);
    if (place === TOOLS_PLACE) toolTokens += node.facts.tokens - tokens;
    tokens = node.facts.tokens;
    positions.push({ node, tokens, isBreakpoint });
  }
  return { tokens, toolTokens, root: tree.root, positions };
}

const factsOf = (tokens: number, section: string): NonNullable<PrefixNode["facts"]> => ({
  tokens,
  section,
  hasImages: false,
  hasCitations: false,
});

/** Removes the breakpoint of a part, because it controls the cache and is not part of the cached content. */
function withoutBreakpoints(value: unknown, isBreakpoint: boolean): unknown {
  if (!isBreakpoint || typeof value !== "object" || value === null) return value;
  const { prompt_cache_breakpoint: _, ...content } = value as { readonly prompt_cache_breakpoint?: unknown };
  return content;
}
