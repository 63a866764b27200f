import { isRecord, type JsonRecord } from "./untrusted.ts";

/** An API or a library whose messages differ from ours. */
export type ForeignApi =
  | "openai-chat"
  | "openai-responses"
  | "ai-sdk"
  | "ai-sdk-ui"
  | "langchain"
  | "gemini"
  | "bedrock-converse";

export interface ForeignShape {
  readonly api: ForeignApi;
  /** The part of the message that proves it, such as `tool_calls` or `role "developer"`. */
  readonly evidence: string;
}

/**
 * Whether this is a reply as a whole, where a message should be: as the Messages API sends it, or a `ModelReply`. Pushed
 * into a conversation, one would be read as a session line and the other as the user's words.
 */
export function isWholeReply(message: unknown): boolean {
  if (!isRecord(message) || typeof message.uuid === "string" || !Array.isArray(message.content)) return false;
  const { type, role, stopReason } = message;
  if (role === undefined && type === undefined) return typeof stopReason === "string";
  return type === "message" && role === "assistant" && !hasForeignBlock(message.content);
}

/**
 * The other API that a message belongs to; undefined for messages of the Messages API, for session lines, and for
 * whatever nobody can tell. It names an API only on evidence that no Messages API request can contain: block kinds
 * that we do not know pass.
 */
export function foreignShape(message: unknown): ForeignShape | undefined {
  // Lines of session files have both. Nothing inside them is looked at.
  if (!isRecord(message) || (typeof message.type === "string" && typeof message.uuid === "string"))
    return undefined;
  return (
    langChainShape(message) ??
    (typeof message.type === "string" ? responsesItem(message) : undefined) ??
    shapeByFields(message) ??
    shapeByContent(message) ??
    shapeByRole(message)
  );
}

const shape = (api: ForeignApi, evidence: string): ForeignShape => ({ api, evidence });

/** Message objects, their serialized form, and the stored form `{ type: "human", data }`. */
function langChainShape(message: JsonRecord): ForeignShape | undefined {
  if (typeof message._getType === "function") return shape("langchain", "_getType()");
  for (const name of ["lc_namespace", "lc_kwargs"]) {
    if (message[name] !== undefined) return shape("langchain", name);
  }
  if (message.lc === 1 && message.type === "constructor") return shape("langchain", "lc");
  const isTyped = ["human", "ai", "tool"].includes(String(message.type));
  const hasContent = message.content !== undefined || isRecord(message.data);
  return isTyped && hasContent ? shape("langchain", `type "${String(message.type)}"`) : undefined;
}

const RESPONSES_CALL = /^(?:function_call|custom_tool_call)(?:_output)?$/;

function responsesItem(message: JsonRecord): ForeignShape | undefined {
  const { type, role, call_id: callId, content } = message;
  const isCall = RESPONSES_CALL.test(String(type)) && typeof callId === "string";
  const isMessage = type === "message" && typeof role === "string" && content !== undefined;
  const isReasoning = type === "reasoning" && Array.isArray(message.summary);
  return isCall || (isMessage && !isWholeReply(message)) || isReasoning
    ? shape("openai-responses", `type "${String(type)}"`)
    : undefined;
}

function shapeByFields(message: JsonRecord): ForeignShape | undefined {
  if (Array.isArray(message.tool_calls) && message.tool_calls.length > 0)
    return shape("openai-chat", "tool_calls");
  if (Array.isArray(message.choices)) return shape("openai-chat", "choices");
  if (isRecord(message.function_call)) return shape("openai-chat", "function_call");
  if (typeof message.tool_call_id === "string") return shape("openai-chat", "tool_call_id");
  if (message.content !== undefined || !Array.isArray(message.parts)) return undefined;
  const isUi = message.parts.some((part) => isRecord(part) && typeof part.type === "string");
  return shape(isUi ? "ai-sdk-ui" : "gemini", "parts");
}

function shapeByRole({ role, content }: JsonRecord): ForeignShape | undefined {
  if (role === "model") return shape("gemini", 'role "model"');
  if (role !== "tool" && role !== "developer" && role !== "function") return undefined;
  return content === undefined ? undefined : shape("openai-chat", `role "${role}"`);
}

function shapeByContent({ content }: JsonRecord): ForeignShape | undefined {
  if (!Array.isArray(content)) return undefined;
  for (const block of content) {
    const found = isRecord(block) ? shapeOfBlock(block) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

const hasForeignBlock = (content: unknown): boolean => shapeByContent({ content }) !== undefined;

/** The field that a content part of OpenAI has beside its type. */
const OPENAI_PARTS: Readonly<Record<string, readonly [ForeignApi, readonly string[]]>> = {
  image_url: ["openai-chat", ["image_url"]],
  input_audio: ["openai-chat", ["input_audio"]],
  refusal: ["openai-chat", ["refusal"]],
  file: ["openai-chat", ["file"]],
  input_text: ["openai-responses", ["text"]],
  output_text: ["openai-responses", ["text"]],
  input_image: ["openai-responses", ["image_url", "file_id"]],
  input_file: ["openai-responses", ["file_id", "file_data", "file_url"]],
};

function shapeOfBlock(block: JsonRecord): ForeignShape | undefined {
  const { type } = block;
  if (type === undefined) {
    const name = ["toolUse", "toolResult"].find((field) => isRecord(block[field]));
    return name === undefined ? undefined : shape("bedrock-converse", name);
  }
  if (typeof type !== "string") return undefined;
  const evidence = `a part of type "${type}"`;
  const [api, fields] = Object.hasOwn(OPENAI_PARTS, type) ? (OPENAI_PARTS[type] ?? []) : [];
  if (api !== undefined && fields?.some((field) => block[field] !== undefined)) return shape(api, evidence);
  // The Messages API has no field in camel case, and no picture without a source.
  const isCall = typeof block.toolCallId === "string";
  const isFile = type === "file" && typeof block.mediaType === "string";
  const isImage = type === "image" && block.image !== undefined && block.source === undefined;
  return isCall || isFile || isImage ? shape("ai-sdk", evidence) : undefined;
}
