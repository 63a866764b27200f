/** Error texts of the rules for a body. Each row is one rule. */
export const RULE_TEXTS = {
  notJson: {
    text: "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
    source: "answers of the API, quoted in many public issue threads",
  },
} as const;
