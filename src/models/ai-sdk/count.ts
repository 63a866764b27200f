import { ESTIMATORS, measureContent } from "../../tokens/measure.ts";
import type { ModelRequest } from "../port.ts";

/** What chat formats put around each message: role and separators. */
const TOKENS_PER_MESSAGE = 4;

/** An estimate of what the request occupies, with the vocabulary of OpenAI's models. */
export function countRequest(request: ModelRequest): number {
  const countText = ESTIMATORS.o200k;
  let tokens = measureContent(request.system, countText) + TOKENS_PER_MESSAGE;
  for (const { content } of request.messages)
    tokens += measureContent(content, countText) + TOKENS_PER_MESSAGE;
  for (const tool of request.tools ?? []) tokens += countText(JSON.stringify(tool));
  return tokens;
}
