import type { Endpoint } from "./log.ts";

export interface Route {
  readonly endpoint: Endpoint;
  readonly methods: readonly string[];
  /** The last part of `/v1/models/{id}`. */
  readonly modelId?: string;
}

const MODELS_PATH = "/v1/models";

/** Undefined for a path that the API does not have. The query plays no part: SDKs add `?beta=true`. */
export function findRoute(path: string): Route | undefined {
  const plain = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  if (plain === "/v1/messages") return { endpoint: "messages", methods: ["POST"] };
  if (plain === "/v1/messages/count_tokens") return { endpoint: "count_tokens", methods: ["POST"] };
  if (plain === MODELS_PATH) return { endpoint: "models", methods: ["GET", "HEAD"] };
  if (!plain.startsWith(`${MODELS_PATH}/`)) return undefined;
  const modelId = safelyDecoded(plain.slice(MODELS_PATH.length + 1));
  return modelId.includes("/") ? undefined : { endpoint: "models", methods: ["GET", "HEAD"], modelId };
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
