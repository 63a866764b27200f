/** Which occasions of an event a hook is for, read from the `matcher` of a settings file. */
export type Matcher =
  | { readonly kind: "all" }
  | { readonly kind: "list"; readonly words: readonly string[] }
  | { readonly kind: "pattern"; readonly pattern: RegExp };

export const MATCHES_ALL: Matcher = Object.freeze({ kind: "all" });

/** More than the longest list of words that there are, written as a pattern. */
const LONGEST_PATTERN = 100;
/** `* + ? { |`: each is a point at which a search can turn back. */
const MOST_CHOICES = 12;
/** The words that are matched are shorter: manual, auto, startup, resume, clear, compact. */
const LONGEST_WORD = 10;

const WORD_LIST = /^[\w\-,| ]*$/;
const CHOICE = /[*+?{|]/g;
/** Only here can the ways to match multiply without limit: `(\w?){100}` tries more than 10^9 on `manual`. */
const REPEATED_GROUP = /\)[*+{]/;

/** Undefined for what is no matcher, with the reason told to `refuse`. */
export function readMatcher(raw: unknown, refuse: (reason: string) => void): Matcher | undefined {
  if (raw === undefined || raw === null || raw === "" || raw === "*") return MATCHES_ALL;
  if (typeof raw !== "string") {
    refuse("a matcher must be text");
    return undefined;
  }
  if (WORD_LIST.test(raw)) return { kind: "list", words: raw.split(/[,|]/).map((word) => word.trim()) };
  if (!isHarmless(raw)) {
    refuse("the pattern of a matcher is too long or repeats a group, and could take for ever");
    return undefined;
  }
  try {
    return { kind: "pattern", pattern: new RegExp(raw) };
  } catch {
    refuse("the pattern of a matcher is no regular expression");
    return undefined;
  }
}

/**
 * With a dozen choices, none of them repeated, and words of a few letters, a search that turns back at each
 * of them ends after a few million steps at worst.
 */
function isHarmless(pattern: string): boolean {
  const choices = pattern.match(CHOICE)?.length ?? 0;
  return pattern.length <= LONGEST_PATTERN && choices <= MOST_CHOICES && !REPEATED_GROUP.test(pattern);
}

export function isMatch(matcher: Matcher, word: string | undefined): boolean {
  if (matcher.kind === "all") return true;
  if (word === undefined || word.length > LONGEST_WORD) return false;
  return matcher.kind === "list" ? matcher.words.includes(word) : matcher.pattern.test(word);
}
