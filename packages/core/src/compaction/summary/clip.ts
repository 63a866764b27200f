import { headOf, tailOf } from "../../messages/text.ts";

/** Cuts that never split a character, and quoting that survives whatever is quoted. */

/** At most `maxChars`, ended by an ellipsis; cut at a space when one is near, for a whole last word. */
export function clip(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = headOf(text, maxChars - 1);
  const space = head.lastIndexOf(" ");
  const whole = space > maxChars * 0.8 ? head.slice(0, space) : head;
  return `${whole.trimEnd()}…`;
}

/**
 * Head and tail of a long text with a note on how much is missing between; about a third goes to the tail.
 * `noteOn` writes the note, given the number of missing characters.
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
  const missing = text.length - head.length - tail.length;
  const joint = text.includes("\n") ? "\n" : " ";
  return `${head}${joint}${noteOn(missing)}${joint}${tail}`;
}

const inTranscript = (missing: number): string =>
  `[… ${missing} characters left out here; they are in the transcript …]`;

export function oneLine(text: string): string {
  return text.includes("  ") || /[^\S ]/.test(text) ? text.replace(/\s+/g, " ").trim() : text.trim();
}

/** A code block whose fence is longer than any run of backticks inside it. */
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

/** Code within a line; it cannot end before its end. */
export function inlineCode(text: string): string {
  return `\`${text.replace(/`/g, "'")}\``;
}

/** An item of a list; one that is marked as such already stays as it is. */
export function bulleted(item: string): string {
  return /^[-*•]\s/.test(item) ? item : `- ${item}`;
}

/** Indented so that headings and list marks stay inside the item above. */
export function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

/** Without the indentation that all lines share. */
export function dedented(lines: readonly string[]): readonly string[] {
  const least = lines.reduce((low, line) => {
    return line.trim() === "" ? low : Math.min(low, line.length - line.trimStart().length);
  }, Number.POSITIVE_INFINITY);
  return least === 0 ? lines : lines.map((line) => line.slice(Math.min(least, line.length)));
}

/** Markdown of somebody else, kept apart from ours: no heading or fence in it can take effect outside. */
export function blockQuote(text: string): string {
  return text
    .replace(/\r/g, "")
    .split("\n")
    .map((line) => (line.trim() === "" ? ">" : `> ${line}`))
    .join("\n")
    .replace(/>(?:\n>$)+/gm, ">");
}

/** Shortens markdown at a line break; an open fence is closed again. */
export function clipMarkdown(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = headOf(text, maxChars);
  const lineEnd = head.lastIndexOf("\n");
  const lines = (lineEnd > maxChars / 3 ? head.slice(0, lineEnd) : head).split("\n");
  const fence = openFence(lines);
  if (fence === undefined) {
    const kept = lines.join("\n").trimEnd();
    // Behind a fence the ellipsis would make it one that opens, and not one that closes.
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

/** XML's entities as the characters they stand for. */
export function unescaped(text: string): string {
  return text
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, "&");
}
