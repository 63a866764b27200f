import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { withTimeLimit } from "@longhaul/core/models";
import type { HtmlToTextOptions } from "html-to-text";

const TEXT_TYPES =
  /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|toml|javascript|x-javascript|x-ndjson|x-sh|sql|rtf|graphql)$|image\/svg\+xml$)/;
const HTML_TYPES = /^(?:text\/html|application\/xhtml\+xml)$/;
/** Number of bytes in which to look for the charset. Browsers look in the first 1,024. */
const HEAD_BYTES = 2_048;
/**
 * Number of characters at the start that are checked for binary data. Binary data is unreadable from the
 * start.
 */
const SAMPLE_CHARS = 100_000;
/**
 * Maximum share of a sample that is meaningless as text. A page in a wrong but readable charset stays below
 * this share.
 */
const MAX_UNREADABLE_SHARE = 0.2;
const UNREADABLE = /(?![\n\r\t\f])[\p{Cc}\ufffd]/gu;

interface PageText {
  readonly text: string;
  readonly isCut: boolean;
}

/**
 * Extracts the visible text of a page. Returns undefined if it is not text. `type` is the type that the
 * server declares, such as `text/html; charset=utf-8`. It can be empty or wrong.
 */
export async function pageText(
  { type, bytes }: { readonly type: string; readonly bytes: Buffer },
  signal: AbortSignal,
): Promise<PageText | undefined> {
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

/** Returns the charset. A byte order mark wins over the header, and the header over the page. */
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

/**
 * Maximum characters of markup, and of the text made from it. Nested lists and quotes can make text far
 * longer than markup.
 */
const MAX_HTML_CHARS = 2_000_000;
/** Time limit for the conversion of a page. An honest page of two million characters takes two seconds. */
const TIME_LIMIT_MS = 10_000;
const MEMORY_LIMIT_MB = 512;

const as = (format: string, selectors: readonly string[], options = {}) =>
  selectors.map((selector) => ({ selector, format, options }));

/** Options without tables: a cell that claims to span a billion columns would crash the process. */
const OPTIONS: HtmlToTextOptions = {
  wordwrap: false,
  limits: { maxInputLength: MAX_HTML_CHARS, maxDepth: 200 },
  selectors: [
    ...as("skip", ["img", "svg", "template", "iframe", "canvas", "video", "audio"]),
    ...as("heading", ["h1", "h2", "h3", "h4", "h5", "h6"], { uppercase: false }),
    ...as("block", ["table"]),
    ...as("block", ["tr"], { leadingLineBreaks: 1, trailingLineBreaks: 1 }),
    ...as("inlineSurround", ["td", "th"], { prefix: "", suffix: " | " }),
    ...as("inline", ["td>p", "td>div", "th>p", "th>div"]),
    ...as("unorderedList", ["ul"], { itemPrefix: "- " }),
    ...as("anchor", ["a"], { hideLinkHrefIfSameAsText: true, noAnchorUrl: true }),
  ],
};

/** Code of the worker. It loads the parser from a path that this file resolves. */
const WORK = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { convert } = require(workerData.module);
  parentPort.postMessage(convert(workerData.html, workerData.options).slice(0, workerData.maxChars));
`;

/**
 * Converts a page in a worker thread. The thread can be stopped, because the parser needs minutes for some
 * pages of a few kilobytes. For such pages, the fallback only removes the tags.
 */
export async function htmlText(
  html: string,
  signal: AbortSignal,
  timeLimitMs: number = TIME_LIMIT_MS,
): Promise<PageText> {
  const head = html.slice(0, MAX_HTML_CHARS).toWellFormed();
  const text = await withTimeLimit(signal, timeLimitMs, (end) => convertInThread(head, end));
  signal.throwIfAborted();
  const lines = (text ?? withoutTags(head)).split("\n").map((line) => line.trimEnd());
  return {
    text: lines
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim(),
    isCut: html.length > MAX_HTML_CHARS || text?.length === MAX_HTML_CHARS,
  };
}

/** Converts HTML in a thread. Returns undefined if that fails or the signal fires first. */
async function convertInThread(html: string, signal: AbortSignal): Promise<string | undefined> {
  const module = createRequire(import.meta.url).resolve("html-to-text");
  const worker = new Worker(WORK, {
    eval: true,
    execArgv: [],
    // Keeps the worker's warnings off the terminal.
    stdout: true,
    stderr: true,
    workerData: { module, html, options: OPTIONS, maxChars: MAX_HTML_CHARS },
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB },
  });
  try {
    return await new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve(undefined), { once: true });
      worker.on("message", (text) => resolve(typeof text === "string" ? text : undefined));
      worker.on("error", () => resolve(undefined));
      worker.on("exit", () => resolve(undefined));
    });
  } finally {
    await worker.terminate();
  }
}

/**
 * Removes tags in one manual pass. A hostile page could make a regular expression scan the remaining text
 * again at every bracket.
 */
export const withoutTags = (html: string): string =>
  html
    .split("<")
    .map((part, index) => (index === 0 ? part : part.slice(part.indexOf(">") + 1)))
    .join(" ")
    .replace(/[ \t]{2,}/g, " ");

const LINE_ENDS = /\r\n?|[\u2028\u2029]/g;
/**
 * Characters that a terminal interprets or that are invisible: escape sequences, bidirectional marks, and
 * invisible letters that carry hidden instructions to models. Joiners and emoji selectors are kept, because
 * they belong to visible characters.
 */
const HIDDEN = /(?!\n|\t|\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Default_Ignorable_Code_Point}]/gu;

/** Removes hidden characters from a server's text. The visible text stays the same. */
export const withoutHidden = (text: string): string =>
  text.replace(LINE_ENDS, "\n").replace(HIDDEN, "").toWellFormed();
