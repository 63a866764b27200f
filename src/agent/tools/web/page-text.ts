import { htmlText } from "./html-text.ts";

export interface Page {
  /** As the server calls it, such as `text/html; charset=utf-8`; may be empty or wrong. */
  readonly type: string;
  readonly bytes: Buffer;
}

const TEXT_TYPES =
  /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|toml|javascript|x-javascript|x-ndjson|x-sh|sql|rtf|graphql)$|image\/svg\+xml$)/;
const HTML_TYPES = /^(?:text\/html|application\/xhtml\+xml)$/;
/** Where pages say how they are written. */
const HEAD_BYTES = 2_048;

/** Undefined where it is no text. */
export async function pageText({ type, bytes }: Page, signal: AbortSignal): Promise<string | undefined> {
  const name = type.split(";", 1).join("").trim().toLowerCase();
  const mayBeText = name === "" || name === "application/octet-stream" || TEXT_TYPES.test(name);
  if (!mayBeText) return undefined;
  const text = decoded(bytes, charsetOf(type, bytes));
  if (text.includes("\0")) return undefined;
  const isHtml = HTML_TYPES.test(name) || (name === "" && /^\s*<(?:!doctype html|html)\b/i.test(text));
  return isHtml ? await htmlText(text, signal) : text.trim();
}

/** The server's word goes before that of the page; a mark at the beginning before both. */
function charsetOf(type: string, bytes: Buffer): string {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  const head = bytes.subarray(0, HEAD_BYTES).toString("latin1");
  const [, said] =
    /charset\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]+)/i.exec(type) ??
    /<meta[^>]{0,200}charset\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]+)/i.exec(head) ??
    [];
  return said ?? "utf-8";
}

function decoded(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // A name that nobody knows.
    return new TextDecoder().decode(bytes);
  }
}
