import { CHAT_TEXTS } from "./chat-texts.ts";
import { RESPONSES_TEXTS } from "./responses-texts.ts";
import { SCHEMA_TEXTS } from "./schema-texts.ts";
import { SHAPE_TEXTS } from "./shape-texts.ts";

const BODY_TEXTS = {
  notJson: {
    verified: true,
    text: "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have trouble figuring out how to fix this, please contact us through our help center at help.openai.com.)",
    source: "captured: github.com/kdalanon/ChatGPT-AutoHotkey-Utility/issues/14",
  },
} as const;

/** Error texts of the rules for a body. Each row is one rule. */
export const RULE_TEXTS: typeof BODY_TEXTS &
  typeof SHAPE_TEXTS &
  typeof SCHEMA_TEXTS &
  typeof CHAT_TEXTS &
  typeof RESPONSES_TEXTS = {
  ...BODY_TEXTS,
  ...SHAPE_TEXTS,
  ...SCHEMA_TEXTS,
  ...CHAT_TEXTS,
  ...RESPONSES_TEXTS,
};
