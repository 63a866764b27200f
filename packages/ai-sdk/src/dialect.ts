import type { AiSdkLanguageModel } from "./sdk.ts";

/** Family of providers behind the AI SDK that want to be spoken to in one way. */
export type Flavour =
  | "anthropic"
  | "openai-responses"
  | "openai-chat"
  | "google"
  /** Chat completions of somebody else, and every provider that we know nothing about. */
  | "compatible";

export interface Dialect {
  readonly flavour: Flavour;
  readonly modelId: string;
  /** The namespace of its options and metadata; also tells whose thinking a block is. */
  readonly namespace: string;
  /** Takes a system message at any place; others only at the beginning. */
  readonly systemAnywhere: boolean;
  /** Takes pictures and documents inside a tool result. */
  readonly mediaInResults: boolean;
  /** Has a flag for a tool result that is an error. */
  readonly errorFlag: boolean;
  /** Has plain-text documents of its own. */
  readonly textDocuments: boolean;
  readonly toolIds: ToolIdLimits;
}

export interface ToolIdLimits {
  readonly maxLength: number;
  /** Only letters and digits, and exactly `maxLength` of them. */
  readonly isFixedLength: boolean;
}

/** No provider states a limit above this one. */
const ANY_TOOL_ID: ToolIdLimits = { maxLength: 256, isFixedLength: false };
/** Limit of OpenAI's chat completions; their newer API takes more. */
const OPENAI_TOOL_ID: ToolIdLimits = { maxLength: 40, isFixedLength: false };
/** Mistral refuses every other form. */
const MISTRAL_TOOL_ID: ToolIdLimits = { maxLength: 9, isFixedLength: true };

/** `provider` of a model object is `<name>.<api>`; a gateway knows models by `<provider>/<model>`. */
export function dialectOf(model: AiSdkLanguageModel | string): Dialect {
  const provider = typeof model === "string" ? "gateway" : model.provider;
  const modelId = typeof model === "string" ? model : model.modelId;
  const flavour = provider.startsWith("gateway") ? gatewayFlavour(modelId) : flavourOf(provider);
  const name = provider.startsWith("gateway") ? vendorOf(modelId) : (provider.split(".")[0] ?? provider);
  return {
    flavour,
    modelId,
    namespace: namespaceOf(flavour, name),
    systemAnywhere: flavour === "anthropic" || flavour === "openai-responses" || flavour === "openai-chat",
    mediaInResults: flavour === "anthropic" || flavour === "openai-responses" || flavour === "google",
    errorFlag: flavour === "anthropic",
    textDocuments: flavour === "anthropic",
    toolIds: toolIdLimits(flavour, name),
  };
}

/** A provider that was given a name of its own still reads its maker's namespace. */
function namespaceOf(flavour: Flavour, name: string): string {
  if (flavour === "anthropic" || flavour === "google") return flavour;
  if (flavour === "openai-responses") return name === "azure" || name === "xai" ? name : "openai";
  return name;
}

function flavourOf(provider: string): Flavour {
  if (/anthropic/i.test(provider)) return "anthropic";
  if (/^google\b/i.test(provider)) return "google";
  if (/\.responses$/i.test(provider)) return "openai-responses";
  if (/^(openai|azure)\.(chat|completion)/i.test(provider)) return "openai-chat";
  return "compatible";
}

function gatewayFlavour(modelId: string): Flavour {
  const vendor = vendorOf(modelId);
  if (vendor === "anthropic" || vendor === "google") return vendor;
  return vendor === "openai" ? "openai-responses" : "compatible";
}

const vendorOf = (modelId: string): string => /^[^/:]+(?=[/:])/.exec(modelId)?.[0] ?? "gateway";

function toolIdLimits(flavour: Flavour, name: string): ToolIdLimits {
  if (name === "mistral") return MISTRAL_TOOL_ID;
  return flavour === "openai-chat" || flavour === "openai-responses" ? OPENAI_TOOL_ID : ANY_TOOL_ID;
}
