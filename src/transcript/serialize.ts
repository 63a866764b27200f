import type { Entry } from "../conversation/entry.ts";

/** One line each. JSON.stringify escapes line breaks and half surrogate pairs, so a line is always one line. */
export function linesOf(entries: readonly Entry[]): string {
  let lines = "";
  for (const entry of entries) lines += `${JSON.stringify(entry)}\n`;
  return lines;
}
