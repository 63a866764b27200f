import type { Entry } from "../../conversation/entry.ts";
import { contentText, field, stringField } from "../../conversation/fields.ts";
import { indexPairs } from "../../conversation/pairs.ts";
import type { FollowedTodo } from "../../conversation/todos.ts";
import { entryBlocks, isEntry, rawContent } from "../../conversation/untrusted.ts";
import type { Exchange } from "./exchange.ts";
import type { Answer, Plan } from "./read/answers.ts";
import type { RankedName } from "./read/concepts.ts";
import type { EarlierSummary } from "./read/earlier.ts";
import type { ErrorRecord } from "./read/errors.ts";
import type { FileRecord } from "./read/files.ts";
import type { BackgroundTask, Finding } from "./read/findings.ts";
import { classifyUserText } from "./read/human.ts";
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
export function digestSession(entries: readonly Entry[], before?: OpenBefore): SessionDigest {
  const { pairs } = indexPairs(entries);
  const reader = new Reader(pairs, onlyInQueue(entries), before);
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
      default:
        reader.other(at, entry);
    }
  }
  return reader.digest();
}

function isMainMessage(entry: Entry): boolean {
  if (!isEntry(entry) || (entry.type !== "user" && entry.type !== "assistant")) return false;
  return entry.isSidechain !== true;
}

/** Text typed while the agent worked, where only the queue's own record shows it. */
function onlyInQueue(entries: readonly Entry[]): ReadonlySet<number> {
  const enqueued = new Map<string, number>();
  for (const [at, entry] of entries.entries()) {
    const content = stringField(entry, "content");
    if (field(entry, "type") !== "queue-operation" || field(entry, "operation") !== "enqueue") continue;
    if (content?.trim()) enqueued.set(content.trim(), at);
  }
  if (enqueued.size === 0) return new Set();
  for (const entry of entries) {
    for (const text of shownTexts(entry)) {
      enqueued.delete(text.trim());
      const human = classifyUserText(text);
      if ("text" in human) enqueued.delete(human.text.trim());
    }
  }
  return new Set(enqueued.values());
}

function shownTexts(entry: Entry): readonly string[] {
  if (!isEntry(entry)) return [];
  if (entry.type === "attachment") return [contentText(field(entry.attachment, "prompt"))];
  if (entry.type !== "user") return [];
  const texts = entryBlocks(entry).flatMap((block) => (block.type === "text" ? [String(block.text)] : []));
  return texts.length > 1 ? [...texts, contentText(rawContent(entry))] : texts;
}
