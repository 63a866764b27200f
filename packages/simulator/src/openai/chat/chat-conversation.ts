import { asList, field, isRecord, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import type { SeenConversation } from "../answer/model-answers.ts";

/**
 * Translates a body of chat completions into the form of the Messages API, which behaviors read. Parts of
 * another shape are left out, because the rules refuse them.
 */
export function chatConversation(body: JsonRecord): SeenConversation {
  const system: string[] = [];
  const messages: ApiMessage[] = [];
  for (const message of asList(body.messages)) {
    if (!isRecord(message)) continue;
    const isInstruction = message.role === "system" || message.role === "developer";
    if (isInstruction && messages.length === 0) system.push(plainText(message.content));
    else addMessage(messages, message);
  }
  return { messages, system: system.join("\n\n"), tools: chatTools(body) };
}

function addMessage(messages: ApiMessage[], message: JsonRecord): void {
  switch (message.role) {
    case "system":
    case "developer":
      messages.push({ role: "system", content: plainText(message.content) });
      return;
    case "assistant":
      messages.push({ role: "assistant", content: assistantBlocks(message) });
      return;
    case "tool":
    case "function":
      addResult(messages, resultBlock(message));
      return;
    default: {
      const { content } = message;
      messages.push({ role: "user", content: typeof content === "string" ? content : userBlocks(content) });
    }
  }
}

/** Adds a result. Consecutive results are one message, as in the Messages API. */
function addResult(messages: ApiMessage[], block: ContentBlock): void {
  const last = messages.at(-1);
  const isResults = Array.isArray(last?.content) && last.content.every(({ type }) => type === "tool_result");
  if (last?.role === "user" && isResults && Array.isArray(last.content) && last.content.length > 0)
    messages.splice(-1, 1, { role: "user", content: [...last.content, block] });
  else messages.push({ role: "user", content: [block] });
}

function resultBlock(message: JsonRecord): ContentBlock {
  const id = stringField(message, "tool_call_id") ?? legacyCallId(stringField(message, "name") ?? "");
  return { type: "tool_result", tool_use_id: id, content: plainText(message.content) };
}

function assistantBlocks(message: JsonRecord): ContentBlock[] {
  const blocks: ContentBlock[] = [];
  const text = plainText(message.content) || (stringField(message, "refusal") ?? "");
  if (text !== "") blocks.push({ type: "text", text });
  for (const call of asList(message.tool_calls)) if (isRecord(call)) blocks.push(callBlock(call));
  if (isRecord(message.function_call)) {
    const name = stringField(message.function_call, "name") ?? "";
    const input = parsedInput(message.function_call.arguments);
    blocks.push({ type: "tool_use", id: legacyCallId(name), name, input });
  }
  return blocks;
}

function callBlock(call: JsonRecord): ContentBlock {
  const id = String(call.id);
  if (isRecord(call.custom)) {
    const input = { input: stringField(call.custom, "input") ?? "" };
    return { type: "tool_use", id, name: stringField(call.custom, "name") ?? "", input };
  }
  const name = stringField(call.function, "name") ?? "";
  return { type: "tool_use", id, name, input: parsedInput(field(call.function, "arguments")) };
}

/** Calls of the deprecated field `function_call` have no id. The name of the function pairs them. */
const legacyCallId = (name: string): string => `call_${name}`;

/** Parses the arguments of a call. A model can write invalid JSON, which the API does not check. */
export function parsedInput(text: unknown): JsonRecord {
  if (typeof text !== "string" || text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : { input: value };
  } catch {
    return { input: text };
  }
}

/** Joins the texts of a content. */
function plainText(content: unknown): string {
  if (typeof content === "string") return content;
  return asList(content)
    .map((part) => stringField(part, "text") ?? stringField(part, "refusal") ?? "")
    .filter((text) => text !== "")
    .join("\n");
}

function userBlocks(content: unknown): ContentBlock[] {
  return asList(content).flatMap((part) => (isRecord(part) ? userBlock(part) : []));
}

function userBlock(part: JsonRecord): ContentBlock[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: stringField(part, "text") ?? "" }];
    case "image_url":
      return [imageBlock(stringField(part.image_url, "url") ?? "")];
    case "file": {
      const source = { type: "file", file_id: stringField(part.file, "file_id") ?? "" };
      const title = stringField(part.file, "filename");
      const block = { type: "document", source, ...(title === undefined ? {} : { title }) };
      return [block as unknown as ContentBlock];
    }
    case "input_audio":
      return [{ type: "text", text: "[audio]" }];
    default:
      return [];
  }
}

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s;

/** Returns the image of a URL. A data URL contains the image itself. */
export function imageBlock(url: string): ContentBlock {
  const [, media_type, data] = DATA_URL.exec(url) ?? [];
  const source = data === undefined ? { type: "url", url } : { type: "base64", media_type, data };
  return { type: "image", source } as unknown as ContentBlock;
}

// Tools

/** Schema of a custom tool for behaviors. Its input is one free text. */
export const CUSTOM_TOOL_SCHEMA: JsonRecord = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
};

function chatTools(body: JsonRecord): readonly JsonRecord[] {
  const tools = asList(body.tools).flatMap((tool) => {
    if (!isRecord(tool)) return [];
    if (isRecord(tool.custom)) return [seenTool(tool.custom, CUSTOM_TOOL_SCHEMA)];
    return isRecord(tool.function) ? [seenTool(tool.function, tool.function.parameters)] : [];
  });
  const legacy = asList(body.functions).flatMap((one) =>
    isRecord(one) ? [seenTool(one, one.parameters)] : [],
  );
  return [...tools, ...legacy];
}

function seenTool(definition: JsonRecord, schema: unknown): JsonRecord {
  return {
    name: definition.name,
    ...(definition.description === undefined ? {} : { description: definition.description }),
    input_schema: isRecord(schema) ? schema : { type: "object", properties: {} },
  };
}

/** Names of the tools that take free text. */
export function customTools(body: JsonRecord): ReadonlySet<string> {
  return new Set(asList(body.tools).flatMap((tool) => stringField(field(tool, "custom"), "name") ?? []));
}
