import type { ShellCommand } from "./runners/shell-commands.ts";
import { fileName } from "./shell/paths.ts";

/** Reads the commits that a command line made, and the older commits that it removed. */

export interface MadeCommit {
  readonly id: string;
  readonly subject: string;
}

/** Returns the words after `git` or `gh`, from the verb on. */
export function gitWords({
  words,
}: ShellCommand): readonly [program: string, ...words: string[]] | undefined {
  const at = words.findIndex((word) => /^(?:git|gh)$/.test(fileName(word)));
  if (at === -1 || at > 2) return undefined;
  const rest = words.slice(at + 1);
  const verb = rest.findIndex(
    (word, index) => !word.startsWith("-") && !/^-[Cc]$/.test(rest[index - 1] ?? ""),
  );
  return [fileName(words[at] ?? ""), ...(verb === -1 ? [] : rest.slice(verb))];
}

/** Effect of a command line on the history. */
interface HistoryChange {
  /** Number of new commits at the end of the line. */
  readonly made: number;
  /** Number of older commits that no longer exist. */
  readonly dropped: number;
}

/** Returns how many commits the line made, and how many older ones it removed by an amend, a reset or a rebase. */
export function historyChange(commands: readonly ShellCommand[]): HistoryChange {
  let made = 0;
  let dropped = 0;
  let isKept = false;
  const drop = (count: number): void => {
    const own = Math.min(made, count);
    made -= own;
    dropped += count - own;
  };
  for (const command of commands) {
    const [program, verb, ...rest] = gitWords(command) ?? [];
    if (program !== "git") continue;
    // A new branch keeps the commits that a reset takes from the old one.
    if (verb === "branch") isKept ||= rest.length > 0 && !rest.some((word) => word.startsWith("-"));
    else if (verb === "reset") drop(isKept ? 0 : resetCommits(rest));
    else if (isRebase(verb, rest)) drop(Number.POSITIVE_INFINITY);
    else if (verb === "commit") {
      if (rest.includes("--amend")) drop(1);
      made++;
    }
  }
  return { made, dropped };
}

const isRebase = (verb: string | undefined, rest: readonly string[]): boolean =>
  verb === "filter-branch" ||
  (verb === "rebase" && !rest.includes("--abort")) ||
  (verb === "pull" && rest.some((word) => /^(?:-r|--rebase)/.test(word)));

/** Returns the number of commits that a reset removes. A reset to another place may remove all. */
function resetCommits(rest: readonly string[]): number {
  const [target, ...paths] = rest.filter((word) => !word.startsWith("-"));
  const isOfTree = rest.some((word) => /^--(?:soft|mixed|hard|keep|merge)$/.test(word));
  if (target === undefined || target === "HEAD" || paths.length > 0 || rest.includes("--")) return 0;
  const [, carets = "", count] = /^(?:HEAD|@)(?:(\^+)|~(\d*))$/.exec(target) ?? [];
  if (carets !== "") return carets.length;
  if (count !== undefined) return Number(count || 1);
  return isOfTree ? Number.POSITIVE_INFINITY : 0;
}

/** Output of a commit, as in `[main 1a2b3c4] subject` and `[main (root-commit) 1a2b3c4] subject`. */
const SAID = /^\[[^\]\n]*?\b([0-9a-f]{7,40})\] (.+)$/gm;
const LISTED = /^([0-9a-f]{7,40}) (?!\.\.)(.{8,})$/gm;

/**
 * Reads what the commits printed. If they were quiet, reads the lines of a log whose subjects are in the command.
 * If the command names no subject, reads the first lines of the log. Oldest first.
 */
export function parseCommits(output: string, made: number, command: string): readonly MadeCommit[] {
  const count = Math.max(1, made);
  const said = commitsIn(output, SAID).slice(-count);
  if (said.length > 0) return said;
  const listed = commitsIn(output, LISTED);
  const named = listed.filter(({ subject }) => command.includes(subject));
  const newest = listed.length < count ? [] : listed;
  return (named.length > 0 ? named : newest).slice(0, count).reverse();
}

const commitsIn = (output: string, pattern: RegExp): readonly MadeCommit[] =>
  [...output.matchAll(pattern)].map(([, id = "", subject = ""]) => ({ id, subject: subject.trim() }));

/** Command that made or removed commits. */
interface HistoryStep {
  readonly at: number;
  readonly commits: readonly MadeCommit[];
  readonly dropped: number;
}

/**
 * Returns the commits that a later amend, reset or rebase removed. `before`: the commits before the first step,
 * oldest first. A step that an earlier summary covers cannot have removed them.
 */
export function replacedCommits(
  before: readonly string[],
  steps: readonly HistoryStep[],
  covered: ReadonlySet<number>,
): ReadonlySet<string> {
  const replaced = new Set<string>();
  const existing = [...before];
  for (const { at, commits, dropped } of steps) {
    const first = covered.has(at) ? before.length : 0;
    const from = Math.min(existing.length, Math.max(first, existing.length - dropped));
    for (const id of existing.splice(from)) replaced.add(id);
    existing.push(...commits.map(({ id }) => id));
  }
  return replaced;
}
