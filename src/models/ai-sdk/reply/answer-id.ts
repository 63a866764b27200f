import { field, stringField } from "../../../conversation/untrusted.ts";

export interface AnswerId {
  readonly id: string;
  readonly model: string | undefined;
}

/**
 * The SDK tells the id of an answer only at its end. The provider's first raw chunk has it: as `message`
 * (Anthropic), `response` (OpenAI), at the top (chat completions) or under a name of its own (Google).
 */
export function answerIdIn(chunk: unknown): AnswerId | undefined {
  for (const place of [field(chunk, "message"), field(chunk, "response"), chunk]) {
    const id = stringField(place, "id") ?? stringField(place, "responseId");
    if (id === undefined || id === "") continue;
    return { id, model: stringField(place, "model") ?? stringField(place, "modelVersion") };
  }
  return undefined;
}
