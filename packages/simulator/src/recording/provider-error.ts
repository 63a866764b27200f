import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Sends an error in the format of the provider. The path tells the provider, or the header that all clients of
 * Anthropic send. The answer tells the client not to retry.
 */
export function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  { status, code, message }: { readonly status: number; readonly code: string; readonly message: string },
): void {
  const { url = "", headers } = request;
  const isForAnthropic = headers["anthropic-version"] !== undefined || url.startsWith("/v1/messages");
  const body = isForAnthropic
    ? { type: "error", error: { type: code, message }, request_id: null }
    : { error: { message, type: code, param: null, code } };
  response.writeHead(status, { "content-type": "application/json", "x-should-retry": "false" });
  response.end(JSON.stringify(body));
}
