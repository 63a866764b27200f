import type { IncomingMessage } from "node:http";
import { isNestedTooDeep, MAX_NESTED_LEVELS } from "@longhaul/core/internal/messages";
import { keptHeaders, type RecordedRequest } from "./exchange-record.ts";
import type { KeyRemover } from "./secrets.ts";

/** Path and parameters of a request. An unreadable address, such as `//`, becomes the path `/`. */
function addressOf({ url = "/" }: IncomingMessage): URL {
  const base = "http://localhost";
  return new URL(URL.canParse(url, base) ? url : "/", base);
}

/** Limit for a body. The largest body that a provider accepts has 32 MB (Anthropic) or 50 MB (OpenAI). */
export const MAX_BODY_BYTES = 64_000_000;

/** Describes a request without keys, in the form of a recording. */
export function recordedRequest(
  request: IncomingMessage,
  content: Buffer,
  remover: KeyRemover,
): RecordedRequest {
  const { pathname, searchParams } = addressOf(request);
  return {
    method: request.method ?? "GET",
    path: remover.clean(pathname),
    query: remover.cleanQuery(searchParams),
    headers: keptHeaders(request.headers),
    ...(content.length > 0 && bodyOf(remover.clean(content.toString()))),
  };
}

/** Levels of a line of a recording above the body: the line, its request and the field. */
const LEVELS_ABOVE_BODY = 3;

function bodyOf(text: string): Pick<RecordedRequest, "json" | "text"> {
  try {
    const json: unknown = JSON.parse(text);
    return isNestedTooDeep(json, MAX_NESTED_LEVELS - LEVELS_ABOVE_BODY) ? { text } : { json };
  } catch {
    return { text };
  }
}
