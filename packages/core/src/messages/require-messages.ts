import { LonghaulError } from "./errors.ts";
import {
  isNestedTooDeep,
  isRecord,
  type JsonRecord,
  MAX_NESTED_LEVELS,
  mayNestTooDeep,
} from "./untrusted.ts";

/** Throws unless the caller passed a list. Does not check its items. */
export function requireList(messages: unknown, name = "messages"): asserts messages is readonly unknown[] {
  if (Array.isArray(messages)) return;
  throw new LonghaulError(
    "messages-invalid",
    `${name} must be an array of messages, but is ${describeType(messages)}.`,
    {
      remedy: isPromise(messages)
        ? "Await the promise and pass its result."
        : 'Pass all messages of the conversation as an array, such as [{ role: "user", content: "…" }].',
      facts: { given: describeType(messages) },
    },
  );
}

/**
 * Throws for a message that we cannot read without losses: a message of another API, or a value that is not
 * JSON.
 */
export function requireReadable(message: unknown, index: number): void {
  requireApiMessage(message, index);
  requireJsonMessage(message, index);
}

/** Throws if one of these messages belongs to another API. */
export function requireApiMessages(messages: unknown): void {
  if (!Array.isArray(messages)) return;
  for (let index = 0; index < messages.length; index++) requireApiMessage(messages[index], index);
}

const BY_AI_SDK = "aiSdkModel({ model }) calls any model of the AI SDK with such messages";

/**
 * Other APIs. The key is the API, and the value is its name and advice on how to call its models with our
 * messages.
 */
const FOREIGN_APIS: Readonly<Record<ForeignApi, readonly [name: string, way: string]>> = {
  "openai-chat": ["OpenAI Chat Completions", `${BY_AI_SDK}, OpenAI's included`],
  "openai-responses": ["OpenAI Responses", `${BY_AI_SDK}, OpenAI's included`],
  "ai-sdk": ["AI SDK", `${BY_AI_SDK} and converts them to the format of the AI SDK`],
  "ai-sdk-ui": ["AI SDK UI", `Keep UI messages for the screen. ${BY_AI_SDK}`],
  langchain: ["LangChain", `${BY_AI_SDK}, and anthropicModel({ model }) calls Claude`],
  gemini: ["Gemini", `${BY_AI_SDK}, Google's included`],
  "bedrock-converse": ["Bedrock Converse", `${BY_AI_SDK}, Bedrock's included`],
};

const OWN_SHAPE =
  "Keep the conversation in the shape of the Messages API: a tool call is a tool_use block of an assistant message, and its result is a tool_result block of the next user message.";

/** Throws for a message of another API and for a whole reply. */
export function requireApiMessage(message: unknown, index: number): void {
  if (isWholeReply(message)) {
    throw new LonghaulError(
      "messages-invalid",
      `messages must be an array of messages, but messages[${index}] is a whole reply.`,
      {
        remedy: 'Append { role: "assistant", content: reply.content }, and pass the reply itself to after().',
        facts: { index, given: "a reply" },
      },
    );
  }
  const found = foreignShape(message);
  if (found === undefined) return;
  const { api, evidence } = found;
  const [name, way] = FOREIGN_APIS[api];
  throw new LonghaulError(
    "messages-foreign",
    `messages[${index}] has the shape of ${name} (${evidence}). longhaul reads messages of the Anthropic Messages API. It would lose the tool calls and media of this message.`,
    { remedy: `${OWN_SHAPE} ${way} (docs/models.md).`, facts: { index, api, evidence } },
  );
}

/**
 * Checks only the parts that can contain arbitrary values. Texts and base64 data, the bulk of a message, need
 * no check.
 */
function requireJsonMessage(message: unknown, index: number): void {
  if (!isRecord(message)) return;
  const { message: inner, attachment, content, ...rest } = message;
  const path = `messages[${index}]`;
  if (typeof message.type === "string") {
    // Check only the message and the attachment. The host's copy of a tool result is never sent.
    const { content: own, ...fields } = isRecord(inner) ? inner : { content: undefined };
    requireJson(fields, path);
    requireJson(attachment, path);
    requireJsonContent(own, path);
    return;
  }
  requireJson(rest, path);
  requireJsonContent(content, path);
}

function requireJsonContent(content: unknown, path: string): void {
  if (!Array.isArray(content)) {
    requireJson(content, `${path}.content`);
    return;
  }
  for (const [index, block] of content.entries()) {
    const at = `${path}.content[${index}]`;
    if (!isRecord(block)) requireJson(block, at);
    else if (block.type === "tool_result") requireJsonResult(block, at);
    else if (!isPlainText(block) && !isPlainMedia(block)) requireJson(block, at);
  }
}

