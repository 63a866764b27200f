import { MEDIA_TOKENS } from "@longhaul/core/internal/measure";
import { asList, field, isRecord, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { TokenCounter } from "../../prompt/token-count.ts";
import { type PromptPart, TOOLS_PLACE } from "../prompt/prompt-parts.ts";

/**
 * Tokens of the markup around a message, and of a name. Source: "How to count tokens with tiktoken" in the
 * OpenAI cookbook.
 */
const MESSAGE_TOKENS = 3;
const NAME_TOKENS = 1;
/** Tokens of the markup around a tool definition. Same source. */
const TOOL_TOKENS = 7;
/** Tokens of the markup around a tool call. */
const CALL_TOKENS = 8;

/**
 * Returns the parts of a prompt in the order in which the cache reads them: tools, the schema of the answer,
 * messages. The guide on prompt caching says that a schema is a prefix to the system message.
 */
export function chatPrompt(body: JsonRecord): readonly PromptPart[] {
  const parts: PromptPart[] = [];
  for (const tool of [...asList(body.tools), ...asList(body.functions)]) {
    const definition = field(tool, "function") ?? field(tool, "custom") ?? tool;
    parts.push({
      place: TOOLS_PLACE,
      value: tool,
      count: ({ text }) => TOOL_TOKENS + text(asJson(definition)),
    });
  }
  if (stringField(body.response_format, "type") === "json_schema") {
    const schema = field(body.response_format, "json_schema");
    parts.push({ place: "format", value: schema, count: ({ text }) => text(asJson(schema)) });
  }
  for (const message of asList(body.messages)) if (isRecord(message)) addMessage(parts, message);
  return parts;
}

function addMessage(parts: PromptPart[], message: JsonRecord): void {
  const place = String(message.role);
  const { content } = message;
  if (!Array.isArray(content)) {
    const ownTokens = (counter: TokenCounter): number =>
      counter.text(typeof content === "string" ? content : "");
    parts.push({
      place,
      value: message,
      count: (counter) => ownTokens(counter) + headTokens(message, counter),
    });
    return;
  }
  const { content: _, ...head } = message;
  parts.push({ place, value: head, count: (counter) => headTokens(message, counter) });
  for (const part of content) {
    parts.push({
      place: `${place}.content`,
      value: part,
      isBreakpoint: isRecord(field(part, "prompt_cache_breakpoint")),
      count: (counter) => partTokens(part, counter),
    });
  }
}

function headTokens(message: JsonRecord, { text }: TokenCounter): number {
  let tokens = MESSAGE_TOKENS;
  if (typeof message.name === "string") tokens += NAME_TOKENS + text(message.name);
  if (typeof message.refusal === "string") tokens += text(message.refusal);
  for (const call of [...asList(message.tool_calls), ...asList(message.function_call ? [message] : [])]) {
    const called = field(call, "function") ?? field(call, "custom") ?? field(call, "function_call");
    const input = stringField(called, "arguments") ?? stringField(called, "input") ?? "";
    tokens += CALL_TOKENS + text(stringField(called, "name") ?? "") + text(input);
  }
  return tokens;
}

function partTokens(part: unknown, { text }: TokenCounter): number {
  const words = stringField(part, "text") ?? stringField(part, "refusal");
  return words === undefined ? MEDIA_TOKENS : text(words);
}

const asJson = (value: unknown): string => JSON.stringify(value) ?? "";
