import type { IncomingHttpHeaders } from "node:http";
import { JournalError } from "./journal-error.ts";

/** Names of this machine in the header `host`. */
const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];

const REMEDY =
  "Call the journal from a program on this machine, at http://127.0.0.1 with the simulator's port.";

/**
 * Refuses requests that a web page of another site may have caused. The server listens only on this machine,
 * but a browser on this machine visits pages of others. Such a page can point a name of its own at
 * 127.0.0.1, so the name must be one of this machine.
 */
export function refuseStrangers(headers: IncomingHttpHeaders): void {
  const { host = "", origin } = headers;
  const base = `http://${host}`;
  const name = URL.canParse(base) ? new URL(base).hostname : "";
  if (!LOOPBACK_NAMES.includes(name))
    throw new JournalError(403, "The header host names another machine.", REMEDY);
  const site = headers["sec-fetch-site"];
  const isForeignPage = origin !== undefined && origin !== base;
  if (isForeignPage || site === "cross-site" || site === "same-site")
    throw new JournalError(403, "The request comes from a web page of another origin.", REMEDY);
}
