/** Error texts of the rules for chat completions. */
export const CHAT_TEXTS = {} as const;
