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

const CANONICAL = /^[a-zA-Z0-9_-]+$/;
/** Begins an id whose forbidden characters are written as `_<hex>_`; so do those that begin so by chance. */
const ESCAPED = "esc-";

/** The id under which the conversation knows a call: of the permitted characters, and the way back is kept. */
export function canonicalToolId(wireId: string): string {
  if (CANONICAL.test(wireId) && !wireId.startsWith(ESCAPED)) return wireId;
  const escaped = wireId.replace(
    /[^a-zA-Z0-9-]/g,
    (character) => `_${character.charCodeAt(0).toString(16)}_`,
  );
  return `${ESCAPED}${escaped}`;
}

/** The id as the provider gave it, or one of the form it takes. The same id always becomes the same. */
export function wireToolId(id: string, { maxLength, isFixedLength }: ToolIdLimits): string {
  const original = id.startsWith(ESCAPED) ? unescaped(id.slice(ESCAPED.length)) : id;
  if (isFixedLength) {
    const fits = original.length === maxLength && /^[a-zA-Z0-9]*$/.test(original);
    return fits ? original : digest(original, maxLength);
  }
  if (original.length <= maxLength) return original;
  return `${original.slice(0, maxLength - DIGEST_CHARACTERS - 1)}_${digest(original, DIGEST_CHARACTERS)}`;
}

/** Some servers count calls anew in every reply; an id may occur only once in a conversation. */
export function unusedToolId(wanted: string, used: ReadonlySet<string>): string {
  const base = wanted === "" ? "call" : wanted;
  let id = base;
  for (let count = 2; id === "" || used.has(id); count++) id = `${base}-${count}`;
  return id;
}

const unescaped = (text: string): string =>
  text.replace(/_([0-9a-f]+)_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** Enough that two ids of one conversation do not meet. */
const DIGEST_CHARACTERS = 9;

/** FNV-1a over the characters, twice with different starts, in letters and digits. */
function digest(text: string, length: number): string {
  const hash = (start: number): string => {
    let value = start;
    for (let index = 0; index < text.length; index++) {
      value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0;
    }
    return value.toString(36).padStart(7, "0");
  };
  return `${hash(0x811c9dc5)}${hash(0x9747b28c)}`.slice(-length).padStart(length, "0");
}
