/** Checks requests to OpenAI's chat completions and Responses APIs before they are sent. */

import { checkChatMessages } from "./checks/chat-messages.ts";
import { checkChatSettings } from "./checks/chat-settings.ts";
import { checkResponsesItems } from "./checks/responses-items.ts";
import { checkResponsesSettings } from "./checks/responses-settings.ts";
import { type OpenAiCheck, type OpenAiCheckOptions, Report } from "./report.ts";
import { chatBody } from "./shapes/chat.ts";
import { responsesBody } from "./shapes/responses.ts";
import { isRecord, listOf } from "./values.ts";

export type { OpenAiCheck, OpenAiCheckOptions, OpenAiFinding } from "./report.ts";
export { OPENAI_RULES, type OpenAiRule, type OpenAiRuleInfo } from "./rules.ts";

/** Checks a body for `POST /v1/chat/completions`. The body may be anything. */
export function checkChatRequest(body: unknown, options: OpenAiCheckOptions = {}): OpenAiCheck {
  const report = new Report(options);
  chatBody(body, "", report);
  if (isRecord(body)) {
    checkChatMessages(listOf(body, "messages"), report);
    checkChatSettings(body, report);
  }
  return report.finish();
}

/** Checks a body for `POST /v1/responses`. The body may be anything. */
export function checkResponsesRequest(body: unknown, options: OpenAiCheckOptions = {}): OpenAiCheck {
  const report = new Report(options);
  responsesBody(body, "", report);
  if (isRecord(body)) {
    checkResponsesItems(body, report);
    checkResponsesSettings(body, report);
  }
  return report.finish();
}
