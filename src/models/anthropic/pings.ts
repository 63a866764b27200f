/** As the SDK's middleware is called; by structure, like the client. */
export type Middleware = <Request>(
  request: Request,
  next: (request: Request) => Promise<Response>,
) => Promise<Response>;

/**
 * The SDK swallows the `ping` events by which the API shows that it is alive while a model thinks in
 * silence. Under another name it hands them on: their data still says what they are.
 */
export const showPings: Middleware = async (request, next) => {
  const response = await next(request);
  const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
  if (!response.ok || !isStream || response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(renamePings()), { status, statusText, headers });
};

/** Works on whole lines; what follows the last line break waits, as it does in the SDK's own parser. */
function renamePings(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";
  const send = (text: string, controller: TransformStreamDefaultController<Uint8Array>): void => {
    if (text !== "")
      controller.enqueue(encoder.encode(text.replace(/^event: ?ping(?=\r?$)/gm, "event: alive")));
  };
  return new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      const text = rest + decoder.decode(chunk, { stream: true });
      const cut = text.lastIndexOf("\n") + 1;
      rest = text.slice(cut);
      send(text.slice(0, cut), controller);
    },
    flush: (controller) => send(rest + decoder.decode(), controller),
  });
}
