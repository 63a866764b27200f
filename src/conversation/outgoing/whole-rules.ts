import type { Finding, RuleName } from "../check/finding.ts";

/**
 * Rules that look at all messages at once. What one of them finds in a part says nothing about the whole:
 * a new id must be free everywhere, and the oldest picture or cache mark of the conversation is the one to go.
 */
const WHOLE_RULES: ReadonlySet<RuleName> = new Set<RuleName>([
  "tool-use-id-invalid",
  "tool-use-id-duplicate",
  "compaction-misplaced",
  "compaction-repeated",
  "first-role",
  "no-messages",
  "media-count",
  "request-bytes",
  "message-count",
  "cache-mark-on-thinking",
  "cache-mark-on-empty-text",
  "cache-mark-conflict",
  "cache-mark-count",
  "cache-ttl-order",
]);

export const looksAtTheWhole = ({ rule }: Finding): boolean => WHOLE_RULES.has(rule);

/** Pictures and documents that gave way to markers because of a limit. */
export const isAboutMediaLimits = ({ rule, action }: Finding): boolean =>
  action === "replaced-by-text" && (rule === "media-count" || rule === "request-bytes");

/** Said anew for every length of the conversation; all other findings keep what they say. */
export const isAboutTheLength = ({ rule, path }: Finding): boolean =>
  path === "messages" && (rule === "request-bytes" || rule === "message-count");

/** The message or entry that the path names; undefined for system, tools and the request as a whole. */
export function itemIndexOf({ path }: Finding): number | undefined {
  const [list, index] = path.split(".", 2);
  return (list === "messages" || list === "entries") && index !== undefined ? Number(index) : undefined;
}

/** Those of `now` that were not among `before`. */
export function newFindings(now: readonly Finding[], before: readonly Finding[]): readonly Finding[] {
  if (now.length === 0 || before.length === 0) return now;
  const known = new Set(before.map(keyOf));
  return now.filter((finding) => !known.has(keyOf(finding)));
}

const keyOf = ({ rule, path, action }: Finding): string => `${rule} ${path} ${action}`;
