import { withoutHidden } from "./without-hidden.ts";

/** A failure that this tool found, in words for the model: what happened and what to do. */
export class FetchFailure extends Error {
  /** A few words for people. */
  readonly summary: string;

  constructor(message: string, summary: string) {
    super(message);
    this.summary = summary;
  }
}

/** Characters. Node quotes certificates in its messages, and a server chooses what its certificate says. */
const MAX_FOREIGN_CHARS = 200;
const OTHER_SOURCE = "Use another source.";

interface KnownFailure {
  readonly code: RegExp;
  readonly words: string;
  readonly summary: string;
}

const KNOWN: readonly KnownFailure[] = [
  {
    code: /^ENOTFOUND$/,
    words: "The host name has no address. Check its spelling.",
    summary: "no such host",
  },
  {
    code: /^EAI_/,
    words: "The host name could not be looked up. Check the network connection, then try again.",
    summary: "no such host",
  },
  {
    code: /^ECONNREFUSED$/,
    words: "Nothing listens on that host and port. Check both.",
    summary: "not reached",
  },
  {
    code: /^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/,
    words: `This machine cannot reach the host. ${OTHER_SOURCE}`,
    summary: "not reached",
  },
  {
    code: /^(?:ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/,
    words:
      "The server closed the connection before the page was complete. Try again once, then use another source.",
    summary: "incomplete",
  },
  {
    code: /^HPE_HEADER_OVERFLOW$/,
    words: `The server sent more than 16 KB of headers. ${OTHER_SOURCE}`,
    summary: "endless",
  },
  {
    code: /^HPE_/,
    words: `The server did not send a valid HTTP response. ${OTHER_SOURCE}`,
    summary: "no valid HTTP",
  },
  {
    code: /^(?:EPROTO|ERR_SSL_)/,
    words: "The server does not speak HTTPS on this port. Check the port.",
    summary: "no HTTPS",
  },
  {
    code: /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME/,
    words: `The certificate of the server is not valid for this host. ${OTHER_SOURCE}`,
    summary: "bad certificate",
  },
  {
    code: /^(?:Z_|ERR__ERROR_|ERR_BROTLI)/,
    words: `The compressed page is damaged or incomplete. ${OTHER_SOURCE}`,
    summary: "incomplete",
  },
];

/** Node's errors in words for the model. Quotes nothing that a server wrote, apart from a short unknown message. */
export function connectionFailure(error: unknown): FetchFailure {
  if (error instanceof FetchFailure) return error;
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  const known = KNOWN.find((failure) => failure.code.test(code));
  if (known !== undefined) return new FetchFailure(`${known.words} (${code})`, known.summary);
  const foreign = error instanceof Error ? error.message || code || error.name : String(error);
  const words = withoutHidden(foreign).replace(/\s+/g, " ").slice(0, MAX_FOREIGN_CHARS).toWellFormed();
  return new FetchFailure(`The connection failed: ${words}. ${OTHER_SOURCE}`, "not reached");
}
