import type { JsonRecord } from "../../../../core/src/messages/untrusted.ts";
import type { Simulator } from "../../simulator.ts";
import type { Completion } from "./completion.ts";

export const HEADERS = { authorization: "Bearer any", "content-type": "application/json" } as const;

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly body: JsonRecord;
}

/** Sends a body to chat completions over real HTTP. */
export async function post(
  simulator: Simulator,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  path = "/chat/completions",
): Promise<Received> {
  const response = await fetch(`${simulator.openAiUrl}${path}`, {
    method: "POST",
    headers: { ...HEADERS, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as JsonRecord };
}

/** Sends a body that must be answered. */
export async function complete(simulator: Simulator, body: object): Promise<Completion> {
  const { status, body: answer } = await post(simulator, body);
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(answer)}`);
  return answer as unknown as Completion;
}

/** Sends a body that must be refused. Returns its status and its error. */
export async function refused(
  simulator: Simulator,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<JsonRecord> {
  const { status, body: answer } = await post(simulator, body, headers);
  return { status, ...(answer.error as JsonRecord) };
}

/** Sends a streamed request. Returns the data of all events, with the last one as text. */
export async function chunksOf(simulator: Simulator, body: object): Promise<readonly unknown[]> {
  const response = await fetch(`${simulator.openAiUrl}/chat/completions`, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify({ ...body, stream: true }),
  });
  const events = (await response.text()).split("\n\n").filter((event) => event !== "");
  return events.map((event) => {
    const data = event.replace(/^data: /, "");
    return data === "[DONE]" ? data : (JSON.parse(data) as unknown);
  });
}

export const user = (content: unknown): JsonRecord => ({ role: "user", content });

export const BODY: { readonly model: string; readonly messages: readonly JsonRecord[] } = {
  model: "gpt-4.1",
  messages: [user("Hello.")],
};

/** Text of about 1,400 tokens, long enough to be cached. */
export const LONG: string = "The harbour opens at six and closes when the last boat is in. ".repeat(100);

export const TOOL: JsonRecord = {
  type: "function",
  function: {
    name: "read_file",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
};
