import { plural } from "./numbers.ts";
import { oneLine } from "./text-width.ts";

/** Those of which there can be many. */
const COUNTED_KINDS: ReadonlyMap<string, string> = new Map([
  ["file", "file"],
  ["files", "file"],
  ["skills", "skill"],
  ["agents", "agent"],
  ["mcp-instructions", "MCP server"],
]);

const REASON_WORDS: ReadonlyMap<string, string> = new Map([["secret", "with secrets"]]);

interface Skipped {
  readonly kind: string;
  readonly reason: string;
}

/** What was not put back, counted by kind and reason. */
export function skippedWords(skipped: readonly Skipped[]): string {
  const groups = new Map<string, Skipped & { count: number }>();
  for (const { kind, reason } of skipped) {
    const key = `${kind} ${reason}`;
    const group = groups.get(key) ?? { kind, reason, count: 0 };
    group.count++;
    groups.set(key, group);
  }
  return [...groups.values()]
    .map(({ kind, reason, count }) => {
      const noun = COUNTED_KINDS.get(kind);
      const what = noun === undefined ? kind.replaceAll("-", " ") : plural(count, noun);
      return oneLine(`${what} ${REASON_WORDS.get(reason) ?? reason.replaceAll("-", " ")}`);
    })
    .join(", ");
}
