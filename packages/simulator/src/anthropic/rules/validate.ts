import { MAX_REQUEST_BYTES } from "@longhaul/core/request";
import type { SimulatedRequest, Switches } from "../request.ts";
import { refuse } from "../wording/refuse.ts";
import { readMessages, recordsField } from "./checked-body.ts";
import { checkCacheMarks, checkContents, checkCounts, checkSystem } from "./content-rules.ts";
import { checkFields } from "./field-rules.ts";
import { checkBeginning, checkOrder } from "./order-rules.ts";
import { checkShape } from "./shape/body-shape.ts";
import { Inspection } from "./shape/inspection.ts";

/**
 * Throws an `ApiRefusal` for a request that the API would refuse. It is not documented which of several
 * faults the API reports. Here the order is: the size; the shape of the whole body; the model; the fields of
 * the request; the content of each message; the order of the messages; limits over all messages. Other parts
 * of the simulator check tokens, signatures and the state of threads.
 */
export function validate(request: SimulatedRequest, switches: Switches): void {
  const { body, bytes, model } = request;
  if (bytes > MAX_REQUEST_BYTES) refuse("tooManyBytes");
  const inspection = new Inspection(request, switches);
  checkShape(inspection);
  if (model === undefined) refuse("modelUnknown", { model: String(body.model) });
  checkFields(request, model, switches);
  checkSystem(body);
  const messages = readMessages(recordsField(body, "messages"));
  checkBeginning(messages, inspection);
  checkContents(messages, inspection);
  checkOrder(messages, inspection);
  checkCounts(messages, inspection);
  checkCacheMarks(messages, inspection);
}
