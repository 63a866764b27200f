/**
 * Version of all texts that longhaul sends to a model: requests for summaries, notes and spans, the continuation
 * message, and the agent's system prompt and tool descriptions. Boundaries, ledgers and evaluations record it, so
 * that results of different wordings can be distinguished.
 *
 * Raise it by 1 with every change of such a text, and add the new hash to `test/prompts/prompt-version.test.ts`.
 */
export const PROMPT_VERSION = 3;
