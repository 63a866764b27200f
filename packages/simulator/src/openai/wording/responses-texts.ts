/** Error texts of the rules for the Responses API. */
export const RESPONSES_TEXTS = {} as const;
