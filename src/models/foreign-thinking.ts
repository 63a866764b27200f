/**
 * Thinking of other makers is kept in the canonical form with this before what its maker wants back in place
 * of a signature, so that it is never taken for one of Anthropic's.
 */
export const FOREIGN_THINKING_MARK = "longhaul.ai-sdk:";
