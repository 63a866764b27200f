import { headOf, tailOf } from "../../messages/text.ts";

/** Cuts text without splitting a character, and quotes any text safely. */

/** Cuts a text to at most `maxChars` and adds an ellipsis. If a space is near, the cut is at the space. */
export function clip(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = headOf(text, maxChars - 1);
  const space = head.lastIndexOf(" ");
  const whole = space > maxChars * 0.8 ? head.slice(0, space) : head;
  return `${whole.trimEnd()}…`;
}

/**
 * Returns the head and the tail of a long text, with a note on the omission between them. The tail gets about
 * a third of the characters. `noteOn` writes the note from the number of missing characters.
 */
export function headAndTail(
  text: string,
  maxChars: number,
  noteOn: (missing: number) => string = inTranscript,
): string {
  if (text.length <= maxChars) return text;
  const tailChars = Math.floor(maxChars / 3);
  const head = headOf(text, maxChars - tailChars).trimEnd();
  const tail = tailOf(text, tailChars).trimStart();
  const missing = fullLength(text) - fullLength(head) - fullLength(tail);
  const joint = text.includes("\n") ? "\n" : " ";
  return `${head}${joint}${noteOn(missing)}${joint}${tail}`;
}

const inTranscript = (missing: number): string => `[… ${missing} characters left out: see the transcript …]`;
const OMISSION = /[ \n]?\[… (\d+) characters left out: see the transcript …\][ \n]?/g;

/** Returns the length of a text before it was cut. */
const fullLength = (text: string): number =>
  [...text.matchAll(OMISSION)].reduce(
    (length, [mark, missing]) => length - mark.length + Number(missing),
    text.length,
  );

/** Returns true if something was left out of the text. */
export const isCut = (text: string): boolean => text.search(OMISSION) !== -1;

export function oneLine(text: string): string {
  return text.includes("  ") || /[^\S ]/.test(text) ? text.replace(/\s+/g, " ").trim() : text.trim();
}

/** Returns a code block whose fence is longer than any run of backticks inside it. */
export function fenced(code: string, language = ""): string {
  let longest = 2;
  if (code.includes("```")) {
    for (const run of code.matchAll(/`{3,}/g)) longest = Math.max(longest, run[0].length);
  }
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${code.endsWith("\n") ? code.replace(/\n+$/, "") : code}\n${fence}`;
}

export function quoted(text: string): string {
  return `"${text}"`;
}

/** Returns inline code whose marks the text cannot close early. */
export function inlineCode(text: string): string {
  return `\`${text.replace(/`/g, "'")}\``;
}

/** Returns a list item. A text that already is a list item stays unchanged. */
export function bulleted(item: string): string {
  return /^[-*•]\s/.test(item) ? item : `- ${item}`;
}

/** Indents a text, so that its headings and list marks stay inside the list item above the text. */
export function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

/** Removes the indentation that all lines share. */
export function dedented(lines: readonly string[]): readonly string[] {
  const least = lines.reduce((low, line) => {
    return line.trim() === "" ? low : Math.min(low, line.length - line.trimStart().length);
  }, Number.POSITIVE_INFINITY);
  return least === 0 ? lines : lines.map((line) => line.slice(Math.min(least, line.length)));
}

/** Quotes foreign markdown, so that no heading or fence in it takes effect outside the quotation. */
export function blockQuote(text: string): string {
  return text
    .replace(/\r/g, "")
    .split("\n")
    .map((line) => (line.trim() === "" ? ">" : `> ${line}`))
    .join("\n")
    .replace(/>(?:\n>$)+/gm, ">");
}

/** Shortens markdown at a line break and closes an open fence. */
export function clipMarkdown(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = headOf(text, maxChars);
  const lineEnd = head.lastIndexOf("\n");
  const lines = (lineEnd > maxChars / 3 ? head.slice(0, lineEnd) : head).split("\n");
  const fence = openFence(lines);
  if (fence === undefined) {
    const kept = lines.join("\n").trimEnd();
    // An ellipsis on the line of a closing fence would turn that fence into an opening fence.
    return /(?:^|\n)\s*(?:`{3,}|~{3,})$/.test(kept) ? `${kept}\n…` : `${kept} …`;
  }
  return `${[...lines, "…", fence].join("\n")}`;
}

function openFence(lines: readonly string[]): string | undefined {
  let open: string | undefined;
  for (const line of lines) {
    const fence = /^(\s*)(`{3,}|~{3,})/.exec(line);
    if (!fence) continue;
    open = open === undefined ? `${fence[1]}${fence[2]}` : undefined;
  }
  return open;
}

/** Replaces XML entities with their characters. */
export function unescaped(text: string): string {
  return text
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, "&");
}
