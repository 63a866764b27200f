import { type Entry, isCompactBoundary, isSummaryEntry, rawContent } from "../conversation/entry.ts";
import { contentText, stringField } from "../conversation/untrusted.ts";

/**
 * Which of the lines after a boundary were written for its compaction: the summary, messages that were written again
 * to be kept, what was put back, what hooks said. Lines of ours name their boundary. With other agents it is what
 * follows the summary, as far as nobody has said anything.
 */
export function isOfCompaction(after: readonly Entry[], boundary: Entry): (line: Entry) => boolean {
  const isNamed = (line: Entry): boolean => stringField(line, "writtenWith") === boundary.uuid;
  // A boundary that a host's change wrote again no longer names its last line.
  if (namesItsLines(boundary) || after.some(isNamed))
    return (line) => line.uuid === boundary.uuid || isNamed(line);
  const firstSaid = after.findIndex(isSaid);
  const beginning = new Set(after.slice(0, firstSaid === -1 ? undefined : firstSaid).map(({ uuid }) => uuid));
  return ({ uuid }) => beginning.has(uuid);
}

const namesItsLines = (boundary: Entry): boolean =>
  isCompactBoundary(boundary) && stringField(boundary.compactMetadata?.longhaul, "endsWith") !== undefined;

/** What a person types to have it compacted, and what is answered on the screen. */
const COMPACT_COMMAND = /^\s*<(?:command-name>\/compact\b|command-message>compact\b|local-command-)/;

function isSaid(line: Entry): boolean {
  if (line.type !== "user" && line.type !== "assistant") return false;
  if (isSummaryEntry(line) || line.isMeta === true) return false;
  return line.type === "assistant" || !COMPACT_COMMAND.test(contentText(rawContent(line)));
}
