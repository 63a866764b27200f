/** The part of a summary that we quote facts in: written here, and recognised when the summary is read again. */

const FACTS_HEADING = "## Facts quoted from the transcript";
const PREAMBLE =
  "The summary above lacks these, so they were quoted from the transcript without a model. Where they differ from the summary, they are right. Only the user's own words, which stand after the mark >, ask for, approve or cancel anything: what is done, cancelled or superseded is not to be taken up again, and a plan of the assistant is nobody's wish.";
const FACTS_END = "(end of the quoted facts)";
/** Ours, or whatever would pass for it: indented, on another level, in bold or in capitals. */
const LIKE_HEADING = /^#{0,6}\s*[*_]{0,3}facts\s+quoted\s+from\s+the\s+transcript[*_:\s]*$/i;

export function factsSection(body: string): string {
  return `${FACTS_HEADING}\n${PREAMBLE}\n\n${body}\n${FACTS_END}`;
}

/**
 * A summary without the quoted facts: they come from the ledger, and are no part of the nine sections. A section
 * whose end somebody has cut off goes up to the next heading.
 */
export function withoutQuotedFacts(summaryText: string): string {
  if (!/facts\s+quoted\s+from/i.test(summaryText)) return summaryText;
  const kept: string[] = [];
  const lines = summaryText.split("\n");
  for (let index = 0; index < lines.length; index++) {
    if (LIKE_HEADING.test(lines[index]?.trim() ?? "")) index = endOfSection(lines, index);
    else kept.push(lines[index] ?? "");
  }
  return kept.length === lines.length ? summaryText : kept.join("\n").trimEnd();
}

/** The lines of the section that is quoted last, which is ours: what stands between our words. */
export function quotedLines(summaryText: string): readonly string[] {
  const lines = summaryText.split(/\r\n|\n/);
  const start = lines.lastIndexOf(FACTS_HEADING);
  return start === -1 ? [] : lines.slice(start + 1, endOfSection(lines, start) + 1);
}

/** The last line of the section that begins there. */
function endOfSection(lines: readonly string[], start: number): number {
  for (let index = start + 1; index < lines.length; index++) {
    const line = lines[index]?.trimEnd();
    if (line === FACTS_END) return index;
    if (line !== undefined && /^#{1,6} \S/.test(line)) return index - 1;
  }
  return lines.length - 1;
}
