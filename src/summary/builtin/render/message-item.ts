import { headOf } from "../../../conversation/text.ts";
import { clip, fenced, headAndTail, oneLine, quoted } from "../clip.ts";

/** One message of a person as a list item: written here, and read back when a summary is summarised. */

export const AFTER_INTERRUPTION = "(after interrupting the assistant) ";
const SHORTENED_CHARS: readonly number[] = [2_400, 1_000, 400, 160];

/** Verbatim first, then by head and tail. */
export function messageForms(text: string, prefix = ""): string[] {
  const shorter = SHORTENED_CHARS.filter((chars) => chars < text.length);
  return [
    messageItem(text, prefix),
    ...shorter.map((chars) =>
      chars > 400
        ? messageItem(headAndTail(text, chars), prefix)
        : messageItem(clip(oneLine(headOf(text, 4 * chars)), chars), prefix),
    ),
  ];
}

/** One line stands in quotes; more stand untouched in a fence, so that they can be found again byte by byte. */
function messageItem(text: string, prefix = ""): string {
  const trimmed = text.trim();
  if (!trimmed.includes("\n") && !trimmed.includes("\r"))
    return `- ${prefix}${/^["“]/.test(trimmed) ? trimmed : quoted(trimmed)}`;
  return `- ${prefix}(${trimmed.split("\n").length} lines)\n${fenced(trimmed, "text")}`;
}

/** The message inside a list item, whether we wrote the list or a model did. */
export function parseMessageItem(item: string): string {
  const body = item
    .replace(/^(?:[-*•]|\d{1,3}[.)])\s+/, "")
    .replace(AFTER_INTERRUPTION, "")
    .replace(/^\(\d+ lines\)\n/, "")
    .replace(/^\*\*[^*\n]{1,40}\*\*:?\s+(?=["“])/, "");
  const inFence = /^(`{3,})text\n([\s\S]*)\n\1$/.exec(body)?.[2];
  if (inFence !== undefined) return inFence;
  const line = body.trim();
  const inQuotes = /^["“]([\s\S]*)["”]$/.exec(line)?.[1];
  return inQuotes ?? line;
}
