import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import type { HtmlToTextOptions } from "html-to-text";
import { withTimeLimit } from "../../../index.ts";

/** Characters of markup, and of the text made from it. Nested lists and quotes can make text far longer than markup. */
const MAX_HTML_CHARS = 2_000_000;
/** An honest page of two million characters takes two seconds. */
const TIME_LIMIT_MS = 10_000;
const MEMORY_LIMIT_MB = 512;

const as = (format: string, selectors: readonly string[], options = {}) =>
  selectors.map((selector) => ({ selector, format, options }));

/** Not its tables: a cell that says it spans a billion columns would end the whole process. */
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

/** Loaded there and nowhere else, by where it is from here. */
const WORK = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { convert } = require(workerData.module);
  parentPort.postMessage(convert(workerData.html, workerData.options).slice(0, workerData.maxChars));
`;

export interface HtmlText {
  readonly text: string;
  /** Part of the page is missing. */
  readonly isCut: boolean;
}

/**
 * Converts a page in a thread that can be ended, because some pages of a few kilobytes take the parser minutes. The
 * fallback for those removes only the tags.
 */
export async function htmlText(
  html: string,
  signal: AbortSignal,
  timeLimitMs: number = TIME_LIMIT_MS,
): Promise<HtmlText> {
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

/** Undefined where it fails, or is not done when the signal fires. */
async function convertInThread(html: string, signal: AbortSignal): Promise<string | undefined> {
  const module = createRequire(import.meta.url).resolve("html-to-text");
  const worker = new Worker(WORK, {
    eval: true,
    execArgv: [],
    // Its warnings are not for the terminal.
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

/** By hand and in one go: an expression could be made to look at the rest of the page from every bracket on. */
export const withoutTags = (html: string): string =>
  html
    .split("<")
    .map((part, index) => (index === 0 ? part : part.slice(part.indexOf(">") + 1)))
    .join(" ")
    .replace(/[ \t]{2,}/g, " ");
