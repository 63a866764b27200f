import { TimeLimitError, withTimeLimit } from "../../../index.ts";
import { readAddress } from "./address.ts";
import { type Download, type DownloadOptions, download, PrivateAddressError } from "./download.ts";
import { pageText } from "./page-text.ts";

export type Fetched =
  | { readonly kind: "page"; readonly address: string; readonly text: string; readonly isCut: boolean }
  /** To another host, or to what may not be fetched. */
  | { readonly kind: "redirect"; readonly to: string }
  /** The name is public, the address behind it is not. */
  | { readonly kind: "private"; readonly address: string }
  | { readonly kind: "failed" /** For the model. */; readonly why: string; readonly summary: string };

export interface FetchOptions extends DownloadOptions {
  readonly timeoutMs: number;
}

/** On one host; more is a circle. */
const MOST_REDIRECTS = 5;
/** What a server says about an error, as far as it helps. */
const ERROR_CHARS = 2_000;

/** Rejects only when the caller's signal fires. */
export async function fetchPage(url: URL, options: FetchOptions): Promise<Fetched> {
  let end: AbortSignal | undefined;
  try {
    return await withTimeLimit(options.signal, options.timeoutMs, (signal) => {
      end = signal;
      return follow(url, { ...options, signal });
    });
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof PrivateAddressError) return { kind: "private", address: error.address };
    // What is read when the time is over fails in a way of its own.
    if (end?.reason instanceof TimeLimitError) return failed(`${end.reason.message}.`, "timed out");
    return failed(`${wordsOf(error)}.`, "not reached");
  }
}

async function follow(start: URL, options: DownloadOptions): Promise<Fetched> {
  let at = start;
  for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
    const got = await download(at, options);
    if (got.kind === "body") return await pageOf(at, got, options.signal);
    const to = URL.canParse(got.to, at.href) ? new URL(got.to, at.href).href : undefined;
    if (to === undefined) return failed("it sends to something that is no address.", "no address");
    const next = readAddress(to, options.network);
    if ("wrong" in next || next.url.host !== at.host) return { kind: "redirect", to };
    at = next.url;
  }
  return failed(`it sends from one page to the next, more than ${MOST_REDIRECTS} times.`, "runs in a circle");
}

async function pageOf(
  url: URL,
  { status, type, bytes, isCut }: Extract<Download, { readonly kind: "body" }>,
  signal: AbortSignal,
): Promise<Fetched> {
  const page = await pageText({ type, bytes }, signal);
  const text = page?.text;
  if (status < 200 || status > 299) {
    const said =
      text === undefined || text === "" ? "" : ` It says:\n${text.slice(0, ERROR_CHARS).toWellFormed()}`;
    return failed(`the server answered with status ${status}.${said}`, `status ${status}`);
  }
  if (text === undefined)
    return failed(
      `it is no text (${type.slice(0, 80) || "of no known type"}, ${bytes.length} bytes).`,
      "no text",
    );
  if (text === "") return failed("there is no text on it.", "empty");
  return { kind: "page", address: url.href, text, isCut: isCut || page?.isCut === true };
}

const failed = (why: string, summary: string): Fetched => ({ kind: "failed", why, summary });

/** When both kinds of addresses were tried, the message is empty and the code says it. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return error.message || code || error.name;
}
