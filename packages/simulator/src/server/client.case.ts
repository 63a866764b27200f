import type { JsonRecord } from "../../../core/src/messages/untrusted.ts";
import type { Turn } from "../exchange.ts";
import type { Simulator } from "../simulator.ts";

/** Required headers of every call. Any key works. */
export const HEADERS = {
  "x-api-key": "any",
  "anthropic-version": "2023-06-01",
  "content-type": "application/json",
} as const;

export interface ErrorBody extends JsonRecord {
  readonly error: { readonly type: string; readonly message: string; readonly details?: JsonRecord };
}

export interface MessageBody extends JsonRecord {
  readonly id: string;
  readonly content: readonly JsonRecord[];
  readonly stop_reason: string;
  readonly usage: Readonly<Record<string, number>> & { readonly iterations?: readonly JsonRecord[] };
}

/** Sends a message over real HTTP and waits for the answer. A refusal fails the test. */
export async function send(
  simulator: Simulator,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<MessageBody> {
  const response = await fetch(`${simulator.url}/v1/messages`, {
    method: "POST",
    headers: { ...HEADERS, ...headers },
    body: JSON.stringify(body),
  });
  const json = await response.json();
  if (response.status !== 200) throw new Error(`${response.status}: ${JSON.stringify(json)}`);
  return json as MessageBody;
}

/** Sends a message that must be refused. */
export async function refused(
  simulator: Simulator,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<ErrorBody["error"] & { readonly status: number }> {
  const response = await fetch(`${simulator.url}/v1/messages`, {
    method: "POST",
    headers: { ...HEADERS, ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, ...((await response.json()) as ErrorBody).error };
}

/** Creates a user message with the result of each call in the answer. */
export function resultsFor(message: MessageBody, content = "ok"): object {
  const calls = message.content.filter(({ type }) => type === "tool_use");
  return {
    role: "user",
    content: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content })),
  };
}

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

export const user = (content: unknown): Said => ({ role: "user", content });
export const assistant = (content: unknown): Said => ({ role: "assistant", content });

interface Said {
  readonly role: string;
  readonly content: unknown;
}

export const BODY: { model: string; max_tokens: number; messages: readonly Said[] } = {
  model: "claude-opus-5",
  max_tokens: 1_000,
  messages: [user("hello")],
};

/** Text that is long enough to be cached. */
export const LONG: string = "The harbour opens at six and closes when the last boat is in. ".repeat(100);

export const TOOLS: readonly object[] = [
  { name: "Read", input_schema: { type: "object", properties: { path: { type: "string" } } } },
];

export const readCall: Turn = { blocks: [{ type: "tool_use", name: "Read", input: { path: "a.ts" } }] };
