import { TimeLimitError, withTimeLimit } from "../../../index.ts";
import { type Download, type DownloadOptions, download, PrivateAddressError } from "./download.ts";
import { connectionFailure } from "./fetch-failure.ts";
import { pageText } from "./page-text.ts";
import { type OtherAddress, readRedirect } from "./redirect.ts";

export type Fetched =
  | { readonly kind: "page"; readonly address: string; readonly text: string; readonly isCut: boolean }
  | OtherAddress
  /** The name is public, but its address is private. */
  | { readonly kind: "private"; readonly address: string }
  | {
      readonly kind: "failed";
      /** For the model: what happened and what to do. */
      readonly why: string;
      readonly summary: string;
      /** The beginning of the error page, written by the server. */
      readonly said?: string;
    };

export interface FetchOptions extends DownloadOptions {
  readonly timeoutMs: number;
}

/** Redirects on one host. Browsers allow 20, but an honest site needs two or three. */
const MAX_REDIRECTS = 5;
/** Characters of an error page. Its first lines say what is wrong. */
const MAX_ERROR_CHARS = 2_000;

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
    // The end of the time limit breaks whatever was running, with an error of its own.
    if (end?.reason instanceof TimeLimitError)
      return failed(
        `The page was not complete after ${options.timeoutMs / 1_000} seconds. Try again once, then use another source.`,
        "timed out",
      );
    const { message, summary } = connectionFailure(error);
    return failed(message, summary);
  }
}

async function follow(start: URL, options: DownloadOptions): Promise<Fetched> {
  let at = start;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const got = await download(at, options);
    if (got.kind === "body") return await pageOf(at, got, options.signal);
    const next = readRedirect(at, got.to, options.network);
    if ("wrong" in next)
      return failed(
        `It redirects to an address that cannot be fetched. ${next.wrong} Use another source.`,
        "bad redirect",
      );
    if (next.kind === "redirect") return next;
    at = next.url;
  }
  return failed(
    `It redirects more than ${MAX_REDIRECTS} times without reaching a page. Use another address.`,
    "too many redirects",
  );
}

async function pageOf(
  url: URL,
  { status, type, bytes, isCut }: Extract<Download, { readonly kind: "body" }>,
  signal: AbortSignal,
): Promise<Fetched> {
  const page = await pageText({ type, bytes }, signal);
  if (status < 200 || status > 299) {
    const said = page?.text.slice(0, MAX_ERROR_CHARS).toWellFormed() ?? "";
    return {
      ...failed(
        `The server answered with status ${status}. Check the address or use another source.`,
        `status ${status}`,
      ),
      ...(said === "" ? {} : { said }),
    };
  }
  if (page === undefined)
    return failed(
      `It is not readable text (${typeName(type)}, ${bytes.length} bytes). Use another source.`,
      "no text",
    );
  if (page.text === "") return failed("The page has no text. Use another address.", "empty");
  return { kind: "page", address: url.href, text: page.text, isCut: isCut || page.isCut };
}

type Failed = Extract<Fetched, { readonly kind: "failed" }>;
const failed = (why: string, summary: string): Failed => ({ kind: "failed", why, summary });

/** The header is the server's text. Show only the part that has the form of a type. */
const typeName = (type: string): string =>
  /^[\w.+-]{1,40}\/[\w.+-]{1,80}(?=$|[\s;])/.exec(type.trim())?.[0] ?? "unknown type";
