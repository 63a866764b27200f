import { findModel } from "../window/models.ts";
import type { Model } from "./port.ts";

/** As much output as is wanted, or as the model can give: most providers refuse a request for more. */
export function outputTokensFor(model: Model, wantedTokens: number): number {
  return Math.min(wantedTokens, findModel(model.name).maxOutputTokens);
}
