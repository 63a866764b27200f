import type { Model, ModelReply, ModelRequest } from "../../models/port.ts";
import { complete } from "../../models/reply.ts";
import { withRetries } from "../../models/retry.ts";
import type { OnSummaryProgress } from "../progress.ts";

/** A passing fault is worth two more tries; after that the next way is the better one. */
const RETRIES = 2;

export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: OnSummaryProgress | undefined;
}

/** One call for a summary or for notes, tried again where that helps. Only a whole reply counts. */
export async function ask(
  model: Model,
  request: ModelRequest,
  { signal, onProgress }: AskOptions,
): Promise<ModelReply> {
  onProgress?.({ phase: "sent", messages: request.messages.length });
  const patient = withRetries(model, {
    retries: RETRIES,
    restarts: true,
    onRetry: ({ attempt, delayMs, error }) =>
      onProgress?.({ phase: "retrying", attempt, delayMs, code: error.code }),
  });
  let characters = 0;
  return await complete(patient, request, { signal }, (event) => {
    if (event.type === "start") characters = 0;
    if (event.type === "thinking") onProgress?.({ phase: "thinking" });
    if (event.type !== "text") return;
    characters += event.text.length;
    onProgress?.({ phase: "writing", characters });
  });
}
