import type { AiSdkLanguageModel } from "./sdk.ts";

/** Family of AI SDK providers that expect requests in the same form. */
export type Flavor =
  | "anthropic"
  | "openai-responses"
  | "openai-chat"
  | "google"
  /** Chat completions of other vendors, and every unknown provider. */
  | "compatible";

export interface Dialect {
  readonly flavor: Flavor;
  readonly modelId: string;
  /**
   * Namespace of the provider's options and metadata. It also identifies the provider that wrote a thinking
   * block.
   */
  readonly namespace: string;
  /**
   * True if the provider accepts system messages anywhere. Other providers accept them only at the beginning.
   */
  readonly systemAnywhere: boolean;
  /** True if the provider accepts images and documents inside a tool result. */
  readonly mediaInResults: boolean;
  /** True if the provider has a flag for tool results that are errors. */
  readonly errorFlag: boolean;
  /** True if the provider supports plain-text documents. */
  readonly textDocuments: boolean;
  readonly toolIds: ToolIdLimits;
}

export interface ToolIdLimits {
  readonly maxLength: number;
  /** True if an id must consist of exactly `maxLength` letters and digits. */
  readonly isFixedLength: boolean;
}

/** Default limits for tool ids. No provider documents a higher maximum. */
const ANY_TOOL_ID: ToolIdLimits = { maxLength: 256, isFixedLength: false };
/** Limits for tool ids in OpenAI's chat completions. OpenAI's newer API accepts longer ids. */
const OPENAI_TOOL_ID: ToolIdLimits = { maxLength: 40, isFixedLength: false };
/** Form of tool ids that Mistral requires. Mistral refuses every other form. */
const MISTRAL_TOOL_ID: ToolIdLimits = { maxLength: 9, isFixedLength: true };

/**
 * Derives the dialect from the provider. A model object's `provider` is `<name>.<api>`. A gateway names
 * models `<provider>/<model>`.
 */
export function dialectOf(model: AiSdkLanguageModel | string): Dialect {
  const provider = typeof model === "string" ? "gateway" : model.provider;
  const modelId = typeof model === "string" ? model : model.modelId;
  const flavor = provider.startsWith("gateway") ? gatewayFlavor(modelId) : flavorOf(provider);
  const name = provider.startsWith("gateway") ? vendorOf(modelId) : (provider.split(".")[0] ?? provider);
  return {
    flavor,
    modelId,
    namespace: namespaceOf(flavor, name),
    systemAnywhere: flavor === "anthropic" || flavor === "openai-responses" || flavor === "openai-chat",
    mediaInResults: flavor === "anthropic" || flavor === "openai-responses" || flavor === "google",
    errorFlag: flavor === "anthropic",
    textDocuments: flavor === "anthropic",
    toolIds: toolIdLimits(flavor, name),
  };
}

/**
 * Returns the namespace of the provider options. A provider with a custom name still reads the namespace of
 * its vendor.
 */
function namespaceOf(flavor: Flavor, name: string): string {
  if (flavor === "anthropic" || flavor === "google") return flavor;
  if (flavor === "openai-responses") return name === "azure" || name === "xai" ? name : "openai";
  return name;
}

function flavorOf(provider: string): Flavor {
  if (/anthropic/i.test(provider)) return "anthropic";
  if (/^google\b/i.test(provider)) return "google";
  if (/\.responses$/i.test(provider)) return "openai-responses";
  if (/^(openai|azure)\.(chat|completion)/i.test(provider)) return "openai-chat";
  return "compatible";
}

function gatewayFlavor(modelId: string): Flavor {
  const vendor = vendorOf(modelId);
  if (vendor === "anthropic" || vendor === "google") return vendor;
  return vendor === "openai" ? "openai-responses" : "compatible";
}

const vendorOf = (modelId: string): string => /^[^/:]+(?=[/:])/.exec(modelId)?.[0] ?? "gateway";

function toolIdLimits(flavor: Flavor, name: string): ToolIdLimits {
  if (name === "mistral") return MISTRAL_TOOL_ID;
  return flavor === "openai-chat" || flavor === "openai-responses" ? OPENAI_TOOL_ID : ANY_TOOL_ID;
}
