import { isRecord } from "@longhaul/core/internal/messages";
import {
  anything,
  list,
  matching,
  nullable,
  object,
  oneOf,
  required,
  shortString,
  string,
  tagged,
} from "../../../shape/shape-check.ts";
import { refuse } from "../../wording/refuse.ts";
import { imageUrl, mediaTypeOf } from "../image-url.ts";
import { type Check, type Fields, filledList, union } from "../shape/inspection.ts";

/** Names of functions and tools: FunctionDefinition of the official SDK. */
const NAME_PATTERN = /^[a-zA-Z0-9_-]+$/;
const MAX_NAME_CHARACTERS = 64;

/**
 * Maximum characters of the id of a call. Sources conflict: the API refused longer ids in 2025 and in January
 * 2026 (github.com/vercel/ai/issues/8132, github.com/openclaw/openclaw/pull/875), but accepted 51 characters in
 * July 2026 (github.com/vercel/ai/pull/17233). The stricter limit is safe for every client.
 */
const MAX_CALL_ID_CHARACTERS = 40;

/** Maximum calls in one message, captured: github.com/openai/openai-dotnet/issues/317. */
const MAX_CALLS = 128;

/** Maximum characters of the content of a message, captured: github.com/FlowiseAI/Flowise/issues/5085. */
const MAX_CONTENT_CHARACTERS = 10_485_760;

const nameLength = shortString(MAX_NAME_CHARACTERS);
const namePattern = matching(NAME_PATTERN);

/** Checks the name of a function, a tool or an output format. */
export const functionName: Check = (value, inspection) => {
  string(value, inspection);
  if (value === "") inspection.refuse({ kind: "stringTooShort", minimum: 1 }, value);
  nameLength(value, inspection);
  namePattern(value, inspection);
};

// Content

const breakpoint = object({ mode: required(oneOf("explicit")) });
const marked: Fields = { prompt_cache_breakpoint: breakpoint };

const fileFields = object({ file_data: string, file_id: string, filename: string });

const file: Check = (value, inspection) => {
  fileFields(value, inspection);
  if (!isRecord(value)) return;
  if (value.file_data === undefined && value.file_id === undefined) {
    refuse("fileSource", inspection.path, { path: inspection.path });
  }
  if (typeof value.file_data === "string" && mediaTypeOf(value.file_data) === undefined) {
    const path = `${inspection.path}.file_data`;
    refuse("chatFileData", path, { path });
  }
};

/**
 * Checks content by its parts. The types are in the order in which the API lists them. `message-rules.ts` checks
 * which role has which parts. The SDK has no type `audio`.
 * @param more further fields of text and refusals
 */
function contentWith(more: Fields): Check {
  const part = tagged({
    text: { text: required(string), ...marked, ...more },
    image_url: {
      image_url: required(object({ url: required(imageUrl), detail: oneOf("auto", "low", "high") })),
      ...marked,
    },
    input_audio: {
      input_audio: required(object({ data: required(string), format: required(oneOf("wav", "mp3")) })),
      ...marked,
    },
    refusal: { ...more, refusal: required(string) },
    audio: { audio: anything },
    file: { file: required(file), ...marked },
  });
  const text = shortString(MAX_CONTENT_CHARACTERS);
  return union({ string: text, "array of objects": filledList(part, { of: "objects" }) });
}

const content = contentWith({});

/** Fields of an answer that the Agents SDK adds to each part of it: see `UNDOCUMENTED_CHAT`. */
const answerContent = contentWith({
  role: anything,
  refusal: anything,
  annotations: anything,
  audio: anything,
  function_call: anything,
  tool_calls: anything,
});

// Calls

const callId = required(shortString(MAX_CALL_ID_CHARACTERS));

const call = tagged({
  function: {
    id: callId,
    function: required(
      object({ name: required(functionName), arguments: required(string), parsed_arguments: anything }),
    ),
  },
  custom: {
    id: callId,
    custom: required(object({ name: required(functionName), input: required(string) })),
  },
});

// Messages

// Sources conflict on unknown fields of messages. The answers that `fieldUnknown` names refuse them. The matrix that
// `chat-texts.ts` names saw the API ignore `tool_calls` of a user message. The switch `unknownFields` decides.

/**
 * Pattern of the name of a participant, captured in February 2026: github.com/langchain-ai/langchain/issues/35054.
 * The pattern of 2024 accepted fewer names.
 */
const participant: Fields = { name: matching(/^[^\s<|\\/>]+$/) };

/** Content may be null in the shape. `message-rules.ts` refuses it with its own text. */
const spoken: Fields = { content: nullable(content) };

/** Roles, in the order in which the API lists them. */
const anyMessage = tagged(
  {
    system: { ...spoken, ...participant },
    assistant: {
      content: nullable(answerContent),
      ...participant,
      refusal: nullable(string),
      audio: nullable(object({ id: required(string) })),
      function_call: nullable(object({ name: required(string), arguments: required(string) })),
      tool_calls: nullable(filledList(call, { maximum: MAX_CALLS, of: "objects" })),
      // Part of the message in a reply, which the guides send back whole.
      annotations: anything,
      // The SDK's own helpers add it to the message: see `UNDOCUMENTED_CHAT`.
      parsed: anything,
    },
    user: { ...spoken, ...participant },
    function: { ...spoken, name: required(functionName) },
    // The name is not in the SDK, but older guides sent it.
    tool: { ...spoken, tool_call_id: callId, name: string },
    developer: { content: required(content), ...participant },
  },
  {},
  "role",
);

/**
 * Returns true for a message that is only a role and plain text. Such messages skip the general checks,
 * because every call sends the whole conversation again.
 */
function isPlain(message: unknown): boolean {
  if (!isRecord(message) || typeof message.content !== "string") return false;
  if (message.content.length > MAX_CONTENT_CHARACTERS) return false;
  if (message.role !== "user" && message.role !== "assistant" && message.role !== "system") return false;
  let fields = 0;
  for (const _ in message) fields++;
  return fields === 2;
}

const message: Check = (value, inspection) => {
  if (!isPlain(value)) anyMessage(value, inspection);
};

export const messages: Check = filledList(message, { of: "objects" });

/** Predicted output: only text. */
export const prediction: Check = object({
  type: required(oneOf("content")),
  content: required(
    union({ string: anything, "array of objects": list(tagged({ text: { text: required(string) } })) }),
  ),
});
