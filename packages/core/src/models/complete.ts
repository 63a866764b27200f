import { requireOwnShapes } from "../messages/given-messages.ts";
import { ModelError } from "./model-error.ts";
import type { CallOptions, Model, ModelEvent, ModelReply, ModelRequest } from "./port.ts";
import { requireModel } from "./require-model.ts";

/** One call, waited for to its end. `onEvent` is told of everything on the way. */
export async function complete(
  model: Model,
  request: ModelRequest,
  options: CallOptions = {},
  onEvent?: (event: ModelEvent) => void,
): Promise<ModelReply> {
  requireModel(model);
  requireOwnShapes(request.messages);
  for await (const event of model.stream(request, options)) {
    onEvent?.(event);
    if (event.type === "end") return event.reply;
  }
  throw new ModelError({ kind: "cut-off" }, `${model.name} ended its answer without saying so.`);
}
