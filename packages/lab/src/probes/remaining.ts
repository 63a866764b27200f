import { segmentsOf } from "./files.ts";
import { type AssistantTurn, type CallTurn, isFields, type Turn, textField } from "./read-session.ts";
import { endOfSession, leadOf, unansweredEnd, uncommittedFiles } from "./session-end.ts";
import { type SessionView, SHOWN_CHARS, topicWords, wordGroup } from "./session-view.ts";
import { notSaidIn } from "./stances.ts";
import type { Probe, Stance } from "./types.ts";
import { contentStems, excerptOf, normalForm, sentencesOf, tokensOf } from "./words.ts";

type Draft = Omit<Probe, "id">;

/** An item of a to-do tool in its last state. */
export interface Todo {
  readonly text: string;
  readonly status: "pending" | "in_progress" | "completed" | "deleted";
  readonly entryId: string;
  readonly at: number;
}

const STATUSES = new Set(["pending", "in_progress", "completed", "deleted"]);

/** Returns the last state of each item of the to-do tools (TodoWrite, update_plan, TaskCreate, TaskUpdate). */
export function lastTodos(view: SessionView): Todo[] {
  let list = new Map<string, Todo>();
  const tasks = new Map<string, Todo>();
  let created = 0;
  for (const { call } of view.runs) {
    const items = call.input.todos ?? call.input.plan;
    if (Array.isArray(items)) list = mergedList(list, items, call);
    if (call.tool === "TaskCreate") {
      created++;
      const text = textField(call.input, "subject");
      if (text !== "") tasks.set(String(created), { text, status: "pending", ...placeOf(call) });
    }
    if (call.tool === "TaskUpdate") {
      const id = textField(call.input, "taskId");
      const task = tasks.get(id);
      const status = textField(call.input, "status");
      if (task !== undefined && STATUSES.has(status)) {
        tasks.set(id, { ...task, status: status as Todo["status"], ...placeOf(call) });
      }
    }
  }
  return [...list.values(), ...tasks.values()];
}

const placeOf = (call: CallTurn): Pick<Todo, "entryId" | "at"> => ({ entryId: call.entryId, at: call.at });

/** Completed items stay known when a new list replaces the old one. Open items of the old list are gone. */
function mergedList(
  old: ReadonlyMap<string, Todo>,
  items: readonly unknown[],
  call: CallTurn,
): Map<string, Todo> {
  const list = new Map([...old].filter(([, todo]) => todo.status === "completed"));
  for (const item of items) {
    if (!isFields(item)) continue;
    const text = textField(item, "content") || textField(item, "step");
    const status = textField(item, "status");
    if (text !== "" && STATUSES.has(status)) {
      list.set(normalForm(text), { text, status: status as Todo["status"], ...placeOf(call) });
    }
  }
  return list;
}

const MAX_REMAINING = 8;
const REMAINING_SHARE = 0.5;
const IS_OPEN: readonly Stance[] = ["pending", "next", "current"];
const IS_NEXT: readonly Stance[] = ["next"];
const IS_CURRENT: readonly Stance[] = ["current"];
const IS_CLOSED: readonly Stance[] = ["done", "cancelled"];

/** Announcements of open work in the agent's own words. The work is in the rest of the sentence. */
const OPEN_WORK =
  /\b(?:remaining(?: work| tasks?| steps?| items?)?(?: is| are)?|still (?:need|needs|have|has|missing|open|outstanding|to do|failing|fails)|left to do(?: is)?|not yet (?:\w+ed|done|written|built|begun)|to[- ]?do:|follow[- ]ups?:|remains? (?:open|to be|unresolved|unfixed))\b/i;
const NEXT_STEP =
  /\b(?:next(?:,| i| we|:| step| up)|i will now|i'll now|now i(?:'ll| will| need to)|now let me|let me now|moving on to|let's move to)\b/i;
/** Sentences that deny open work announce none. */
const NO_OPEN_WORK =
  /^\W*now (?!i)|:\W*$|\blet me (?:read|look|check|see|run|verify|find|search)\b|\b(?:no (?:remaining|open|follow)|nothing (?:remaining|left|open|else)|all remaining|the remaining (?:ones )?(?:are|is) (?:fine|correct)|fixed the remaining|if |would you like|do you want)\b|\?\s*$/i;
