import type { Json } from "./wire.ts";

/** A tool call that a client answered in a later request. */
export interface AnsweredCall {
  readonly id: string;
  readonly name: string;
  readonly result: string;
}

/**
 * Returns the answered tool calls in request bodies, each once, in order. Reads the formats of the Messages
 * API, of chat completions and of the Responses API. It shares no code with the packages.
 */
export function answeredCalls(bodies: readonly Json[]): readonly AnsweredCall[] {
  const names = new Map<string, string>();
  const answered = new Map<string, AnsweredCall>();
  for (const body of bodies) {
    for (const item of itemsOf(body)) {
      const call = callIn(item);
      if (call !== undefined) names.set(call.id, call.name);
      const answer = answerIn(item);
      if (answer === undefined) continue;
      const name = names.get(answer.id) ?? (isContinued(body) ? STORED : undefined);
      if (name !== undefined) answered.set(answer.id, { ...answer, name });
    }
  }
  return [...answered.values()];
}

/** Name of a call that the provider stores, so that the client sends only its result. */
const STORED = "(stored)";

const isContinued = ({ previous_response_id }: Json): boolean => typeof previous_response_id === "string";

/** Returns content blocks, tool calls and items in one list. */
function itemsOf(body: Json): readonly Json[] {
  const messages = [...listIn(body.messages), ...listIn(body.input)];
  return messages.flatMap((message) => [message, ...listIn(message.content), ...listIn(message.tool_calls)]);
}

function callIn(item: Json): { id: string; name: string } | undefined {
  const { type, id, call_id, name } = item;
  if (type === "tool_use") return { id: String(id), name: String(name) };
  if (type === "function") return { id: String(id), name: String((item.function as Json | undefined)?.name) };
  if (type === "custom") return { id: String(id), name: String((item.custom as Json | undefined)?.name) };
  if (typeof type === "string" && type.endsWith("_call"))
    return { id: String(call_id), name: String(name ?? type) };
  return undefined;
}

function answerIn(item: Json): { id: string; result: string } | undefined {
  const { type, role, content, output } = item;
  if (type === "tool_result") return { id: String(item.tool_use_id), result: textOf(content) };
  if (role === "tool") return { id: String(item.tool_call_id), result: textOf(content) };
  if (typeof type === "string" && type.endsWith("_call_output"))
    return { id: String(item.call_id), result: textOf(output) };
  return undefined;
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

const listIn = (value: unknown): readonly Json[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "object" && one !== null) : [];
