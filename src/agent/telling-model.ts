import type { Model } from "../index.ts";
import type { AgentEvent } from "./events.ts";

/** Whichever model is the right one now; what its calls cost is told, as that of the conversation's own is. */
export function tellingModel(current: () => Model, emit: (event: AgentEvent) => void): Model {
  return {
    get name() {
      return current().name;
    },
    get capabilities() {
      return current().capabilities;
    },
    async *stream(request, call) {
      const model = current();
      for await (const event of model.stream(request, call)) {
        if (event.type === "end") {
          const { usage, model: answered } = event.reply;
          emit({ type: "usage", usage, model: answered || model.name });
        }
        yield event;
      }
    },
    countTokens: (request, call) => current().countTokens(request, call),
  };
}