/** Open work is read from the last texts of the agent. Earlier announcements are mostly done by then. */
const LAST_TEXTS = 12;
const LAST_TEXTS_SHARE = 0.1;
const MIN_CONTENT_WORDS = 3;
const MAX_SENTENCE_CHARS = 300;

interface OpenWork {
  readonly text: string;
  readonly entryId: string;
  readonly at: number;
}

/** Open to-dos and announcements. Without them, what the end of the session left open. */
export function remainingProbes(view: SessionView): Draft[] {
  const stated = statedRemaining(view);
  return stated.length > 0
    ? stated
    : [leftOpen(view) ?? nothingOpen(view)].filter((draft) => draft !== undefined);
}

/** A place with another stance, such as the current work, may describe the same end. */
const IS_PENDING: readonly Stance[] = ["pending"];
const END_SHARE = 0.12;

function leftOpen(view: SessionView): Draft | undefined {
  const end = unansweredEnd(view);
  const [file] = uncommittedFiles(view).slice(-1);
  if (end !== undefined && contentStems(tokensOf(end.text)).length >= MIN_CONTENT_WORDS) {
    return {
      kind: "remaining",
      question: "Which request or call has no answer yet?",
      text: excerptOf(end.text, SHOWN_CHARS),
      answer: {
        needles: [],
        groups: [wordGroup(view, end.text, END_SHARE, MAX_CURRENT_WORDS)],
        stances: IS_PENDING,
        rawEvidence: evidenceOf(end.text),
      },
      entryIds: end.entryIds,
    };
  }
  if (file === undefined) return undefined;
  return {
    kind: "remaining",
    question: "Which change is not committed yet?",
    text: `changed after the last commit: ${file.path}`,
    answer: {
      needles: [[normalForm(segmentsOf(file.path).at(-1) ?? file.path)]],
      groups: [],
      stances: IS_PENDING,
    },
    entryIds: [file.call.entryId],
  };
}

const OPEN_WORDS = ["open", "pending", "remaining", "outstanding", "unfinished", "further", "other"];
const WORK_WORDS = ["work", "task", "tasks", "item", "items", "step", "steps", "todos", "requests"];
/** Ways to say that nothing is open. */
const NOTHING = [
  ...["none", "nothing", "done", "completed"],
  ...WORK_WORDS.flatMap((work) => [`no ${work}`, ...OPEN_WORDS.map((open) => `no ${open} ${work}`)]),
];

/** A summary of finished work says so where its reader looks for open work. */
function nothingOpen(view: SessionView): Draft | undefined {
  const last = view.turns.at(-1);
  if (last?.type !== "assistant" || !view.turns.some(({ type }) => type === "call")) return undefined;
  return {
    kind: "remaining",
    question: "Is any work still open?",
    text: "No work is open: the agent answered the last request and announced no further work.",
    answer: {
      needles: [NOTHING],
      groups: [],
      section: "pending",
      rawEvidence: evidenceOf(leadOf(last.text)),
    },
    entryIds: [last.entryId],
  };
}

const evidenceOf = (text: string): string[] => [normalForm(text)].filter((form) => form !== "");

function statedRemaining(view: SessionView): Draft[] {
  const todos = lastTodos(view).filter(({ status }) => status === "pending" || status === "in_progress");
  return [...todos.slice(-MAX_REMAINING), ...announced(view, OPEN_WORK)]
    .filter(({ text }) => contentStems(tokensOf(text)).length >= MIN_CONTENT_WORDS)
    .slice(0, MAX_REMAINING)
    .map(({ text, entryId }) => ({
      kind: "remaining",
      question: `Which work on "${topicWords(view, text)}" is still open?`,
      text: excerptOf(text, SHOWN_CHARS),
      answer: {
        needles: [],
        groups: [wordGroup(view, text, REMAINING_SHARE)],
        stances: [...IS_OPEN, "failed"],
        notStances: notSaidIn(text, IS_CLOSED),
      },
      entryIds: [entryId],
    }));
}

