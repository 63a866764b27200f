import type { OpenAiRequest, OpenAiSwitches } from "../request.ts";
import { checkShape } from "./chat/body-shape.ts";
import { recordsField } from "./chat/checked-body.ts";
import { checkFields, checkForModel } from "./chat/field-rules.ts";
import { checkContentGiven, checkContents, checkJsonWord, checkToolPairs } from "./chat/message-rules.ts";
import { validateResponses } from "./responses/validate-responses.ts";
import { Inspection } from "./shape/inspection.ts";

/** Throws an `ApiRefusal` for a request that OpenAI's API would refuse because of its body. */
export function validate(request: OpenAiRequest, switches: OpenAiSwitches): void {
  if (request.endpoint === "chat_completions") validateChat(request, switches);
  else validateResponses(request, switches);
}

/**
 * Checks a request for chat completions. The order is: the shape of the whole body in body order; fields that
 * need each other; fields that the model refuses; the content of each message; calls and their outputs; missing
 * content. The server refuses unknown and retired models.
 */
function validateChat(request: OpenAiRequest, switches: OpenAiSwitches): void {
  const { body, model } = request;
  checkShape(new Inspection(request, switches));
  checkFields(body);
  if (model !== undefined) checkForModel(body, model);
  const messages = recordsField(body, "messages");
  checkContents(messages, model);
  checkToolPairs(messages);
  checkJsonWord(body, messages);
  checkContentGiven(messages);
}
