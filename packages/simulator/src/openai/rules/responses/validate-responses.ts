import type { OpenAiModel, OpenAiRequest, OpenAiSwitches } from "../../request.ts";
import { refuse } from "../../wording/refuse.ts";
import { Inspection, shortened } from "../shape/inspection.ts";
import { checkShape } from "./body-shape.ts";
import { inputItems, recordsIn } from "./checked-body.ts";
import {
  checkAbilities,
  checkCombinations,
  checkHistory,
  checkJsonMode,
  checkModelInput,
} from "./field-rules.ts";
import {
  checkIds,
  checkNamespaces,
  checkReasoning,
  checkStoredContent,
  checkTrigger,
  withoutReferences,
} from "./item-rules.ts";
import { checkPairs } from "./pairing.ts";
import { checkFormat, checkTools } from "./tool-rules.ts";

/**
 * Throws an `ApiRefusal` for a request that the Responses API would refuse because of its body. The order of
 * the rules is that of the API as far as it was captured: required fields, unknown fields, the shape of each
 * field, the history, the abilities of the model. The rules for items that belong together come last.
 *
 * The endpoint that counts tokens checks shapes and histories only. It is not documented whether it refuses
 * broken pairs or unsupported fields.
 */
export function validateResponses(request: OpenAiRequest, switches: OpenAiSwitches): void {
  checkShape(new Inspection(request, switches));
  const { endpoint, body, model } = request;
  if (model === undefined && typeof body.model === "string") {
    refuse("requestedModelUnknown", "model", { model: shortened(body.model) });
  }
  if (model?.isRetired === true) refuse("modelRetired", "model", { model: model.id });
  checkHistory(request);
  if (model === undefined || endpoint === "count_tokens") return;
  checkCombinations(request);
  checkAbilities(request, model);
  checkItems(request, model, switches);
}

function checkItems(request: OpenAiRequest, model: OpenAiModel, switches: OpenAiSwitches): void {
  const { body, earlier = [], memory } = request;
  const sent = inputItems(body);
  const input = withoutReferences(sent, memory);
  const items = [...earlier, ...input];
  checkTools(body, items);
  checkFormat(body);
  checkModelInput(earlier, input, model);
  checkTrigger(input);
  checkIds(items);
  checkStoredContent(sent, request, switches);
  checkReasoning(earlier, input, (id) => memory?.requiredReasoning(id));
  checkNamespaces(items, recordsIn(body.tools));
  checkPairs(items);
  checkJsonMode(items, body);
}
