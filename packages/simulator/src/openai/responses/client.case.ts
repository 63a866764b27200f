import type { JsonRecord } from "@longhaul/core/internal/messages";
import type { Simulator } from "../../simulator.ts";

const HEADERS = { authorization: "Bearer any", "content-type": "application/json" } as const;

export const MODEL = "gpt-5.4";

export interface ResponseBody extends JsonRecord {
  readonly id: string;
  readonly status: string;
  readonly output: readonly JsonRecord[];
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly total_tokens: number;
    readonly input_tokens_details: { readonly cached_tokens: number };
    readonly output_tokens_details: { readonly reasoning_tokens: number };
  };
}

interface Request {
  readonly method?: string;
  readonly body?: object;
  readonly key?: string;
}

/** Sends a request to a path after `/v1/` and returns the status and the parsed answer. */
export async function call(
  simulator: Simulator,
  path: string,
  { method = "GET", body, key = "any" }: Request = {},
): Promise<{ readonly status: number; readonly body: JsonRecord }> {
  const response = await fetch(`${simulator.openAiUrl}/${path}`, {
    method,
    headers: { ...HEADERS, authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as JsonRecord };
}

/** Asks for a response. A refusal fails the test. */
export async function respond(simulator: Simulator, fields: object): Promise<ResponseBody> {
  const { status, body } = await call(simulator, "responses", {
    method: "POST",
    body: { model: MODEL, ...fields },
  });
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body as unknown as ResponseBody;
}

export interface Refusal extends JsonRecord {
  readonly status: number;
  readonly message: string;
  readonly code: string | null;
}

/** Sends a request that must be refused. */
export async function refused(simulator: Simulator, path: string, request: Request): Promise<Refusal> {
  const { status, body } = await call(simulator, path, request);
  return { status, ...(body.error as object) } as Refusal;
}

/** Asks for a stream and returns its events. */
export async function eventsOf(simulator: Simulator, fields: object): Promise<readonly JsonRecord[]> {
  const response = await fetch(`${simulator.openAiUrl}/responses`, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify({ model: MODEL, stream: true, ...fields }),
  });
  return parseEvents(await response.text());
}

function parseEvents(text: string): readonly JsonRecord[] {
  return text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => {
      const [name = "", data = ""] = event.split("\n");
      const parsed = JSON.parse(data.slice("data: ".length)) as JsonRecord;
      if (name !== `event: ${String(parsed.type)}`) throw new Error(`The event ${name} has another type.`);
      return parsed;
    });
}
