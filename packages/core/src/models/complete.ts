import { requireApiMessages } from "../messages/require-messages.ts";
import { ModelError } from "./model-error.ts";
import type { CallOptions, Model, ModelEvent, ModelReply, ModelRequest } from "./port.ts";
import { requireModel } from "./require-model.ts";

/** Makes one call and waits for its end. Passes each event to `onEvent`. */
export async function complete(
  model: Model,
  request: ModelRequest,
  options: CallOptions = {},
  onEvent?: (event: ModelEvent) => void,
): Promise<ModelReply> {
  requireModel(model);
  requireApiMessages(request.messages);
  for await (const event of model.stream(request, options)) {
    onEvent?.(event);
    if (event.type === "end") return event.reply;
  }
  throw new ModelError(
    { kind: "cut-off" },
    `The answer of ${model.name} ended in the middle: the stream has no end event.`,
    { remedy: "Try again." },
  );
}
