import type { DirectiveStatus, Fact } from "../../conversation/fact-ledger.ts";
import { neededPieces } from "./forms.ts";
import { quotedLines } from "./section.ts";

const FIRST_LINE = /^\[(\S+) (active|done|cancelled|superseded)\] >(?: (.*))?$/s;
const NEXT_LINE = /^>(?: (.*))?$/s;

/**
 * What people said, as a summary quotes it, newest first: for a host that has nothing but its messages, in which no
 * boundary tells of it. Every line of it has a mark, so that it is read as it was written.
 */
export function quotedDirectives(summaryText: string): readonly Fact[] {
  const found: { readonly id: string; readonly status: DirectiveStatus; readonly words: string[] }[] = [];
  let isOpen = false;
  for (const line of quotedLines(summaryText)) {
    const first = FIRST_LINE.exec(line);
    const next: RegExpExecArray | null = isOpen ? NEXT_LINE.exec(line) : null;
    isOpen = first !== null || next !== null;
    const [, id = "", status, words = ""] = first ?? [];
    if (first !== null) found.push({ id, status: status as DirectiveStatus, words: [words] });
    else if (next !== null) found.at(-1)?.words.push(next[1] ?? "");
  }
  return found.map(({ id, status, words }) => directive(id, status, words.join("\n")));
}

function directive(id: string, status: DirectiveStatus, text: string): Fact {
  const needles = neededPieces(text, status === "active");
  return { id, kind: "directive", text, status, entryIds: [], ...(needles === undefined ? {} : { needles }) };
}