/** Checks one level of nesting: a tool result contains blocks, but no further tool results. */
function requireJsonResult(block: JsonRecord, path: string): void {
  const { content, ...rest } = block;
  requireJson(rest, path);
  if (typeof content === "string") return;
  const items: readonly unknown[] = Array.isArray(content) ? content : [content];
  for (const item of items) {
    if (!isRecord(item) || !(isPlainText(item) || isPlainMedia(item))) requireJson(item, path);
  }
}

const isPlainText = (block: JsonRecord): boolean =>
  block.type === "text" && typeof block.text === "string" && block.citations === undefined;

const isPlainMedia = ({ type, source }: JsonRecord): boolean =>
  (type === "image" || type === "document") && isRecord(source) && typeof source.data === "string";

/** Throws if a value cannot be serialized as JSON, or is nested deeper than our readers accept. */
export function requireJson(value: unknown, path: string): void {
  if (value === undefined || value === null || typeof value === "string") return;
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch (cause) {
    if (cause instanceof RangeError) throw nestedTooDeepError(path);
    throw new LonghaulError("content-not-json", `${path} cannot be written as JSON: ${jsonProblem(cause)}.`, {
      remedy:
        "Convert it first: a BigInt to a string or a number, an object to plain data without references to its parents.",
      facts: { path },
      cause,
    });
  }
  if (json !== undefined && mayNestTooDeep(json) && isNestedTooDeep(value)) throw nestedTooDeepError(path);
}

function nestedTooDeepError(path: string): LonghaulError {
  const levels = MAX_NESTED_LEVELS;
  return new LonghaulError(
    "content-not-json",
    `${path} cannot be written as JSON: it is nested more than ${levels} levels deep.`,
    { remedy: "Make it flatter, or pass the deep part as a JSON string.", facts: { path, levels } },
  );
}

function jsonProblem(cause: unknown): string {
  const words = cause instanceof Error ? cause.message : String(cause);
  if (words.includes("BigInt")) return "it contains a BigInt";
  return /circular|cyclic/i.test(words)
    ? "it contains a reference to itself"
    : "reading one of its values throws an error";
}

export const isPromise = (value: unknown): boolean =>
  typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";

/** Describes the type of a value for an error message. */
export function describeType(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (isPromise(value)) return "a promise";
  if (typeof value === "number") return `the number ${value}`;
  if (typeof value === "string") return value === "" ? "an empty string" : "a string";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** An API or library with another message format. */
type ForeignApi =
  | "openai-chat"
  | "openai-responses"
  | "ai-sdk"
  | "ai-sdk-ui"
  | "langchain"
  | "gemini"
  | "bedrock-converse";

interface ForeignShape {
  readonly api: ForeignApi;
  /** The part of the message that shows its API, such as `tool_calls` or `role "developer"`. */
  readonly evidence: string;
}

/**
 * Returns true if the caller passed a whole reply instead of a message. A whole reply is a response of the
 * Messages API, or a `ModelReply`. In a conversation, a response would be read as a session line, and a
 * `ModelReply` as a user message.
 */
export function isWholeReply(message: unknown): boolean {
  if (!isRecord(message) || typeof message.uuid === "string" || !Array.isArray(message.content)) return false;
  const { type, role, stopReason } = message;
  if (role === undefined && type === undefined) return typeof stopReason === "string";
  return type === "message" && role === "assistant" && !hasForeignBlock(message.content);
}

/**
 * Detects messages of another API. Returns undefined for messages of the Messages API, for session lines and
 * for anything ambiguous. Names an API only if no Messages API request can contain the evidence. Unknown
 * block types therefore pass.
 */
export function foreignShape(message: unknown): ForeignShape | undefined {
  // A line of a session file has a type and a uuid. Such a line is not inspected further.
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

/** Matches message objects, their serialized form, and the stored form `{ type: "human", data }`. */
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

/**
 * Content part types of OpenAI. The key is the type, and the value is its API and a list of fields. A part of
 * the type must have at least one of these fields.
 */
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
  // The Messages API has no camel case field, and no image without a source.
  const isCall = typeof block.toolCallId === "string";
  const isFile = type === "file" && typeof block.mediaType === "string";
  const isImage = type === "image" && block.image !== undefined && block.source === undefined;
  return isCall || isFile || isImage ? shape("ai-sdk", evidence) : undefined;
}
