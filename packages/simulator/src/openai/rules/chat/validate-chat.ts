import type { OpenAiRequest, OpenAiSwitches } from "../../request.ts";
import { Inspection } from "../shape/inspection.ts";
import { checkShape } from "./body-shape.ts";
import { recordsField } from "./checked-body.ts";
import { checkFields, checkForModel } from "./field-rules.ts";
import { checkContentGiven, checkContents, checkJsonWord, checkToolPairs } from "./message-rules.ts";

/**
 * Throws an `ApiRefusal` for a request that chat completions would refuse because of its body. The order is:
 * the shape of the whole body in body order; fields that need each other; fields that the model refuses; the
 * content of each message; calls and their outputs; missing content. The server refuses unknown and retired
 * models.
 */
export function validateChat(request: OpenAiRequest, switches: OpenAiSwitches): void {
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
