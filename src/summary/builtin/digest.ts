import { type Entry, isCompactBoundary, isEntry } from "../../conversation/entry.ts";
import { indexPairs, type PairIndex } from "../../conversation/pairs.ts";
import type { FollowedTodo } from "../../conversation/todo-ledger.ts";
import { field } from "../../conversation/untrusted.ts";
import type { Exchange } from "./exchange.ts";
import type { Answer, Plan } from "./read/answers.ts";
import type { RankedName } from "./read/concepts.ts";
import type { EarlierSummary } from "./read/earlier.ts";
import type { ErrorRecord } from "./read/errors.ts";
import type { FileRecord } from "./read/files.ts";
import type { BackgroundTask, Finding } from "./read/findings.ts";
import type { Remark } from "./read/remarks.ts";
import { Reader } from "./reader.ts";

/** What a session's structure tells about it, without anybody having understood it. */
export interface SessionDigest {
  readonly cwd: string | undefined;
  readonly branch: string | undefined;
  /** In order; the first may have no message of a person. */
  readonly exchanges: readonly Exchange[];
  readonly files: readonly FileRecord[];
  readonly errors: readonly ErrorRecord[];
  readonly todos: readonly FollowedTodo[];
  readonly answers: readonly Answer[];
  readonly plans: readonly Plan[];
  readonly findings: readonly Finding[];
  readonly runningTasks: readonly BackgroundTask[];
  readonly unansweredCalls: readonly string[];
  readonly openQuestions: readonly string[];
  readonly remarks: readonly Remark[];
  readonly packages: readonly RankedName[];
  readonly programs: readonly RankedName[];
  readonly names: readonly RankedName[];
  readonly earlier: EarlierSummary | undefined;
  /** The last thing in the conversation: who has the next move. */
  readonly lastActor: "person" | "agent" | "tool" | "nobody";
}

/** What was open when the entries began, for those who know it from elsewhere. */
export type OpenBefore = Pick<SessionDigest, "todos" | "runningTasks">;

/** One pass over the entries. They come from files, so nothing about their shape is taken for granted. */
export function digestSession(
  entries: readonly Entry[],
  before?: OpenBefore,
  { pairs }: PairIndex = indexPairs(entries),
): SessionDigest {
  const reader = new Reader(pairs, before);
  const isSubagent = !entries.some((entry) => isMainMessage(entry));
  for (const [at, entry] of entries.entries()) {
    if (!isEntry(entry)) continue;
    const aside = !isSubagent && field(entry, "isSidechain") === true;
    switch (entry.type) {
      case "assistant":
        reader.assistant(at, entry, aside);
        break;
      case "user":
        if (!aside) reader.user(at, entry);
        break;
      case "attachment":
        if (!aside) reader.attachment(at, entry);
        break;
      case "system":
        if (isCompactBoundary(entry)) reader.boundary();
        break;
      default:
    }
  }
  return reader.digest();
}

function isMainMessage(entry: Entry): boolean {
  if (!isEntry(entry) || (entry.type !== "user" && entry.type !== "assistant")) return false;
  return entry.isSidechain !== true;
}
