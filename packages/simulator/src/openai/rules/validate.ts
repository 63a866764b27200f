import type { OpenAiRequest, OpenAiSwitches } from "../request.ts";
import { validateChat } from "./chat/validate-chat.ts";
import { validateResponses } from "./responses/validate-responses.ts";

/** Throws an `ApiRefusal` for a request that OpenAI's API would refuse because of its body. */
export function validate(request: OpenAiRequest, switches: OpenAiSwitches): void {
  if (request.endpoint === "chat_completions") validateChat(request, switches);
  else validateResponses(request, switches);
}
