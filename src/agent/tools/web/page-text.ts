import { type HtmlText, htmlText } from "./html-text.ts";
import { withoutHidden } from "./without-hidden.ts";

export interface Page {
  /** The content type that the server declares, such as `text/html; charset=utf-8`. Can be empty or wrong. */
  readonly type: string;
  readonly bytes: Buffer;
}

const TEXT_TYPES =
  /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|toml|javascript|x-javascript|x-ndjson|x-sh|sql|rtf|graphql)$|image\/svg\+xml$)/;
const HTML_TYPES = /^(?:text\/html|application\/xhtml\+xml)$/;
/** Bytes. Browsers look for the declared charset in the first 1,024. */
const HEAD_BYTES = 2_048;
/** Characters. Binary data is unreadable from the start. */
const SAMPLE_CHARS = 100_000;
/** The share of a sample that has no meaning as text. A page in a wrong charset that is still readable stays below. */
const MAX_UNREADABLE_SHARE = 0.2;
const UNREADABLE = /(?![\n\r\t\f])[\p{Cc}\ufffd]/gu;

/** The text that a page shows, without hidden characters. Undefined if it is not text. */
export async function pageText({ type, bytes }: Page, signal: AbortSignal): Promise<HtmlText | undefined> {
  const name = type.split(";", 1).join("").trim().toLowerCase();
  const mayBeText = name === "" || name === "application/octet-stream" || TEXT_TYPES.test(name);
  if (!mayBeText) return undefined;
  const text = decoded(bytes, charsetOf(type, bytes));
  if (isBinary(text)) return undefined;
  const isHtml = HTML_TYPES.test(name) || (name === "" && /^\s*<(?:!doctype html|html)\b/i.test(text));
  if (!isHtml) return { text: withoutHidden(text).trim(), isCut: false };
  const shown = await htmlText(text, signal);
  return { ...shown, text: withoutHidden(shown.text).trim() };
}

function isBinary(text: string): boolean {
  if (text.includes("\0")) return true;
  const sample = text.slice(0, SAMPLE_CHARS);
  return (sample.match(UNREADABLE)?.length ?? 0) > sample.length * MAX_UNREADABLE_SHARE;
}

/** A byte order mark wins over the header, and the header over the page. */
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
    // The charset is unknown.
    return new TextDecoder().decode(bytes);
  }
}
