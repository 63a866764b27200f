import { ModelError } from "./model-error.ts";
import type { CallOptions, Model, ModelReply, ModelRequest } from "./port.ts";

/** One call, waited for to its end. */
export async function complete(
  model: Model,
  request: ModelRequest,
  options: CallOptions = {},
): Promise<ModelReply> {
  for await (const event of model.stream(request, options)) if (event.type === "end") return event.reply;
  throw new ModelError({ kind: "cut-off" }, `${model.name} ended its answer without saying so.`);
}
