export { type AnthropicModelOptions, anthropicModel } from "./anthropic-model.ts";
export type { AnthropicClient } from "./client.ts";
