import type { JsonRecord } from "../../conversation/untrusted.ts";
import { stringField } from "../../conversation/untrusted.ts";
import type { SimulatedModel } from "./exchange.ts";

/** How the model thinks in a call: as the request says, or as it does by itself. */
export function thinkingMode(body: JsonRecord, { features }: SimulatedModel): string {
  return stringField(body.thinking, "type") ?? (features.thinksByDefault ? "adaptive" : "disabled");
}
