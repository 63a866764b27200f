import { asList, isRecord, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { ApiMessage, ContentBlock, MediaSource } from "@longhaul/core/messages";
import { imageBlock, parsedInput } from "../chat/chat-conversation.ts";
import { itemType } from "./input-items.ts";

/** A conversation in the form of the Messages API. */
export interface SeenConversation {
  readonly system: string;
  readonly messages: readonly ApiMessage[];
}

/** Functions that read what the simulator sealed. They return undefined for anything else. */
export interface SealedTexts {
  /** Returns the text of a reasoning item. */
  reasoning(encrypted: string): string | undefined;
  /** Returns the summary of a compaction item. */
  summary(encrypted: string): string | undefined;
}

/**
 * Converts items to messages. Items of the model up to the next item of the client form one message of the
 * assistant. Outputs of tools and messages of the user in between form one message of the user. Instructions
 * before the first other item belong to the system prompt.
 */
export function seenConversation(
  instructions: unknown,
  items: readonly JsonRecord[],
  sealed: SealedTexts,
): SeenConversation {
  const system: string[] = typeof instructions === "string" ? [instructions] : [];
  const messages: { role: string; content: ContentBlock[] }[] = [];
  for (const item of items) {
    const part = partOf(item, sealed);
    if (part === undefined) continue;
    if (part.role === "system" && messages.length === 0) {
      system.push(part.blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n"));
      continue;
    }
    const last = messages.at(-1);
    if (last?.role === part.role) last.content.push(...part.blocks);
    else messages.push({ role: part.role, content: [...part.blocks] });
  }
  return { system: system.join("\n\n"), messages: messages as unknown as readonly ApiMessage[] };
}

interface Part {
  readonly role: "user" | "assistant" | "system";
  readonly blocks: readonly ContentBlock[];
}

/** Reads an item. Returns undefined for items that add nothing to the conversation. */
function partOf(item: JsonRecord, sealed: SealedTexts): Part | undefined {
  const type = itemType(item);
  switch (type) {
    case "message":
      return messagePart(item);
    case "reasoning":
      return { role: "assistant", blocks: [thinking(item, sealed)] };
    case "compaction": {
      const text = sealed.summary(stringField(item, "encrypted_content") ?? "") ?? "";
      return { role: "user", blocks: text === "" ? [] : [{ type: "text", text }] };
    }
    case "compaction_trigger":
    case "additional_tools":
    case "configuration_update":
    case "item_reference":
      return undefined;
  }
  const callId = stringField(item, "call_id") ?? (type.startsWith("local_shell") ? item.id : undefined);
  if (typeof callId === "string" && type.endsWith("_output")) return resultPart(item, callId);
  if (typeof callId === "string" && type.endsWith("_call")) return callPart(item, type, callId);
  // A call that OpenAI itself runs. Its item holds the call and the result.
  return { role: "assistant", blocks: [{ type: "text", text: JSON.stringify(item) }] };
}

function messagePart({ role, content }: JsonRecord): Part {
  const blocks = contentParts(content);
  if (role === "assistant") return { role, blocks };
  return { role: role === "system" || role === "developer" ? "system" : "user", blocks };
}

/** Shows reasoning as thinking: the sealed text, or the summary if the text is not sealed by this simulator. */
function thinking(item: JsonRecord, sealed: SealedTexts): ContentBlock {
  const signature = stringField(item, "encrypted_content") ?? "";
  const parts = [...asList(item.content), ...asList(item.summary)];
  const shown = parts.map((part) => stringField(part, "text") ?? "").join("\n");
  return { type: "thinking", thinking: sealed.reasoning(signature) ?? shown, signature };
}

/** Fields of a call that say nothing about its input. */
const NOT_INPUT: ReadonlySet<string> = new Set([
  "type",
  "id",
  "call_id",
  "status",
  "caller",
  "created_by",
  "environment",
]);

function callPart(item: JsonRecord, type: string, id: string): Part {
  const namespace = stringField(item, "namespace");
  const own = stringField(item, "name") ?? type.slice(0, -"_call".length);
  const name = namespace === undefined ? own : `${namespace}.${own}`;
  return { role: "assistant", blocks: [{ type: "tool_use", id, name, input: callInput(item, type) }] };
}

function callInput(item: JsonRecord, type: string): JsonRecord {
  if (type === "function_call") return parsedInput(item.arguments);
  if (type === "custom_tool_call") return { input: item.input };
  if (isRecord(item.action)) return item.action;
  return Object.fromEntries(Object.entries(item).filter(([name]) => !NOT_INPUT.has(name)));
}

function resultPart(item: JsonRecord, callId: string): Part {
  const { output } = item;
  const content =
    typeof output === "string" ? output : isRecord(output) ? contentParts([output]) : contentParts(output);
  const failed = item.status === "failed" ? { is_error: true } : {};
  return { role: "user", blocks: [{ type: "tool_result", tool_use_id: callId, content, ...failed }] };
}

function contentParts(content: unknown): readonly ContentBlock[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return asList(content).filter(isRecord).map(contentBlock);
}

/** Converts a content part. A part of an unknown type becomes a text that shows it. */
function contentBlock(part: JsonRecord): ContentBlock {
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "text":
    case "summary_text":
      return { type: "text", text: stringField(part, "text") ?? "" };
    case "refusal":
      return { type: "text", text: stringField(part, "refusal") ?? "" };
    case "input_image":
    case "computer_screenshot":
      return typeof part.image_url === "string"
        ? imageBlock(part.image_url)
        : { type: "image", source: storedSource(part.file_id) };
    case "input_file": {
      const source = fileSource(part);
      return { type: "document", source, title: stringField(part, "filename") ?? null };
    }
  }
  if (typeof part.stdout === "string" || typeof part.stderr === "string") return shellOutput(part);
  return { type: "text", text: JSON.stringify(part) };
}

/** Shows one output of the built-in shell as a terminal would. */
function shellOutput({ stdout, stderr, outcome }: JsonRecord): ContentBlock {
  const exit = isRecord(outcome) && outcome.type === "exit" ? outcome.exit_code : "timeout";
  const texts = [stdout, stderr].filter((text) => typeof text === "string" && text !== "");
  if (exit !== 0) texts.push(`exit: ${String(exit)}`);
  return { type: "text", text: texts.join("\n") };
}

const storedSource = (fileId: unknown): MediaSource => ({
  type: "file",
  file_id: typeof fileId === "string" ? fileId : "",
});

/** Returns the source of a file: its data, its address, or its id. */
function fileSource({ file_data, file_url, file_id }: JsonRecord): MediaSource {
  if (typeof file_url === "string") return { type: "url", url: file_url };
  if (typeof file_data !== "string") return storedSource(file_id);
  const [, media_type = "application/octet-stream", data = file_data] = DATA_URL.exec(file_data) ?? [];
  return { type: "base64", media_type, data };
}

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s;
