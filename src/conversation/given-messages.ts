import { LonghaulError } from "../errors.ts";
import { type ForeignApi, foreignShape, isWholeReply } from "./foreign-shape.ts";
import { isNestedTooDeep, MOST_NESTED_LEVELS, mayNestTooDeep } from "./nesting.ts";
import { isRecord, type JsonRecord } from "./untrusted.ts";

/** Throws unless a caller passed a list. What is in it may still need repairs. */
export function requireList(messages: unknown, name = "messages"): asserts messages is readonly unknown[] {
  if (Array.isArray(messages)) return;
  throw new LonghaulError("messages-invalid", `${name} must be an array, but is ${kindOf(messages)}.`, {
    remedy: isPromise(messages)
      ? "Await the promise and pass its result."
      : 'Pass all messages of the conversation as an array, such as [{ role: "user", content: "…" }].',
    facts: { given: kindOf(messages) },
  });
}

/** Throws for a message that we cannot read without losing something: another API's, or no JSON. */
export function requireReadable(message: unknown, index: number): void {
  requireOwnShape(message, index);
  requireJsonMessage(message, index);
}

/** Throws where one of these is a message of another API. */
export function requireOwnShapes(messages: unknown): void {
  if (!Array.isArray(messages)) return;
  for (let index = 0; index < messages.length; index++) requireOwnShape(messages[index], index);
}

const API_NAMES: Readonly<Record<ForeignApi, string>> = {
  "openai-chat": "OpenAI Chat Completions",
  "openai-responses": "OpenAI Responses",
  "ai-sdk": "AI SDK",
  "ai-sdk-ui": "AI SDK UI",
  langchain: "LangChain",
  gemini: "Gemini",
  "bedrock-converse": "Bedrock Converse",
};

const OWN_SHAPE =
  "Keep the conversation in the shape of the Messages API: a tool call is a tool_use block of an assistant message, its result a tool_result block of the next user message.";
const BY_AI_SDK = "aiSdkModel({ model }) calls any model of the AI SDK with such messages";

const REMEDIES: Readonly<Record<ForeignApi, string>> = {
  "openai-chat": `${OWN_SHAPE} ${BY_AI_SDK}, OpenAI's included (docs/models.md).`,
  "openai-responses": `${OWN_SHAPE} ${BY_AI_SDK}, OpenAI's included (docs/models.md).`,
  "ai-sdk": `${OWN_SHAPE} ${BY_AI_SDK} and converts them for it (docs/models.md).`,
  "ai-sdk-ui": `${OWN_SHAPE} Keep UI messages for the screen. ${BY_AI_SDK} (docs/models.md).`,
  langchain: `${OWN_SHAPE} ${BY_AI_SDK}, and anthropicModel({ model }) calls Claude (docs/models.md).`,
  gemini: `${OWN_SHAPE} ${BY_AI_SDK}, Google's included (docs/models.md).`,
  "bedrock-converse": `${OWN_SHAPE} ${BY_AI_SDK}, Bedrock's included (docs/models.md).`,
};

/** Throws where this is a message of another API, or a whole reply. */
export function requireOwnShape(message: unknown, index: number): void {
  if (isWholeReply(message)) {
    throw new LonghaulError("messages-invalid", `messages[${index}] is a whole reply instead of a message.`, {
      remedy: 'Append { role: "assistant", content: reply.content }, and pass the reply itself to after().',
      facts: { index, given: "a reply" },
    });
  }
  const found = foreignShape(message);
  if (found === undefined) return;
  const { api, evidence } = found;
  throw new LonghaulError(
    "messages-foreign",
    `messages[${index}] has the shape of ${API_NAMES[api]} (${evidence}). longhaul reads messages of the Anthropic Messages API, and would lose tool calls and media of this one.`,
    { remedy: REMEDIES[api], facts: { index, api, evidence } },
  );
}

/** Only parts that can hold arbitrary values are written as JSON: texts and base64 are the bulk of a message. */
function requireJsonMessage(message: unknown, index: number): void {
  if (!isRecord(message)) return;
  const { message: inner, attachment, content, ...rest } = message;
  const path = `messages[${index}]`;
  if (typeof message.type === "string") {
    // The host's copy of an outcome beside the message is never sent.
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

/** One level down: a result holds blocks, and a block inside one holds no further results. */
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

/** Throws where a value cannot be written as JSON, or is nested deeper than what is read from a file. */
export function requireJson(value: unknown, path: string): void {
  if (value === undefined || value === null || typeof value === "string") return;
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch (cause) {
    if (cause instanceof RangeError) throw tooDeep(path);
    throw new LonghaulError("content-not-json", `${path} cannot be written as JSON: ${whyNoJson(cause)}.`, {
      remedy:
        "Convert it before you pass it on: a BigInt to a string or a number, an object to plain data without references to its parents.",
      facts: { path },
      cause,
    });
  }
  if (json !== undefined && mayNestTooDeep(json) && isNestedTooDeep(value)) throw tooDeep(path);
}

function tooDeep(path: string): LonghaulError {
  const levels = MOST_NESTED_LEVELS;
  return new LonghaulError("content-not-json", `${path} is nested more than ${levels} levels deep.`, {
    remedy: "Make it flatter, or pass the deep part as a JSON string.",
    facts: { path, levels },
  });
}

function whyNoJson(cause: unknown): string {
  const words = cause instanceof Error ? cause.message : String(cause);
  if (words.includes("BigInt")) return "it holds a BigInt";
  return /circular|cyclic/i.test(words) ? "it holds a reference to itself" : "one of its values throws";
}

export const isPromise = (value: unknown): boolean =>
  typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";

/** A value in a word or two, for the message of an error. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (isPromise(value)) return "a promise";
  if (typeof value === "number") return `the number ${value}`;
  if (typeof value === "string") return value === "" ? "an empty string" : "a string";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