/** Returns announcements in the last texts of the agent that no later text reports as done. */
function announced(view: SessionView, mark: RegExp): OpenWork[] {
  const texts = view.turns.filter((turn): turn is AssistantTurn => turn.type === "assistant");
  const last = texts.slice(-Math.min(LAST_TEXTS, Math.ceil(texts.length * LAST_TEXTS_SHARE)));
  const found: OpenWork[] = [];
  for (const turn of last) {
    for (const text of sentencesOf(turn.text)) {
      if (text.length > MAX_SENTENCE_CHARS || !mark.test(text) || NO_OPEN_WORK.test(text)) continue;
      if (!isFollowedByWork(view.turns, turn, text)) found.push({ text, entryId: turn.entryId, at: turn.at });
    }
  }
  return found;
}

/** A later text or command with half of the words has probably done the work. */
const DONE_SHARE = 0.5;

function isFollowedByWork(turns: readonly Turn[], from: Turn, text: string): boolean {
  const stems = contentStems(tokensOf(text));
  return turns.slice(from.at + 1).some((turn) => {
    const later =
      turn.type === "call" ? JSON.stringify(turn.input) : turn.type === "assistant" ? turn.text : "";
    const known = new Set(contentStems(tokensOf(later.slice(0, MAX_READ_CHARS))));
    return stems.filter((stem) => known.has(stem)).length >= stems.length * DONE_SHARE;
  });
}

/** Enough of a text or call to recognize its topic. */
const MAX_READ_CHARS = 4_000;
/** The current work is described by the last texts of both sides. A summary condenses them. */
const CURRENT_TEXTS = 5;
const MAX_CURRENT_WORDS = 40;
const CURRENT_SHARE = 0.2;
const NEXT_SHARE = 0.4;

/** Probes for the work at the end of the session, and for the step that comes after it. */
export function currentProbes(view: SessionView): Draft[] {
  const texts = view.turns.filter((turn) => turn.type === "assistant" || turn.type === "user");
  const said = texts.filter(({ text }) => contentStems(tokensOf(text)).length >= MIN_CONTENT_WORDS);
  const last = said.slice(-CURRENT_TEXTS);
  const newest = last.at(-1);
  if (newest === undefined) return [];
  const text = last.map((turn) => leadOf(turn.text)).join(" ");
  const current: Draft = {
    kind: "current-work",
    question: "What was being worked on most recently?",
    text: excerptOf(text, SHOWN_CHARS),
    answer: {
      needles: [],
      groups: [wordGroup(view, text, CURRENT_SHARE, MAX_CURRENT_WORDS)],
      stances: IS_CURRENT,
      rawEvidence: last.map((turn) => normalForm(leadOf(turn.text))),
    },
    entryIds: [...new Set(last.map(({ entryId }) => entryId))],
  };
  return [current, ...nextProbe(view, newest)];
}

/**
 * The next step is what the agent announced last, or what the user asked for last without an answer. Otherwise,
 * it refers to the end of the session.
 */
function nextProbe(view: SessionView, newest: Turn): Draft[] {
  const announcement = announced(view, NEXT_STEP).at(-1);
  const step = newest.type === "user" ? { text: leadOf(newest.text), entryId: newest.entryId } : announcement;
  const isStated = step !== undefined && contentStems(tokensOf(step.text)).length >= MIN_CONTENT_WORDS;
  const end = isStated ? { text: step.text, entryIds: [step.entryId] } : endOfSession(view);
  const group = isStated
    ? wordGroup(view, end.text, NEXT_SHARE)
    : wordGroup(view, end.text, END_SHARE, MAX_CURRENT_WORDS);
  if (group.words.length < MIN_CONTENT_WORDS) return [];
  return [
    {
      kind: "next-step",
      question: "What is the next step of the work?",
      text: excerptOf(end.text, SHOWN_CHARS),
      answer: {
        needles: [],
        groups: [group],
        stances: IS_NEXT,
        notStances: isStated ? notSaidIn(end.text, IS_CLOSED) : [],
        rawEvidence: evidenceOf(end.text),
      },
      entryIds: end.entryIds,
    },
  ];
}
