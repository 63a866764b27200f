import type { JsonRecord } from "@longhaul/core/internal/messages";
import type { OpenAiModel } from "../../request.ts";
import { refuse } from "../../wording/refuse.ts";
import { shortened } from "../shape/inspection.ts";
import { field, recordField, recordsField } from "./checked-body.ts";

/** Checks the content of each message: its parts, its role, and that there is content. */
export function checkContents(messages: readonly JsonRecord[], model: OpenAiModel | undefined): void {
  for (const [index, message] of messages.entries()) {
    if (message.role === "function" && model?.isReasoning === true) {
      refuse("roleUnsupported", `messages[${index}].role`, { index, role: "function" });
    }
    for (const [at, { type }] of recordsField(message, "content").entries()) {
      checkPart(String(type), String(message.role), index);
      if (type === "image_url" && model?.acceptsImages === false) {
        refuse("imageModel", `messages.[${index}].content.[${at}].type`);
      }
    }
  }
}

/** Content parts of each role. The other roles have only text. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  user: ["text", "image_url", "input_audio", "file"],
  assistant: ["text", "refusal", "audio"],
};

function checkPart(type: string, role: string, index: number): void {
  if (type === "text" || PARTS[role]?.includes(type) === true) return;
  const param = `messages[${index}]`;
  if (type === "image_url") refuse("imageRole", param, { index, role });
  refuse("partRole", param, { index, role, type });
}

/** Fields that replace the content of an assistant message: ChatCompletionAssistantMessageParam of the SDK. */
const INSTEAD_OF_CONTENT = ["tool_calls", "function_call", "refusal", "audio"];

/** Checks that each message has content. The API reports this last of all faults. */
export function checkContentGiven(messages: readonly JsonRecord[]): void {
  for (const [index, message] of messages.entries()) {
    if (field(message, "content") !== undefined) continue;
    if (message.role === "function" && message.content === null) continue;
    const isReplaced = INSTEAD_OF_CONTENT.some((name) => field(message, name) !== undefined);
    if (message.role === "assistant" && isReplaced) continue;
    refuse("contentMissing", `messages.[${index}].content`);
  }
}

/** Calls of an assistant message, while the messages after it are read. */
interface OpenCalls {
  /** Ids of the calls, and the message that answered each. */
  readonly answeredBy: Map<unknown, number | undefined>;
}

/**
 * Checks that each call is answered in the run of tool messages directly after it, and that each tool message
 * answers a call.
 */
export function checkToolPairs(messages: readonly JsonRecord[]): void {
  let open: OpenCalls | undefined;
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      if (open === undefined) refuse("toolOutputOrphan", `messages.[${index}].role`);
      else answer(open, message, index);
      continue;
    }
    if (open !== undefined) checkAnswered(open, index);
    open = callsOf(message);
  }
  if (open !== undefined) checkAnswered(open, messages.length - 1);
}

function callsOf(message: JsonRecord): OpenCalls | undefined {
  const calls = message.role === "assistant" ? recordsField(message, "tool_calls") : [];
  if (calls.length === 0) return undefined;
  return { answeredBy: new Map(calls.map(({ id }) => [id, undefined])) };
}

function answer({ answeredBy }: OpenCalls, message: JsonRecord, index: number): void {
  const id = message.tool_call_id;
  const param = `messages.[${index}].tool_call_id`;
  if (!answeredBy.has(id)) refuse("toolOutputUnknown", param, { id: shortened(String(id)) });
  const first = answeredBy.get(id);
  if (first !== undefined) {
    refuse("toolOutputRepeated", param, { id: shortened(String(id)), first, second: index });
  }
  answeredBy.set(id, index);
}

/** @param index the message that ends the run of tool messages, or the last message */
function checkAnswered({ answeredBy }: OpenCalls, index: number): void {
  const missing = [...answeredBy].filter(([, answeredAt]) => answeredAt === undefined).map(([id]) => id);
  if (missing.length === 0) return;
  refuse("toolOutputsMissing", `messages.[${index}].role`, { ids: missing.join(", ") });
}

const JSON_WORD = /json/i;

/** Checks that the conversation mentions JSON, if the request asks for the older JSON mode. */
export function checkJsonWord(body: JsonRecord, messages: readonly JsonRecord[]): void {
  if (recordField(body, "response_format")?.type !== "json_object") return;
  if (!messages.some(mentionsJson)) refuse("jsonWordMissing", "messages");
}

function mentionsJson(message: JsonRecord): boolean {
  if (typeof message.content === "string") return JSON_WORD.test(message.content);
  return recordsField(message, "content").some(
    ({ text }) => typeof text === "string" && JSON_WORD.test(text),
  );
}
