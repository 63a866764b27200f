/** Token budget of a useful summary. It is less than a twentieth of a window of 200,000 tokens. */
export const SUMMARY_BUDGET_TOKENS = 8_000;
