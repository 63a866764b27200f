import type { DirectiveStatus, Fact } from "../../conversation/fact-ledger.ts";
import { headOf } from "../../conversation/text.ts";
import type { FollowedTodo } from "../../conversation/todo-ledger.ts";
import { clip, oneLine } from "../../summary/clip.ts";
import {
  type BackgroundTask,
  endsWithQuestion,
  lastSentences,
  type OpenBefore,
  type Plan,
  type SessionDigest,
} from "../../summary/readers/readers.ts";
import type { DraftFact, ReadEntries } from "./draft-fact.ts";

const QUESTION_CHARS = 110;
const ANSWER_CHARS = 160;
const TODO_CHARS = 160;

/** Questions and what became of them, open items. */
export function askedFacts(read: ReadEntries): readonly DraftFact[] {
  const { digest } = read;
  return [
    ...decisionFacts(read),
    ...questionFacts(read),
    ...digest.runningTasks.map(taskFact),
    // The list is in the order of the work: what comes first matters most.
    ...digest.todos
      .filter(({ status }) => status !== "completed")
      .map(todoFact)
      .reverse(),
  ];
}

const start = (text: string, maxChars: number): string => headOf(oneLine(text), maxChars).trim();

function todoFact({ content, status, id }: FollowedTodo): DraftFact {
  const item = start(content, TODO_CHARS);
  const mark = status === "in_progress" ? IN_PROGRESS : "";
  const number = id === undefined ? "" : ` (task ${id})`;
  return { kind: "todo", text: `${mark}${item}${number}`, needles: [item], entryIds: [] };
}

function taskFact({ id, title }: BackgroundTask): DraftFact {
  const text = start(title, TODO_CHARS);
  return { kind: "todo", text: `${WAITING}${id}: ${text}`, needles: [text], entryIds: [] };
}

const IN_PROGRESS = "[in progress] ";
const WAITING = "not reported back: background agent ";
const WAITING_FOR = new RegExp(`^${WAITING}(\\w+): (.*)$`);
const ITEM = /^(\[in progress\] )?(.*?)(?: \(task ([\w-]+)\))?$/;

/** Items that were open when the entries began, as the facts of an earlier compaction tell it. */
export function openBefore(carried: readonly Fact[]): OpenBefore | undefined {
  const facts = carried.filter(({ kind }) => kind === "todo").reverse();
  if (facts.length === 0) return undefined;
  const runningTasks: BackgroundTask[] = [];
  const todos: FollowedTodo[] = [];
  for (const { text } of facts) {
    const [, taskId, title = ""] = WAITING_FOR.exec(text) ?? [];
    if (taskId !== undefined) {
      runningTasks.push({ at: 0, id: taskId, title });
      continue;
    }
    const [, isInProgress, content = text, id] = ITEM.exec(text) ?? [];
    const status = isInProgress === undefined ? "pending" : "in_progress";
    todos.push({ content, status, ...(id === undefined ? {} : { id }) });
  }
  return { todos, runningTasks };
}

function questionFacts({ digest, has, idsAt }: ReadEntries): readonly DraftFact[] {
  const asked = digest.openQuestions.map((question) => questionFact(question, []));
  const last = digest.exchanges.at(-1)?.texts.at(-1);
  if (digest.lastActor !== "agent" || last === undefined || !has(last.at)) return asked;
  const question = questionAtEnd(last.text);
  return question === undefined ? asked : [...asked, questionFact(question, idsAt(last.at))];
}

const questionFact = (question: string, entryIds: readonly string[]): DraftFact => ({
  kind: "question",
  text: start(question, QUESTION_CHARS),
  entryIds,
});

const questionAtEnd = (text: string): string | undefined =>
  endsWithQuestion(text) ? lastSentences(text, 1)[0] : undefined;

function decisionFacts({ digest, has, idsAt }: ReadEntries): readonly DraftFact[] {
  return [...digest.answers, ...repliesIn(digest)]
    .filter(({ at }) => has(at))
    .map(({ at, question, answer }): DraftFact => {
      const asked = start(question, QUESTION_CHARS);
      const said = start(answer, ANSWER_CHARS);
      const text = `${asked} → "${said}"`;
      return { kind: "decision", text, needles: [asked, said], entryIds: idsAt(at) };
    });
}

/** A reply longer than this says itself what it is about. */
const REPLY_CHARS = 120;

/** "Yes" means nothing without what the agent had asked. */
function repliesIn({ exchanges }: SessionDigest): SessionDigest["answers"] {
  return exchanges.flatMap(({ message }, index) => {
    if (message?.kind !== "request" || message.text.length > REPLY_CHARS || message.afterInterruption)
      return [];
    const said = exchanges[index - 1]?.texts.at(-1)?.text;
    const question = said === undefined ? undefined : questionAtEnd(said);
    return question === undefined ? [] : [{ at: message.at, question, answer: message.text }];
  });
}

const PLAN_CHARS = 300;
const NEEDLE_CHARS = 80;
const STANDING = /^\([^)]*\) /;

/**
 * Plans that the assistant wrote. What it may do with one hangs on the person's request that it was written for:
 * that is the second of its entries.
 */
export function planFacts(
  { digest, has, idsAt }: ReadEntries,
  directives: readonly DraftFact[],
): readonly DraftFact[] {
  return digest.plans
    .filter(({ at }) => has(at))
    .map((plan): DraftFact => {
      const asked = digest.exchanges.findLast(
        ({ message }) => message !== undefined && message.at <= plan.at,
      );
      const head = clip(oneLine(headOf(plan.text.trim(), 4 * PLAN_CHARS)), PLAN_CHARS);
      const entryIds = idsAt(plan.at, asked?.message?.at ?? plan.at);
      return {
        kind: "plan",
        text: `(${standing(plan, statusOf(entryIds, directives))}) ${head}`,
        needles: [headOf(head, NEEDLE_CHARS).trim()],
        entryIds,
      };
    });
}

/** Plans of earlier compactions, with what people said of their requests since. */
export function withPlansUpToDate(
  carried: readonly Fact[],
  directives: readonly DraftFact[],
): readonly Fact[] {
  return carried.map((fact) => {
    const status = fact.kind === "plan" ? statusOf(fact.entryIds, directives) : undefined;
    if (status === undefined || status === "active") return fact;
    return { ...fact, text: fact.text.replace(STANDING, () => `(${PAST[status]}) `) };
  });
}

const PAST: Readonly<Record<Exclude<DirectiveStatus, "active">, string>> = {
  done: "of a request that is done",
  cancelled: "called off by the user",
  superseded: "called off by the user",
};

function standing({ approved }: Plan, status: DirectiveStatus | undefined): string {
  if (status !== undefined && status !== "active") return PAST[status];
  return approved ? "the user let it go ahead" : "not approved by the user";
}

function statusOf(
  [, asked]: readonly string[],
  directives: readonly DraftFact[],
): DirectiveStatus | undefined {
  return directives.find(({ entryIds }) => asked !== undefined && entryIds[0] === asked)?.status;
}
