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

/** Status with which codex and other clients use HTTP in place of a WebSocket at once (RFC 9110, section 15.5.22). */
export const UPGRADE_REQUIRED = 426;

/** Refuses a request for a WebSocket. Returns false for any other request. */
export function refusesUpgrade(request: IncomingMessage, response: ServerResponse): boolean {
  if (request.headers.upgrade === undefined) return false;
  const message = "WebSockets are neither recorded nor replayed. Use HTTP.";
  sendError(request, response, { status: UPGRADE_REQUIRED, code: "invalid_request_error", message });
  return true;
}
