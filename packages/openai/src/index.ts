/** Checks requests to OpenAI's chat completions and Responses APIs before they are sent. */

/** A problem for which OpenAI's API would refuse a request. */
export interface OpenAiFinding {
  /** Name of the rule. */
  readonly rule: string;
  /** Position in the body, as the API names it in `param`: for example `messages[2].tool_calls[0].id`. */
  readonly path: string;
  readonly message: string;
}

export interface OpenAiCheck {
  readonly ok: boolean;
  readonly findings: readonly OpenAiFinding[];
}

/** Checks a body for `POST /v1/chat/completions`. The body may be anything. */
export function checkChatRequest(_body: unknown): OpenAiCheck {
  return { ok: true, findings: [] };
}

/** Checks a body for `POST /v1/responses`. The body may be anything. */
export function checkResponsesRequest(_body: unknown): OpenAiCheck {
  return { ok: true, findings: [] };
}
