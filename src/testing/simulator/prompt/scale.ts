import type { SimulatedModel } from "../exchange.ts";

/** What a count means in the tokens of this model. */
export function scaleTokens(baseTokens: number, model: Pick<SimulatedModel, "features">): number {
  return Math.round(baseTokens * model.features.tokenScale);
}
