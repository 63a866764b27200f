import { complete } from "../../models/complete.ts";
import { type OutputRoomOptions, withFittingOutput, withLessOutput } from "../../models/output-limit.ts";
import type { Model, ModelReply, ModelRequest } from "../../models/port.ts";
import { withRetries } from "../../models/retry.ts";
import { MODEL_TIME_LIMITS, withFirstByteLimit } from "../../models/time-limit.ts";
import type { OnSummaryProgress } from "../progress.ts";

/** A passing fault is worth two more tries; after that the next way is the better one. */
const RETRIES = 2;

export interface AskOptions extends OutputRoomOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: OnSummaryProgress | undefined;
  /** Milliseconds that each attempt waits for the first event of the answer. */
  readonly firstByteMs?: number | undefined;
}

/**
 * One call for a summary or for notes, tried again where that helps. Only a whole reply counts. The output is bounded by
 * what the window leaves beside the prompt.
 */
export async function ask(model: Model, request: ModelRequest, options: AskOptions): Promise<ModelReply> {
  const fitting = withFittingOutput(model, request, options);
  try {
    return await send(model, fitting, options);
  } catch (error) {
    const shorter = withLessOutput(error, fitting);
    if (shorter === undefined) throw error;
    return await send(model, shorter, options);
  }
}

async function send(
  model: Model,
  request: ModelRequest,
  { signal, onProgress, firstByteMs = MODEL_TIME_LIMITS.firstByteMs }: AskOptions,
): Promise<ModelReply> {
  onProgress?.({ phase: "sent", messages: request.messages.length });
  const patient = withRetries(withFirstByteLimit(model, firstByteMs), {
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
