import type { IncomingMessage } from "node:http";
import { isNestedTooDeep, MAX_NESTED_LEVELS } from "@longhaul/core/internal/messages";
import { BodyProblem, TooLargeForTheNetwork } from "../server/body.ts";
import { keptHeaders, type RecordedRequest } from "./exchange-record.ts";
import { KeyRemover } from "./secrets.ts";

/** Path and parameters of a request. An unreadable address, such as `//`, becomes the path `/`. */
function addressOf({ url = "/" }: IncomingMessage): URL {
  const base = "http://localhost";
  return new URL(URL.canParse(url, base) ? url : "/", base);
}

/** Creates the remover for the keys of a request. */
export const keyRemoverFor = (request: IncomingMessage): KeyRemover =>
  new KeyRemover(request.headers, addressOf(request).searchParams);

/** Limit for a body. The largest body that a provider accepts has 32 MB (Anthropic) or 50 MB (OpenAI). */
export const MAX_BODY_BYTES = 64_000_000;

/** Explains why a body is not readable, and what to do. */
export function bodyFault(error: unknown): string {
  if (error instanceof TooLargeForTheNetwork) return `it has more than ${MAX_BODY_BYTES} bytes.`;
  if (!(error instanceof BodyProblem)) return `${(error as Error).message}.`;
  const { problem } = error;
  if (problem.kind === "encoding-unsupported")
    return `its content encoding "${problem.encoding}" is unknown. Send it without compression, or with gzip, deflate or br.`;
  if (problem.kind === "encoding-invalid") return `it is not valid ${problem.encoding}.`;
  return `it has more than ${MAX_BODY_BYTES} bytes without compression.`;
}

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
    headers: remover.cleanHeaders(keptHeaders(request.headers)),
    ...(content.length > 0 && bodyOf(content.toString(), remover)),
  };
}

/** Levels of a line of a recording above the body: the line, its request and the field. */
const LEVELS_ABOVE_BODY = 3;

function bodyOf(text: string, remover: KeyRemover): Pick<RecordedRequest, "json" | "text"> {
  try {
    const json: unknown = JSON.parse(text);
    if (!isNestedTooDeep(json, MAX_NESTED_LEVELS - LEVELS_ABOVE_BODY))
      // Writing the JSON anew resolves escapes in which a key could hide.
      return { json: JSON.parse(remover.clean(JSON.stringify(json))) };
  } catch {
    // The body is not JSON.
  }
  return { text: remover.clean(text) };
}
