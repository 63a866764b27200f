export { anthropicCapabilities } from "./capabilities.ts";
export { type AnthropicParams, createClient } from "./client.ts";
