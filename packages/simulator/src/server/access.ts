import type { IncomingHttpHeaders } from "node:http";

/** Names of this machine in the header `host`. */
const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];

/**
 * Recognizes requests that a web page of another site may have caused. The server listens only on this
 * machine, but a browser on this machine visits pages of others. Such a page can point a name of its own at
 * 127.0.0.1, so the name must be one of this machine. Returns the reason for a refusal.
 */
export function strangerIn(headers: IncomingHttpHeaders): string | undefined {
  const { host = "", origin } = headers;
  const base = `http://${host}`;
  const name = URL.canParse(base) ? new URL(base).hostname : "";
  if (!LOOPBACK_NAMES.includes(name)) return "The header host names another machine.";
  const site = headers["sec-fetch-site"];
  const isForeignPage = origin !== undefined && origin !== base;
  return isForeignPage || site === "cross-site" || site === "same-site"
    ? "The request comes from a web page of another origin."
    : undefined;
}
